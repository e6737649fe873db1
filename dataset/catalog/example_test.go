package catalog_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/table"
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

// animals has classes of 1, 2, 3, 4 and 2 samples. The split leaves out the last one.
func animals() *dataset.Dataset {
	d := &dataset.Dataset{
		Name:       "animals",
		Source:     "made by hand",
		Features:   dataset.NewMatrix[float32](12, 3),
		Labels:     []int{0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4},
		Classes:    []string{"ant", "bee", "cat", "dog", "éléphant"},
		Attributes: []dataset.Attribute{{Name: "legs::four", Group: 0}, {Name: "flies", Group: 1}, {Name: "legs::six", Group: 0}},
		Groups:     []string{"legs", "flies"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{
			0, 0, 1,
			0, 1, math.NaN(),
			1, 0, 0,
			1, 0, 0,
			1, 0, 0,
		}},
		Split:    dataset.Split{Train: []int{0, 3}, Val: []int{1}, Test: []int{2}},
		TestSeen: []int{1},
	}
	if err := dataset.Check(d); err != nil {
		panic(err)
	}
	return d
}

func ExampleSummarise() {
	s := catalog.Summarise(animals())
	s.Fingerprint = "(omitted)"
	if err := table.WriteText(os.Stdout, s.Tables()[:2]...); err != nil {
		fmt.Println(err)
	}
	// Output:
	// animals: 12 samples of 5 classes, 3 features each
	// source: made by hand
	// fingerprint: (omitted)
	// descriptions: 3 attributes in 2 groups; 1 missing
	// held out for generalised zero-shot learning: 1 sample of seen classes
	// ┌────────┬─────────┬─────────┬───────────────┬────────┬─────┐
	// │ subset │ classes │ samples │ min per class │ median │ max │
	// ├────────┼─────────┼─────────┼───────────────┼────────┼─────┤
	// │ train  │       2 │       5 │             1 │    2.5 │   4 │
	// │ val    │       1 │       2 │             2 │      2 │   2 │
	// │ test   │       1 │       3 │             3 │      3 │   3 │
	// └────────┴─────────┴─────────┴───────────────┴────────┴─────┘
	//
	// ┌───────┬────────────┬───────────┐
	// │ group │ attributes │ names     │
	// ├───────┼────────────┼───────────┤
	// │ legs  │          2 │ four, six │
	// │ flies │          1 │ flies     │
	// └───────┴────────────┴───────────┘
}
