package check_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// The report names entries that are far from what is expected, and what similar classes have.
func TestFindDoubts(t *testing.T) {
	d := change(tables(t)["glyphs"], func(_ int, p float64) float64 { return p })
	before := check.FindDoubts(d)
	d.Descriptions.Row(3)[7] = 1 - d.Descriptions.Row(3)[7]
	after := check.FindDoubts(d)
	if after.Far < before.Far || len(after.Most) != min(after.Far, 5) || after.Given != 1 || !after.Whole {
		t.Errorf("found %+v, and %+v with a wrong entry", before, after)
	}
	text := check.Doubt{Class: "owl", Attribute: "fur", Value: 1, Expected: 0.031, Similar: 3}.String()
	testkit.Equal(t, "text", text, `class "owl", attribute "fur": yes, expected about 3 %: three similar classes have no`)
}

// Groups are ordered by what they tell; without a Gaussian the order is the file's.
func TestAsk(t *testing.T) {
	table := descriptions.TableOf(tables(t)["glyphs"])
	groups := table.Groups()
	q := check.Ask(impute.Fit(table.Values()), groups)
	if n := len(q); n != len(groups) || *q[0].Explained >= *q[n-1].Explained || *q[n-1].Explained < 0.99 {
		t.Errorf("found %+v, expected all groups, which explain more and more", q)
	}
	if few := check.Ask(nil, groups); few[5].Name != groups[5].Name || few[5].Explained != nil {
		t.Errorf("found %+v, expected the order of the file", few[5])
	}
}

// Names of samples that say their classes, in any of their forms, show labels that were sorted.
func TestLabelsAgainstNames(t *testing.T) {
	for form, contradicted := range map[string]bool{
		"%s/%d.jpg": true, "birds/001.%s/%d.jpg": true, `C:\photos\%s\%d.jpg`: true, "%s_%d.jpg": true, "%s%d": true, "the %s, %d": false, "%.0s%d": false,
	} {
		d := tiny.Sound()
		d.Classes = []string{"Sea lion", "sea", "cat", "dog"}
		for i, z := range d.Labels {
			d.IDs = append(d.IDs, fmt.Sprintf(form, strings.ReplaceAll(strings.ToLower(d.Classes[z]), " ", "_"), i))
		}
		for _, tt := range []struct {
			what   string
			labels []int
			want   string // of the error
			warned bool
		}{
			{"as they are", d.Labels, "<nil>", false},
			{"one other", []int{2, 1, 2, 3, 3, 2, 1, 0}, "<nil>", contradicted},
			{"sorted", []int{0, 0, 1, 1, 2, 2, 3, 3}, "sound: labels: expected the classes that the names of the samples say, found another class for 6 of 8, the first sample 1, " + d.IDs[1] + `, of class "Sea lion". Were`, false},
		} {
			what := form + ", " + tt.what
			with := *d
			with.Labels = tt.labels
			if !contradicted {
				tt.want = "<nil>"
			}
			if err := check.Errors(&with); !strings.HasPrefix(fmt.Sprint(err), tt.want) {
				t.Errorf("%s: %v\nwant %s", what, err, tt.want)
			}
			testkit.Equal(t, what, strings.Contains(fmt.Sprint(check.Warnings(&with)), "found another class for 1 of 8"), tt.warned)
		}
	}
}

// Features in another order than the labels do not tell the training classes apart.
func TestOrderOfFeatures(t *testing.T) {
	const want = "features: expected values that tell training classes apart, found"
	d := tiny.Learnable()
	testkit.WantNoText(t, fmt.Sprint(check.Warnings(d)), want)
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(d.Labels), func(i, j int) { d.Labels[i], d.Labels[j] = d.Labels[j], d.Labels[i] })
	testkit.WantText(t, check.Warnings(d).Error(), want, "of 40 classes (chance: 2.5 %;")
}

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
