package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

func TestLeaks(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		names []string
		spoil func(d *dataset.Dataset)
		want  []string
	}{
		{"none", []string{"ant", "bee", "cat", "dog"}, func(*dataset.Dataset) {}, nil},
		{"numbers and case", []string{"001.Red_bird", "n02123045 Tabby", "Red-bird", "tabby"}, func(*dataset.Dataset) {}, []string{
			`name: class "001.Red_bird" (train) and class "Red-bird" (test): their names differ only in case, punctuation or a leading number`,
			`name: class "n02123045 Tabby" (val) and class "tabby" (test): their names`,
		}},
		{"numbers, letters and signs that belong to the name", []string{
			"737-200", "20_speed_limit", "747-200", "50_speed_limit", "10.10", "1.5 litres", "20.10", "2.5 litres", "d", "1", "D", "+",
		}, func(*dataset.Dataset) {}, nil},
		{"the same description", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) { copy(d.Descriptions.Row(3), d.Descriptions.Row(1)) }, []string{
			`description: class "bee" (val) and class "dog" (test): they have the same description`,
		}},
		{"nothing described in common", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Descriptions.Row(0), []float64{1, 0, nan, nan})
			copy(d.Descriptions.Row(3), []float64{nan, nan, 0, 1})
		}, nil},
		{"a sample of two parts", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) { copy(d.Features.Row(7), d.Features.Row(0)) }, []string{
			`sample: class "ant" (train) and class "dog" (test): samples 0 and 7 have the same features`,
		}},
		{"samples of two parts, but for the sign of 0", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Features.Row(1), []float32{0, 3})
			copy(d.Features.Row(3), []float32{float32(math.Copysign(0, -1)), 3})
			copy(d.Features.Row(2), d.Features.Row(0))
		}, []string{`sample: class "ant" (train) and class "bee" (val): samples 0 and 2 have the same features`}},
		{"a sample held out and trained on", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Features.Row(1), d.Features.Row(0))
			d.TestSeen = []int{0}
		}, []string{`test_seen: sample 0 of "ant" (held out) and sample 1 of "ant" (trained on): they have the same features`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := tiny.Distinct(c.names...)
			c.spoil(d)
			all := d.Descriptions.AllRows()
			leaks := Leaks(d, dataset.Split{Train: all[:1], Val: all[1:2], Test: all[2:]})
			var got []string
			for i, l := range leaks {
				line := l.Kind + ": " + l.String()
				if i < len(c.want) {
					line = line[:min(len(line), len(c.want[i]))]
				}
				got = append(got, line)
			}
			testkit.Equal(t, "found", got, c.want)
			if leaks := Leaks(d, dataset.Split{Train: all}); len(d.TestSeen) == 0 && leaks != nil {
				t.Errorf("in one part: %v", leaks)
			}
		})
	}
}

// One pair of similar classes or samples is reported for each two subsets, in any order of the classes.
func TestLeaksOfSeveralSubsets(t *testing.T) {
	d := tiny.Distinct("owl", "OWL", "Owl", "o w l", "o-w-l", "cat")
	for _, i := range []int{3, 5, 7, 9, 11} {
		copy(d.Features.Row(i), d.Features.Row(1))
	}
	copy(d.Features.Row(8), d.Features.Row(10)) // the classes o-w-l (test) and cat (train)
	d.TestSeen = []int{3, 4}
	// owl, the class of the first of the equal samples, is in no subset.
	s := dataset.Split{Train: []int{1, 5}, Val: []int{2}, Test: []int{3, 4}}
	var got []string
	for _, l := range Leaks(d, s) {
		got = append(got, l.Kind+": "+l.First+" and "+l.Second)
	}
	want := []string{
		`name: class "OWL" (train) and class "Owl" (val)`,
		`name: class "OWL" (train) and class "o w l" (test)`,
		`name: class "Owl" (val) and class "o w l" (test)`,
		`sample: class "OWL" (train) and class "Owl" (val)`,
		`sample: class "OWL" (train) and class "o w l" (test)`,
		`sample: class "Owl" (val) and class "o w l" (test)`,
		`sample: class "o-w-l" (test) and class "cat" (train)`,
		`test_seen: sample 3 of "OWL" (held out) and sample 5 of "Owl" (trained on)`,
	}
	testkit.Equal(t, "found", got, want)
}

