package report_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/model"
)

func Example() {
	d, err := simulate.Make(simulate.Spec{
		Name: "small", Samples: 160, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
	if err != nil {
		log.Fatal(err)
	}
	root, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	c := protocol.PresetFor(d.Name, model.SemanticSoft).Config
	c.Seeds, c.Epochs = 2, 3
	if _, err := protocol.Run(context.Background(), lab.New(d, root), c); err != nil {
		log.Fatal(err)
	}

	page, err := report.Read(root)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range page.Figures() {
		fmt.Println(f.Name)
	}
	f, err := os.Create(filepath.Join(root, "report.html"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.WriteHTML(f), f.Close())
	// Output:
	// simulated-small-variants
	// simulated-small-curves
	// simulated-small-curve-01-semantic-soft
	// simulated-small-groups
	// simulated-small-confusion
	// <nil> <nil>
}
