package check_test

import (
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Attributes that all seen classes have, or none, are named with the unseen classes that rest on them.
func TestUnlearnableAttributes(t *testing.T) {
	d := &dataset.Dataset{
		Name: "pets", Classes: []string{"cat", "dog", "newt", "owl"},
		Attributes:   []dataset.Attribute{{Name: "fur", Group: -1}, {Name: "gills", Group: -1}, {Name: "tame", Group: -1}, {Name: "wings", Group: -1}},
		Descriptions: dataset.Matrix[float64]{Rows: 4, Cols: 4, Data: []float64{1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.2, 0, 1, 0}},
		Split:        dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}},
	}
	err := check.Warnings(d)
	if err == nil {
		t.Fatal("no warnings")
	}
	testkit.WantText(t, err.Error(),
		`attribute "fur": expected seen classes with and without it, found all with it. It cannot be learned. Unseen classes that lack it: "newt", "owl".`,
		`attribute "gills": expected seen classes with and without it, found none that has it. It cannot be learned. Unseen classes that have it: "newt".`)
	testkit.WantNoText(t, err.Error(), `attribute "wings"`, `attribute "tame"`)
}