// Leaks by the same description are reported once.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(d *dataset.Dataset)
		want  []string // the findings, without the name of the data set
	}{
		{"nothing", func(*dataset.Dataset) {}, nil},
		{"few validation classes, and one test class", func(d *dataset.Dataset) { d.Split = dataset.Split{Train: []int{0, 2}, Val: []int{1}, Test: []int{3}} }, []string{
			"test classes: expected at least 2, between which a prediction can be wrong, found 1. No accuracy can be measured.",
			"val classes: expected at least 4, found 1. The number of epochs is fixed, since only 3 classes are seen.",
		}},
		{"a photograph twice in a class", func(d *dataset.Dataset) { copy(d.Features.Row(3), d.Features.Row(2)) }, []string{
			`features: expected different samples, found 1 sample with the features of another one of the class, the first sample 3, of class "bee", as sample 2, of class "bee". Is a photograph twice in the folder?`,
		}},
		{"a photograph in a train and a test class", func(d *dataset.Dataset) { copy(d.Features.Row(4), d.Features.Row(0)) }, []string{
			`class "ant" (train) and class "cat" (test): expected nothing in common, found samples 0 and 4 have the same features`,
		}},
		{"the same description", func(d *dataset.Dataset) { copy(d.Descriptions.Row(2), d.Descriptions.Row(1)) }, []string{
			`classes "bee" and "cat": expected different descriptions, found the same. No method`,
		}},
		{"zeros", func(d *dataset.Dataset) { clear(d.Features.Data[2:10]) }, []string{
			`features: expected values other than 0, found 4 samples of zeros alone, the first sample 1, of class "ant"`,
		}},
		{"two attributes of one name", func(d *dataset.Dataset) { d.Attributes[2].Name = "a0" }, []string{
			`attribute 3: expected a name that no other attribute has, found "a0", as attribute 1. Descriptions of new classes cannot name it.`,
		}},
		{"scales", func(d *dataset.Dataset) {
			fill(d, 1, func(i, z int) float32 { return 900*float32(z-1) + float32(i)/4 })
		}, []string{
			`features: expected similar scales, found standard deviations from 2.29 (the lowest tenth) to 1.01e+03. To bring`,
		}},
		{"heights beside features", func(d *dataset.Dataset) {
			d.Features = dataset.NewMatrix[float32](d.Features.Rows, 12)
			for i := range d.Features.Data {
				d.Features.Data[i] = float32(i*i%11) - 5
			}
			fill(d, 3, func(i, z int) float32 { return 170.5 + float32(i*i%9) })
		}, []string{`features, column 4: expected columns of similar size, found 99.7 % of the squares of all in this one, with a mean of 173. To bring`}},
		{"far from zero", func(d *dataset.Dataset) {
			for i := range d.Features.Data {
				d.Features.Data[i] += 273.5
			}
		}, []string{`features: expected values around zero, found means that are 119 standard deviations from it (median; 119 by root mean square). To bring`}},
	} {
		d := tiny.Distinct("ant", "bee", "cat", "dog")
		d.Split = dataset.Split{Train: []int{0, 1}, Test: []int{2, 3}}
		for i := range d.Features.Data {
			d.Features.Data[i] = d.Features.Data[i]/2 - 4.25
		}
		c.spoil(d)
		testkit.NoError(t, Errors(d))
		var got []string
		for _, f := range Findings(Warning, Warnings(d)) {
			got = append(got, strings.TrimPrefix(f.String(), "birds: "))
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: found %q", c.name, got)
		}
	}
}

