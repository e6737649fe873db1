package extract_test

import (
	"context"
	"log"
	"os"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/experiments/extract"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/resnet"
)

func ExampleExtract() {
	ctx := context.Background()
	list, err := images.List("photographs") // photographs/CLASS/NAME.jpg
	if err != nil {
		log.Fatal(err)
	}
	network, err := resnet.Read(ctx, "resnet101.safetensors", nil)
	if err != nil {
		log.Fatal(err)
	}
	e, err := extract.New(network, images.Preprocessing(dataset.Crop, images.DefaultSize), len(list))
	if err != nil {
		log.Fatal(err)
	}
	r, err := extract.Extract(ctx, e, extract.Config{Dir: "data/birds", ImageDir: "photographs", Images: list})
	if err != nil {
		log.Fatal(err)
	}
	_ = table.WriteText(os.Stdout, r.Tables()...)
}
