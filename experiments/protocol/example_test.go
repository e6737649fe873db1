package protocol_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
)

func ExamplePresetFor() {
	p := protocol.PresetFor("cub", model.SemanticHard)
	fmt.Println(p.Source)
	fmt.Println(p.LR, p.TestEpochs)
	fmt.Printf("%.1f %%\n", 100*lab.Summarise(p.Expect).Mean)
	// Output:
	// the authors' settings for semantic-hard on CUB
	// 0.0001 55
	// 58.4 %
}

func ExampleRun() {
	l, remove := testlab.ForExample()
	defer remove()
	c := protocol.PresetFor(l.Data.Name, model.SemanticHard).Config
	c.Seeds, c.Epochs, c.LR = 2, 4, 0.01
	o, err := protocol.Run(context.Background(), l, c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(o.RunDirs), "runs, with a test accuracy for each of", len(o.Test.PerClass.Values), "seeds")
	fmt.Println("above chance:", o.Test.PerClass.Mean > o.Test.Chance())
	// Output:
	// 4 runs, with a test accuracy for each of 2 seeds
	// above chance: true
}