// Many classes with few descriptions are compared by description.
func TestManyClassesOfFewDescriptions(t *testing.T) {
	const classes, descriptions = 20_000, 8
	d := &dataset.Dataset{Descriptions: dataset.NewMatrix[float64](classes, 3)}
	var s dataset.Split
	for z := range classes {
		d.Classes = append(d.Classes, fmt.Sprint("class ", z))
		for m := range 3 {
			d.Descriptions.Row(z)[m] = float64(z % descriptions >> m & 1)
		}
		part := []*[]int{&s.Train, &s.Val, &s.Test}[z%3]
		*part = append(*part, z)
	}
	var leaks []Leak
	if n := testkit.Allocated(func() { leaks = Leaks(d, s) }); n > 64<<20 || len(leaks) != 3*descriptions {
		t.Errorf("%d leaks, expected %d; %d bytes were claimed", len(leaks), 3*descriptions, n)
	}
}

func TestTableOfASplit(t *testing.T) {
	d := tiny.Sound()
	d.Classes[1], d.Classes[3] = "Bee", "bee"
	d.TestSeen = []int{3}
	r := Split(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{3}})
	testkit.WantText(t, r.Table().Text(1000, 0),
		"│ test   │       1 │       2 │           33.3 % │           33.3 % │",
		"\nin no subset: cat\nleaks: 1\n  name: class \"Bee\" (val) and class \"bee\" (test): their names",
		"\n1 sample of test classes held out", "\nnot checked: whether the network")
	r.Leaks = append(slices.Repeat(r.Leaks, 23), Leak{Kind: "sample"})
	text := r.Table().Text(1000, 0)
	testkit.WantText(t, text, "\nleaks: 24\n", "  4 more\n")
	testkit.Equal(t, "leaks shown", strings.Count(text, "  name: class"), 20)
}

func TestErrors(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name  string
		spoil func(d *dataset.Dataset)
		want  string // how the error begins
	}{
		{"nothing", func(d *dataset.Dataset) { d.TestSeen, d.Descriptions.Data[1] = []int{0, 1, 5}, nan }, "<nil>"},
		{"features without dimensions", func(d *dataset.Dataset) { d.Features.Cols = 0 }, "sound: features: expected at least one dimension, found none"},
		{"a NaN feature", func(d *dataset.Dataset) { d.Features.Row(5)[1] = float32(nan) }, "sound: feature 1 of sample 5: expected a finite number, found NaN"},
		{"a held out sample of an unseen class", func(d *dataset.Dataset) { d.TestSeen = []int{1, 3} }, `sound: test_seen, entry 1: expected a sample of a train or val class, found sample 3, of class "dog"`},
		{"a class that is held out", func(d *dataset.Dataset) { d.TestSeen = []int{0, 1, 7} }, `sound: class "ant": expected at least one sample to train on, found all 2 held out (test_seen)`},
		{"no validation classes", func(d *dataset.Dataset) { d.Split.Val = nil }, "<nil>"},
		{"a class without samples", func(d *dataset.Dataset) { d.Labels[3], d.Labels[4] = 0, 0 }, `sound: test class "dog": expected at least one sample, found none`},
		{"a class without description", func(d *dataset.Dataset) { copy(d.Descriptions.Row(1), []float64{nan, nan, nan}) }, `sound: description of val class "bee": expected at least one described attribute, found none`},
		{"ids that count up", func(d *dataset.Dataset) { fill(d, 1, func(i, z int) float32 { return float32(i + 17) }) }, "sound: features, column 2: expected a feature, found whole numbers that count up, from 17 to 24. Ids or labels of the samples? Take the column out of the features: labels.csv has classes and ids."},
		{"labels", func(d *dataset.Dataset) { fill(d, 2, func(i, z int) float32 { return float32(9 - z) }) }, "sound: features, column 3: expected a feature, found one whole number for each class. Ids or"},
		{"counts", func(d *dataset.Dataset) { fill(d, 2, func(i, z int) float32 { return float32(300 + i/2) }) }, "<nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tiny.Sound()
			tt.spoil(d)
			err := Errors(d)
			if !strings.HasPrefix(fmt.Sprint(err), tt.want) || err != nil && !errors.As(err, new(*invalid.Error)) {
				t.Errorf("%v\nwant:\n%s", err, tt.want)
			}
		})
	}
}

