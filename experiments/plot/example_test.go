package plot_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/plot"
)

func ExampleWriteFile() {
	p := &plot.Lines{
		X: "epoch", Y: "val accuracy (%)",
		Series: []plot.Series{{
			Name:   "semantic-hard",
			Look:   plot.Look{Method: "semantic-hard"},
			Points: []plot.Point{{X: 1, Y: 31, Low: 30, High: 32}, {X: 2, Y: 45, Low: 44, High: 46}, {X: 3, Y: 44, Low: 42, High: 46}},
			Stop:   2,
		}},
	}
	path := filepath.Join(os.TempDir(), "lago-train-example.pdf")
	defer func() { _ = os.Remove(path) }()
	err := plot.WriteFile(path, plot.Figure{Title: "A learning curve", Caption: "30 val classes, 5 seeds.", Picture: p})
	fmt.Println(err)
	// Output: <nil>
}
