package descriptions_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
)

func ExampleRead() {
	dir, err := os.MkdirTemp("", "descriptions")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "birds.csv")
	text := "class,wing color: olive,bill color: black,size: small\n" +
		"Olive Warbler,often,0.9,\n" +
		"Bell's Vireo,0.3,,yes\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	attributes := []dataset.Attribute{{Name: "has_wing_color::olive"}, {Name: "has_bill_color::black"}, {Name: "has_size::small"}}
	classes, u, err := descriptions.Read(context.Background(), path, attributes, nil)
	if err != nil {
		log.Fatal(err)
	}
	for z, name := range classes {
		fmt.Println(name, u.Row(z))
	}
	// Output:
	// Olive Warbler [0.75 0.9 NaN]
	// Bell's Vireo [0.3 NaN 1]
}
