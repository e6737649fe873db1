package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Descriptions says what descriptions lack, and which classes they hardly distinguish.
type Descriptions struct {
	Pairs      []Pair   `json:"pairs"`      // the 1,000 most confused ones, first those
	Number     int      `json:"number"`     // of all pairs
	Separating string   `json:"separating"` // attribute that most of the pairs lack, "" for none
	Of         int      `json:"of"`         // number of these
	Constant   []string `json:"constant"`   // attributes that are the same for all classes
	Missing    Missing  `json:"missing"`
}

// Pair is two classes whose descriptions are similar.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Confusion is the expected share of their samples, half of each, that are taken for the other
	// class if every attribute is detected without error: at most sum_a sqrt(p(a|A) p(a|B)) / 2 over
	// all combinations of independent attributes, the Bhattacharyya bound. Real detectors confuse more.
	Confusion float64  `json:"confusion"`
	Missing   []string `json:"missing"` // attributes that one or both lack
	Differ    []string `json:"differ"`  // those that differ, the most first
	same      bool     // one is described as the other
}

// Missing counts the entries that are missing in the descriptions. Its JSON keys are stable.
type Missing struct {
	Entries    int     `json:"entries"`
	Of         int     `json:"of"`         // classes times attributes
	Classes    []Count `json:"classes"`    // those with missing entries, the most first
	Attributes []Count `json:"attributes"` // those with missing entries, the most first
}

// Count is a number of missing entries.
type Count struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
}

// LeastConfusion is the expected confusion from which pairs are listed.
const LeastConfusion = 0.05

const (
	mostPairs       = 1000 // that are listed, and of one class
	comparedClasses = 5000 // at most, in Warnings
)

// Describe finds out what the descriptions of a table lack, and which pairs of classes have an
// expected confusion of at least LeastConfusion. Attributes that one of two classes lacks do not
// distinguish them. Classes without any value are in no pair.
func Describe(t *descriptions.Table) Descriptions {
	u := t.Values()
	d := Descriptions{Pairs: []Pair{}, Constant: []string{}, Missing: CountMissing(t)}
	var similar []similarPair
	similar, d.Number = confusable(u)
	lack := make([]int, u.Cols) // pairs that lack an attribute
	for _, p := range similar {
		pair := Pair{
			A: t.Classes[p.a], B: t.Classes[p.b], Confusion: p.confusion, Missing: []string{},
			Differ: []string{}, same: true,
		}
		differ := map[string]float64{}
		for m, a := range t.Attributes {
			x, y := u.Row(p.a)[m], u.Row(p.b)[m]
			switch difference := math.Abs(x - y); {
			case math.IsNaN(difference):
				pair.Missing = append(pair.Missing, a.Name)
				lack[m]++
				pair.same = pair.same && math.IsNaN(x) && math.IsNaN(y)
			case difference > 0:
				pair.Differ = append(pair.Differ, a.Name)
				differ[a.Name], pair.same = difference, false
			}
		}
		slices.SortStableFunc(pair.Differ, func(a, b string) int { return cmp.Compare(differ[b], differ[a]) })
		d.Pairs = append(d.Pairs, pair)
	}
	for m, a := range t.Attributes {
		if lack[m] > d.Of {
			d.Separating, d.Of = a.Name, lack[m]
		}
		least, most := math.Inf(1), math.Inf(-1)
		for z := range u.Rows {
			if p := u.Row(z)[m]; !math.IsNaN(p) {
				least, most = min(least, p), max(most, p)
			}
		}
		if least >= most {
			d.Constant = append(d.Constant, a.Name)
		}
	}
	return d
}

// CountMissing counts the missing entries of a table.
func CountMissing(t *descriptions.Table) Missing {
	classes, attributes := make([]Count, len(t.Classes)), make([]Count, len(t.Attributes))
	missing := Missing{Of: len(classes) * len(attributes)}
	for z, name := range t.Classes {
		classes[z].Name = name
		for m, cell := range t.Cells[z] {
			if attributes[m].Name = t.Attributes[m].Name; cell == "" {
				classes[z].Entries++
				attributes[m].Entries++
				missing.Entries++
			}
		}
	}
	most := func(list []Count) []Count {
		list = slices.DeleteFunc(list, func(c Count) bool { return c.Entries == 0 })
		slices.SortStableFunc(list, func(a, b Count) int { return b.Entries - a.Entries })
		return list
	}
	missing.Classes, missing.Attributes = most(classes), most(attributes)
	return missing
}

// similarPair is two classes, a < b, whose descriptions are similar.
type similarPair struct {
	a, b      int
	confusion float64
}

// confusable returns the pairs of the descriptions u that are confused most, and the number of all.
func confusable(u dataset.Matrix[float64]) (list []similarPair, number int) {
	yes, no := dataset.NewMatrix[float64](u.Rows, u.Cols), dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		yes.Data[i], no.Data[i] = math.Sqrt(p), math.Sqrt(1-p)
	}
	confusion := func(a, b int) float64 {
		overlap, yesB, noA, noB := 1.0, yes.Row(b), no.Row(a), no.Row(b)
		for m, v := range yes.Row(a) {
			factor := v*yesB[m] + noA[m]*noB[m]
			if factor == factor { // no NaN
				overlap *= factor
			}
			if overlap < 2*LeastConfusion {
				return 0
			}
		}
		return min(overlap, 1) / 2
	}
	pairsOf, count := make([][]similarPair, u.Rows), make([]int, u.Rows)
	parallel.For(u.Rows, 1, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			for b := a + 1; b < u.Rows; b++ {
				v := confusion(a, b)
				if v == 0 || dataset.Described(u.Row(a)) == 0 || dataset.Described(u.Row(b)) == 0 {
					continue
				}
				if count[a]++; count[a] <= mostPairs {
					pairsOf[a] = append(pairsOf[a], similarPair{a, b, v})
				}
			}
		}
	})
	for _, n := range count {
		number += n
	}
	list = slices.Concat(pairsOf...)
	slices.SortStableFunc(list, func(p, q similarPair) int { return cmp.Compare(q.confusion, p.confusion) })
	return list[:min(len(list), mostPairs)], number
}

