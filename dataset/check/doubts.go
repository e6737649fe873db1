package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Doubts are the described entries that are unlike what the others of their classes say. Its JSON keys are
// stable.
type Doubts struct {
	Far   int     `json:"far"`   // entries that differ from what is expected by more than a half
	Most  []Doubt `json:"most"`  // the five most doubtful of these
	Whole bool    `json:"whole"` // all attributes were taken together; there are too many otherwise
	// Given is the share of entries that are given. With less than impute.LeastGiven among the classes that a
	// model is trained on, incomplete candidates complete each other.
	Given float64 `json:"given"`
}

// Doubt is one doubtful entry. Its JSON keys are stable.
type Doubt struct {
	Class      string  `json:"class"`
	Attribute  string  `json:"attribute"`
	Value      float64 `json:"value"`
	Expected   float64 `json:"expected"`   // by the other entries of the class
	Deviations float64 `json:"deviations"` // the difference in standard deviations
	// of the three most similar classes, those on the other side of one half
	Similar int `json:"similar"`
}

const (
	mostDoubts     = 5
	similarClasses = 3
)

// FindDoubts finds the doubtful entries of the descriptions of d.
func FindDoubts(d *dataset.Dataset) Doubts {
	u := d.Descriptions
	all, r := impute.Doubts(u), Doubts{Most: []Doubt{}, Whole: impute.Together(u), Given: 1}
	if len(u.Data) > 0 {
		r.Given = float64(len(all)) / float64(len(u.Data))
	}
	for _, doubt := range all {
		if math.Abs(doubt.Value-doubt.Expected) <= 0.5 {
			continue
		}
		if r.Far++; r.Far <= mostDoubts {
			r.Most = append(r.Most, Doubt{
				d.Classes[doubt.Class], d.Attributes[doubt.Attribute].Name, doubt.Value, doubt.Expected,
				doubt.Deviance,
				disagreeing(u, doubt.Class, doubt.Attribute),
			})
		}
	}
	return r
}

// disagreeing counts those of the classes most similar to z that are on the other side of one half.
func disagreeing(u dataset.Matrix[float64], z, attribute int) (n int) {
	type other struct {
		value, distance float64
	}
	var others []other
	for y := range u.Rows {
		if p := u.Row(y)[attribute]; y != z && !math.IsNaN(p) {
			sum, shared := 0.0, 0.0
			for m, q := range u.Row(y) {
				if d := q - u.Row(z)[m]; m != attribute && !math.IsNaN(d) {
					sum += d * d
					shared++
				}
			}
			if shared > 0 {
				others = append(others, other{p, sum / shared})
			}
		}
	}
	slices.SortStableFunc(others, func(a, b other) int { return cmp.Compare(a.distance, b.distance) })
	for _, o := range others[:min(len(others), similarClasses)] {
		if (o.value >= 0.5) != (u.Row(z)[attribute] >= 0.5) {
			n++
		}
	}
	return n
}

func (d Doubt) String() string {
	other := "no"
	if d.Value < 0.5 {
		other = "yes"
	}
	text := fmt.Sprintf("class %s, attribute %s: %s, expected about %.0f %%", invalid.Quote(d.Class),
		invalid.Quote(d.Attribute), valueText(d.Value), 100*d.Expected)
	switch d.Similar {
	case 0:
		return text
	case 1:
		return text + ": one similar class has " + other
	case 2:
		return text + ": two similar classes have " + other
	}
	return text + ": three similar classes have " + other
}

// valueText is yes, no or a percentage.
func valueText(p float64) string {
	switch p {
	case 0:
		return "no"
	case 1:
		return "yes"
	}
	return format.Percent(p)
}

// DoubtRows are all described entries as lines of CSV, the most doubtful first.
func DoubtRows(d *dataset.Dataset) [][]string {
	rows := [][]string{{"class", "attribute", "value", "expected", "standard deviations"}}
	number := func(p float64, digits int) string { return strconv.FormatFloat(p, 'f', digits, 64) }
	for _, doubt := range impute.Doubts(d.Descriptions) {
		rows = append(rows, []string{
			d.Classes[doubt.Class], d.Attributes[doubt.Attribute].Name,
			strconv.FormatFloat(doubt.Value, 'g', -1, 64),
			number(doubt.Expected, 4), number(doubt.Deviance, 2),
		})
	}
	return rows
}
