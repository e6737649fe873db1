package protocol_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

func ExampleRun() {
	root, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	l := lab.New(tiny.Small(), root)
	p := engine.PresetFor(l.Data.Name, methods.Of(model.SemanticHard))
	p.Seeds, p.Epochs = 2, 4
	r, err := protocol.Run(context.Background(), l, p, func() { fmt.Println("choosing the adaptation") })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.RunDirs), "runs, with a test accuracy for each of", len(r.Test.PerClass.Values), "seeds")
	// Output:
	// choosing the adaptation
	// 4 runs, with a test accuracy for each of 2 seeds
}
