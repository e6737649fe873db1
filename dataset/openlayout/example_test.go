package openlayout_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/openlayout"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "pets")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string]string{
		"features.csv":   "0.1,2.0\n0.3,1.8\n1.7,0.2\n0.9,0.8\n",
		"labels.csv":     "class,id\ncat,1.jpg\ncat,2.jpg\ndog,3.jpg\nhamster,4.jpg\n",
		"classes.csv":    "class,barks,size::small\ncat,never,0.6\ndog,often,0.3\nhamster,no,always\n",
		"attributes.csv": "name,group\nbarks,voice\nsize::small,size\n",
		"splits.csv":     "class,part\ncat,train\ndog,val\nhamster,test\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	d, err := openlayout.Load(context.Background(), dir, openlayout.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Features.Rows, "samples of", d.Classes)
	for _, part := range d.Split.Subsets() {
		for _, z := range part.Classes {
			fmt.Println(part.Name, d.Classes[z], d.Descriptions.Row(z))
		}
	}
	// Output:
	// 4 samples of [cat dog hamster]
	// train cat [0 0.6]
	// val dog [0.75 0.3]
	// test hamster [0 1]
}
