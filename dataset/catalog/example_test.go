package catalog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/catalog"
)

func ExampleOpen() {
	d, err := catalog.Open(context.Background(), "glyphs", catalog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(d.Classes), "classes,", len(d.Split.Test), "of them never trained on")
	// Output: 52 classes, 12 of them never trained on
}

func ExampleCheck() {
	dir, err := os.MkdirTemp("", "pets")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string]string{
		"features.csv":   "0.1,2.0\n0.3\n1.7,0.2\n",
		"labels.csv":     "class\ncat\ndog\nhamster\n",
		"classes.csv":    "class,barks\ncat,never\ndog,90\nhamster,no\n",
		"attributes.csv": "name,group\nbarks,voice\n",
		"splits.csv":     "class,part\ncat,train\ndog,val\nhamster,test\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	r, err := catalog.Check(context.Background(), dir, catalog.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range r.Errors {
		fmt.Println(filepath.Base(p.File), p.Field, "found", p.Found)
	}
	// Output:
	// classes.csv line 3, column barks found "90", which looks like a percentage: write 0.9
	// features.csv line 2 found 1
}