// fill sets a column of the features to values of the sample and its class.
func fill(d *dataset.Dataset, column int, value func(i, z int) float32) {
	for i, z := range d.Labels {
		d.Features.Row(i)[column] = value(i, z)
	}
}

// The bound is exact for one attribute that is certain, and for equal descriptions.
func TestDescribe(t *testing.T) {
	table := &descriptions.Table{
		Attributes: []descriptions.Attribute{{Name: "x"}, {Name: "y"}, {Name: "z"}}, Classes: []string{"a", "b", "c", "d", "e"},
		Cells: [][]string{{"1", "0", "0.5"}, {"1", "0", "0.5"}, {"0", "0", "0.5"}, {"1", "", ""}, {"", "", ""}},
	}
	d := Describe(table)
	none := []string{}
	want := Descriptions{
		Pairs: []Pair{
			{A: "a", B: "b", Confusion: 0.5, Missing: none, Differ: none, same: true},
			{A: "a", B: "d", Confusion: 0.5, Missing: []string{"y", "z"}, Differ: none},
			{A: "b", B: "d", Confusion: 0.5, Missing: []string{"y", "z"}, Differ: none},
		},
		Number: 3, Separating: "y", Of: 2, Constant: []string{"y", "z"},
		Missing: Missing{5, 15, []Count{{"e", 3}, {"d", 2}}, []Count{{"y", 2}, {"z", 2}, {"x", 1}}},
	}
	testkit.Equal(t, "found", d, want, cmp.AllowUnexported(Pair{}), cmpopts.EquateApprox(0, 1e-12))
	table.Classes, table.Cells = table.Classes[:2], table.Cells[:2]
	d = Describe(table)
	testkit.Equal(t, "separating", []any{d.Of, d.Separating}, []any{0, ""})
}

// No classifier of exact detections is better than the Bayes error, which the bound is not below.
func TestConfusionBoundsTheBayesError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := dataset.NewMatrix[float64](2, rapid.IntRange(1, 5).Draw(t, "attributes"))
		for i := range u.Data {
			u.Data[i] = rapid.Float64Range(0, 1).Draw(t, "p")
		}
		var bayes float64
		for bits := range 1 << u.Cols {
			p := [2]float64{1, 1}
			for z := range p {
				for m, v := range u.Row(z) {
					p[z] *= map[bool]float64{true: v, false: 1 - v}[bits>>m&1 == 1]
				}
			}
			bayes += min(p[0], p[1]) / 2
		}
		var found float64
		pairs, _ := confusable(u)
		for _, p := range pairs {
			found = p.confusion
		}
		if bound := max(found, LeastConfusion); bayes > bound+1e-12 {
			t.Fatalf("Bayes error %g, bound %g", bayes, bound)
		}
	})
}

// Drafts are counted by check and predict alone; those of a class that another program renamed are named.
func TestDrafts(t *testing.T) {
	d := tiny.Sound()
	d.Drafts = map[dataset.Draft]bool{{Class: d.Classes[0], Group: "legs"}: true, {Class: d.Classes[1], Group: "legs"}: true, {Class: "gone"}: true}
	findings := Unchecked(d)
	testkit.Equal(t, "elsewhere", Use(d, false), Findings(Warning, nil))
	testkit.WantText(t, findings[0].String(), "drafts.csv: expected descriptions that a person has checked, found 2 groups of classes that nobody has checked.")
	testkit.WantText(t, findings[1].String(), `drafts.csv: expected classes of the data set, found "gone".`)
}
