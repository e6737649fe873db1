// Package subsets measures accuracy on the test classes when a data set has less: fewer seen
// classes, samples of each, attributes, groups, or described entries of each class.
package subsets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Axis is what a data set has less of.
type Axis string

// The axes. Of classes there are train and validation classes in proportion, and entries are
// others for each class.
const (
	Classes, Samples, Attributes, Groups, Entries Axis = "classes", "samples", "attributes", "groups", "entries"
)

// Axes are all of them.
var Axes = []Axis{Classes, Samples, Attributes, Groups, Entries}

// Words are the names of the axes in titles.
var Words = map[Axis]string{
	Classes: "seen classes", Samples: "samples of each seen class", Attributes: "attributes", Groups: "groups", Entries: "described attributes of each class",
}

// Config says which subsets are drawn.
type Config struct {
	Base  config.Config `json:"base"`
	Of    Axis          `json:"of"`
	Sizes []int         `json:"sizes"` // empty for 10, 20, 40, 60 and 100 % of all
	Draws int           `json:"draws"`
}

// Kind is the first word of the names of stored results, and of figures.
func Kind(of Axis) string { return "subsets-" + string(of) }

// Result is the accuracy on the test classes against the size of a subset of the data.
type Result struct {
	Dataset string        `json:"dataset"`
	Variant model.Variant `json:"variant"`
	Of      Axis          `json:"of"`      // classes, samples, attributes, groups or entries
	Classes int           `json:"classes"` // test classes
	Parts   int           `json:"parts"`   // 1, or the parts of a rotation over classes
	Seeds   int           `json:"seeds"`
	Points  []Point       `json:"points"` // sizes ascending; the last is all
	Missing []lab.Missing `json:"missing"`
}

// Point is the accuracy with subsets of one size.
type Point struct {
	// what is left: number of seen classes, samples of each, and so on
	Size       int                 `json:"size"`
	Draws      int                 `json:"draws"`                   // of each part, over which the accuracy is a mean
	Accuracy   float64             `json:"test_per_class_accuracy"` // mean over classes, draws and seeds
	Interval   metrics.Interval    `json:"interval"`                // over classes
	Difference *metrics.Difference `json:"difference"`              // this size minus all, over the same classes; null for all
}

// Run trains a method by the full protocol on subsets, which are drawn Draws times for each size
// and each part of the classes, and stores the result.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Result, error) {
	sizes, err := c.sizes(l)
	if err != nil {
		return nil, err
	}
	base := c.Base.On(l.Data)
	r := &Result{
		Dataset: base.DataName(), Variant: base.Method.Variant(), Of: c.Of, Parts: len(l.Parts), Seeds: base.Seeds, Points: []Point{}, Missing: []lab.Missing{},
	}
	var whole []float64 // accuracy of each class with all
	all := sizes[len(sizes)-1]
	for _, n := range slices.Backward(sizes) {
		l.Step("%d %s", n, Words[c.Of])
		in, start, p := *l, base, Point{Size: n, Draws: 1}
		if n < all {
			p.Draws, in.Parts = c.Draws, nil
			start.HoldOut = base.HoldOut || c.Of == Samples // those left out are held out
			for i := range c.Draws * len(l.Parts) {
				in.Parts = append(in.Parts, l.ViewOf(c.Of.subset(l.Parts[i%len(l.Parts)].Data, n, uint64(i))))
			}
		}
		done, err := engine.Run(ctx, &in, engine.Plan{Arms: []engine.Arm{{Starts: []config.Config{start}}}, Stage: config.DevThenTest})
		if err != nil {
			return nil, err
		}
		r.Missing = append(r.Missing, done.Missing...)
		rows := results.Rows(done)
		if len(rows) == 0 {
			continue // Missing says why
		}
		test := rows[0].Test
		if n == all {
			whole = test.ByClass
		} else if whole != nil {
			d := metrics.PairedDifference(test.ByClass, whole)
			p.Difference = &d
		}
		p.Accuracy, p.Interval, r.Classes = stat.Mean(test.ByClass, nil), test.Interval, len(test.ByClass)
		r.Points = slices.Insert(r.Points, 0, p)
	}
	return r, l.Store(Kind(c.Of), c, r)
}

// sizes returns the sizes to try, ascending, and that of all as the last.
func (c Config) sizes(l *lab.Lab) ([]int, error) {
	least, most, sizes := c.Of.least(), math.MaxInt, slices.Clone(c.Sizes)
	for _, p := range l.Parts {
		most = min(most, c.Of.size(p.Data))
	}
	if most < least {
		return nil, &invalid.Error{Field: "of", Want: fmt.Sprintf("a data set with %d or more %s", least, Words[c.Of]), Got: fmt.Sprint(most)}
	}
	if sizes == nil {
		for _, percent := range []float64{10, 20, 40, 60} {
			sizes = append(sizes, max(least, int(math.Round(percent*float64(most)/100))))
		}
	}
	sizes = slices.Compact(slices.Sorted(slices.Values(append(sizes, most))))
	if sizes[0] < least || sizes[len(sizes)-1] > most {
		want := fmt.Sprintf("numbers of %s from %d to %d", Words[c.Of], least, most)
		return nil, &invalid.Error{Field: "sizes", Want: want, Got: format.Join(c.Sizes)}
	}
	return sizes, nil
}

// least is the smallest size: of seen classes two train and two validation classes.
func (a Axis) least() int {
	if a == Classes {
		return 4
	}
	return 1
}