// confusable reports pairs of classes that the descriptions hardly distinguish, and the entry that would
// separate most of them.
func (c *checker) confusable() {
	if len(c.Classes) > comparedClasses {
		return
	}
	d := Describe(descriptions.TableOf(c.Dataset))
	for _, p := range d.Pairs {
		pair := fmt.Sprintf("classes %s and %s", invalid.Quote(p.A), invalid.Quote(p.B))
		hint := "Add an attribute on which they differ."
		if p.same {
			c.report("description", pair, "different descriptions", "the same",
				"No method can tell these classes apart.")
			continue
		} else if n := len(p.Missing); n > 0 {
			hint = fmt.Sprintf("One or both lack %s.", format.Count(n, "attribute"))
		}
		c.report("confusable", pair, "a confusion below "+format.Percent(LeastConfusion),
			format.Percent(p.Confusion), hint)
	}
	if d.Of > 0 {
		c.report("separating", "attribute "+invalid.Quote(d.Separating),
			fmt.Sprintf("entries for the %s of classes above that lack it", format.Count(d.Of, "pair")),
			"none", "Fill it in first: no other missing attribute could separate more of these pairs.")
	}
}

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

// FindDoubts finds the doubtful entries of the descriptions of d.
func FindDoubts(d *dataset.Dataset) Doubts {
	const most = 5
	u := d.Descriptions
	all, r := impute.Doubts(u), Doubts{Most: []Doubt{}, Whole: impute.Together(u), Given: 1}
	if len(u.Data) > 0 {
		r.Given = float64(len(all)) / float64(len(u.Data))
	}
	for _, doubt := range all {
		if math.Abs(doubt.Value-doubt.Expected) <= 0.5 {
			continue
		}
		if r.Far++; r.Far > most {
			continue
		}
		others := 0
		for _, z := range SimilarClasses(u, doubt.Class, doubt.Attribute) {
			if (u.Row(z)[doubt.Attribute] >= 0.5) != (doubt.Value >= 0.5) {
				others++
			}
		}
		r.Most = append(r.Most, Doubt{
			d.Classes[doubt.Class], d.Attributes[doubt.Attribute].Name, doubt.Value, doubt.Expected,
			doubt.Deviance, others,
		})
	}
	return r
}

// SimilarClasses returns the three classes that are most similar to class z by what is described of both, of
// those with an entry of an attribute, which does not count.
func SimilarClasses(u dataset.Matrix[float64], z, attribute int) (classes []int) {
	const most = 3
	distance := make(map[int]float64, u.Rows)
	for y := range u.Rows {
		if y == z || math.IsNaN(u.Row(y)[attribute]) {
			continue
		}
		sum, shared := 0.0, 0.0
		for m, q := range u.Row(y) {
			if d := q - u.Row(z)[m]; m != attribute && !math.IsNaN(d) {
				sum += d * d
				shared++
			}
		}
		if shared > 0 {
			distance[y] = sum / shared
			classes = append(classes, y)
		}
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	return classes[:min(len(classes), most)]
}

func (d Doubt) String() string {
	value, other := format.Percent(d.Value), "no"
	if d.Value < 0.5 {
		other = "yes"
	}
	switch d.Value {
	case 0:
		value = "no"
	case 1:
		value = "yes"
	}
	text := fmt.Sprintf("class %s, attribute %s: %s, expected about %.0f %%", invalid.Quote(d.Class),
		invalid.Quote(d.Attribute), value, 100*d.Expected)
	if d.Similar == 0 {
		return text
	}
	return text + []string{
		": one similar class has ", ": two similar classes have ", ": three similar classes have ",
	}[d.Similar-1] + other
}

// DoubtRows are all described entries as lines of CSV, the most doubtful first.
func DoubtRows(d *dataset.Dataset) [][]string {
	rows := [][]string{{"class", "attribute", "value", "expected", "standard deviations"}}
	for _, doubt := range impute.Doubts(d.Descriptions) {
		rows = append(rows, []string{
			d.Classes[doubt.Class], d.Attributes[doubt.Attribute].Name,
			strconv.FormatFloat(doubt.Value, 'g', -1, 64), fmt.Sprintf("%.4f", doubt.Expected),
			fmt.Sprintf("%.2f", doubt.Deviance),
		})
	}
	return rows
}

// Question is a group or an attribute. Its JSON keys are stable.
type Question struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"` // of this question and those before it
	// Explained is the share of the scaled variance of all attributes that this question and those before it
	// explain, see impute.Gaussian.Order; null if it was not measured.
	Explained *float64 `json:"explained"`
}

// LeastOrdered is the number of described classes from which their entries say how attributes go together.
const LeastOrdered = 10

// Ask orders groups of attributes by what they tell, or, without a Gaussian, leaves them in their order.
func Ask(g *impute.Gaussian, groups []descriptions.Group) []Question {
	members, order, entries := make([][]int, len(groups)), make([]Question, len(groups)), 0
	for k, group := range groups {
		members[k] = group.Members
	}
	var asked []impute.Question
	if g != nil {
		asked = g.Order(members)
	}
	for i := range order {
		k := i
		if g != nil {
			k, order[i].Explained = asked[i].Index, &asked[i].Explained
		}
		entries += len(members[k])
		order[i].Name, order[i].Entries = groups[k].Name, entries
	}
	return order
}
