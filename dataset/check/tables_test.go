package check_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// places are those of data sets whose descriptions are complete.
var places = map[string]string{"glyphs": "glyphs", "example": "../../docs/example"}

// tables are the data sets, without samples.
func tables(t *testing.T) map[string]*dataset.Dataset {
	sets := map[string]*dataset.Dataset{}
	for name, place := range places {
		d := testkit.Must(catalog.Open(t.Context(), place, catalog.Options{}))(t)
		sets[name] = &dataset.Dataset{Classes: d.Classes, Attributes: d.Attributes, Groups: d.Groups, Descriptions: d.Descriptions}
	}
	return sets
}

// change returns a data set with other descriptions; NaN is an empty cell.
func change(d *dataset.Dataset, cell func(z int, p float64) float64) *dataset.Dataset {
	other := *d
	other.Descriptions = dataset.Convert[float64](d.Descriptions)
	for i, p := range other.Descriptions.Data {
		other.Descriptions.Data[i] = cell(i/len(d.Attributes), p)
	}
	return &other
}

func TestColumnThatWasDeleted(t *testing.T) {
	d, cell := tables(t)["example"], -1
	cut := change(d, func(_ int, p float64) float64 {
		cell++
		return blankIf(p, cell%len(d.Attributes) == 1)
	})
	want := `attribute "feathers": expected entries of some classes, found none. It has no effect.`
	testkit.Equal(t, "warned", strings.Contains(check.Use(cut, false)[0].String(), want), true)
}

// Lists of what classes have are refused. Random holes, numbers, yes and no alike, are not.
func TestEmptyCells(t *testing.T) {
	const refused = "expected cells that say no"
	for _, d := range tables(t) {
		r := rand.New(rand.NewPCG(1, 1))
		yes := func(p float64) float64 { return math.Round(p) }
		for _, c := range []struct {
			table, want string
			cell        func(z int, p float64) float64
		}{
			{"all cells", "", func(_ int, p float64) float64 { return p }},
			{"yes and no", "", func(_ int, p float64) float64 { return yes(p) }},
			{"half of the cells", "", func(_ int, p float64) float64 { return blankIf(p, r.IntN(2) == 0) }},
			{"half of yes and no", "", func(_ int, p float64) float64 { return blankIf(yes(p), r.IntN(2) == 0) }},
			{"what is there", refused, func(_ int, p float64) float64 { return blankIf(yes(p), p < 0.5) }},
			{"shares of what is there", refused, func(_ int, p float64) float64 { return blankIf(p, p < 0.5) }},
		} {
			table := change(d, c.cell)
			err := check.Empty(table)
			if c.want == "" {
				testkit.NoError(t, err)
				continue
			}
			testkit.WantError(t, err, c.want, "--empty no", "--empty unknown")
			table.EmptyUnknown = true
			testkit.NoError(t, check.Empty(table))
		}
	}
}

func blankIf(p float64, empty bool) float64 {
	if empty {
		return math.NaN()
	}
	return p
}
