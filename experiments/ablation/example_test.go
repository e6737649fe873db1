package ablation_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
)

func Example() {
	l, remove := testlab.ForExample()
	defer remove()
	r, err := ablation.Run(context.Background(), l, testlab.Config(l, protocol.OnlyDev), ablation.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Rows), "designs with seeds", r.Seeds)
	// Output: 8 designs with seeds [5 6]
}
