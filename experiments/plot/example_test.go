package plot_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/plot"
)

func ExampleWriteSVG() {
	p := &plot.Lines{
		X: "epoch", Y: "val accuracy (%)", Width: 320, Height: 200,
		Series: []plot.Series{{
			Name:   "semantic-hard, epoch 2",
			Points: []plot.Point{{X: 1, Y: 31, Low: 30, High: 32}, {X: 2, Y: 45, Low: 44, High: 46}, {X: 3, Y: 44, Low: 42, High: 46}},
			Stop:   2,
		}},
	}
	f, err := os.Create(filepath.Join(os.TempDir(), "lago-train-example.svg"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.Remove(f.Name()) }()
	fmt.Println(plot.WriteSVG(f, p, "a learning curve"), f.Close())
	// Output: <nil> <nil>
}