// size is that of the whole data set.
func (a Axis) size(d *dataset.Dataset) (most int) {
	switch a {
	case Classes:
		return len(d.Split.Seen())
	case Attributes:
		return len(d.Attributes)
	case Groups:
		return len(d.Groups)
	}
	for _, z := range d.Split.Seen() {
		n := dataset.Described(d.Descriptions.Row(z))
		if a == Samples {
			n = d.SamplesPerClass()[z]
		}
		most = max(most, n)
	}
	return most
}

// subset returns a data set with n of them. Those of a seed contain those of smaller n.
func (a Axis) subset(d *dataset.Dataset, n int, seed uint64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x5b5e7))
	part := *d
	seen := d.Split.Seen()
	switch a {
	case Classes:
		vals := int(math.Round(float64(n*len(d.Split.Val)) / float64(len(seen))))
		vals = min(max(vals, 2), len(d.Split.Val))
		part.Split.Train, part.Split.Val, part.DevSplits = draw(rng, d.Split.Train, n-vals), draw(rng, d.Split.Val, vals), nil
		seen = part.Split.Seen()
		part.TestSeen = slices.DeleteFunc(slices.Clone(d.TestSeen), func(i int) bool { return !slices.Contains(seen, d.Labels[i]) })
	case Samples:
		part.TestSeen = nil // held out, they are in no stage
		given := make([]int, len(d.Classes))
		for _, i := range rng.Perm(len(d.Labels)) {
			z := d.Labels[i]
			if given[z]++; given[z] > n && slices.Contains(seen, z) {
				part.TestSeen = append(part.TestSeen, i)
			}
		}
		slices.Sort(part.TestSeen)
	case Entries:
		part.Descriptions.Data = slices.Clone(d.Descriptions.Data)
		for z := range d.Classes {
			given, row := 0, part.Descriptions.Row(z)
			for _, m := range rng.Perm(len(row)) {
				if !math.IsNaN(row[m]) {
					given++
				}
				if given > n {
					row[m] = math.NaN()
				}
			}
		}
	default: // attributes, or all of a group
		chosen := rng.Perm(a.size(d))[:n]
		part.Attributes, part.Groups = nil, nil
		var columns []int
		for m, attribute := range d.Attributes {
			if a == Attributes && !slices.Contains(chosen, m) || a == Groups && !slices.Contains(chosen, attribute.Group) {
				continue
			}
			if attribute.Group >= 0 {
				name := d.Groups[attribute.Group]
				if !slices.Contains(part.Groups, name) {
					part.Groups = append(part.Groups, name)
				}
				attribute.Group = slices.Index(part.Groups, name)
			}
			part.Attributes, columns = append(part.Attributes, attribute), append(columns, m)
		}
		part.Descriptions = dataset.NewMatrix[float64](len(d.Classes), len(columns))
		for i := range part.Descriptions.Data {
			part.Descriptions.Data[i] = d.Descriptions.Row(i / len(columns))[columns[i%len(columns)]]
		}
	}
	return &part
}

// draw returns n of a list, ascending.
func draw(rng *rand.Rand, list []int, n int) []int {
	drawn := make([]int, n)
	for i, at := range rng.Perm(len(list))[:n] {
		drawn[i] = list[at]
	}
	slices.Sort(drawn)
	return drawn
}

// Tables has a row for each size.
func (r *Result) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s on %s: per-class accuracy by number of %s, %s, %s%s", r.Variant, r.Dataset, Words[r.Of],
		format.Count(r.Classes, "test class"), format.Count(r.Seeds, "seed"), results.InParts("unseen", r.Parts)),
		string(r.Of), "accuracy", "95 % over classes", "minus that of all", "draws").Right(2, 4)
	for _, p := range r.Points {
		difference := "-"
		if d := p.Difference; d != nil {
			difference = fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval)
		}
		t.Row(p.Size, format.Percent(p.Accuracy), p.Interval, difference, p.Draws)
	}
	t.Note("random subsets, each contained in the larger ones of its draw; chance %s", format.Percent(r.chance()))
	return []*table.Table{t, lab.MissingTable(r.Missing)}
}

func (r *Result) chance() float64 { return float64(r.Parts) / float64(r.Classes) }

// Figures are the accuracies against the size.
func (r *Result) Figures(string) ([]plot.Figure, error) {
	line, draws := plot.Series{Name: string(r.Variant), Look: plot.Look{Method: string(r.Variant)}, Measured: true}, 0
	for _, p := range r.Points {
		line.Points = append(line.Points, plot.Point{X: float64(p.Size), Y: 100 * p.Accuracy, Low: 100 * p.Interval.Low, High: 100 * p.Interval.High})
		draws = max(draws, p.Draws)
	}
	return []plot.Figure{{
		Name: Kind(r.Of), Title: "Accuracy by number of " + Words[r.Of],
		Picture: &plot.Lines{X: "number of " + Words[r.Of], Y: results.AccuracyAxis, Series: []plot.Series{line}, Percent: true, Chance: 100 * r.chance()},
		Caption: fmt.Sprintf("%s%s; chance %s; mean over %s and %s; bars are 95 %% bootstrap intervals over classes.", format.Count(r.Classes, "test class"),
			results.InParts("unseen", r.Parts), format.Percent(r.chance()), format.Count(draws, "nested draw"), format.Count(r.Seeds, "seed")),
	}}, nil
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (r *Result) Check() error { return lab.NotEmpty("points", len(r.Points)) }
