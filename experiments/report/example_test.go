package report_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/report"
	"github.com/lago-train/lago-train/model"
)

func Example() {
	l, remove := testlab.ForExample()
	defer remove()
	c := protocol.PresetFor(l.Data.Name, model.SemanticSoft).Config
	c.Seeds, c.Epochs = 2, 3
	if _, err := protocol.Run(context.Background(), l, c); err != nil {
		log.Fatal(err)
	}

	page, err := report.Read(l.Root)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range page.Figures() {
		fmt.Println(f.Name)
	}
	fmt.Println(page.WriteFile(filepath.Join(l.Root, "report.html")))
	// Output:
	// simulated-small-variants
	// simulated-small-curves
	// simulated-small-curve-semantic-soft
	// simulated-small-groups
	// simulated-small-groups-detail-1
	// simulated-small-confusion
	// <nil>
}
