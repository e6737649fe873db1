package plot_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/plot"
)

func ExampleWriteFiles() {
	p := &plot.Lines{X: "epoch", Y: "val accuracy (%)", Series: []plot.Series{{
		Name: "semantic-hard", Look: plot.Look{Method: "semantic-hard"}, Stop: 2,
		Points: []plot.Point{{X: 1, Y: 31, Low: 30, High: 32}, {X: 2, Y: 45, Low: 44, High: 46}, {X: 3, Y: 44, Low: 42, High: 46}},
	}}}
	f := plot.Figure{Name: "lago-train-example", Title: "A learning curve", Caption: "30 val classes, 5 seeds.", Picture: p}
	paths, err := plot.WriteFiles(os.TempDir(), plot.PDF, f)
	fmt.Println(filepath.Base(paths[0]), err, os.Remove(paths[0]))
	// Output: lago-train-example.pdf <nil> <nil>
}
