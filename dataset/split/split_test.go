package split

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// birds is a data set of classes that are all unlike each other, two samples each:
// class z has the description e_z and samples 2z and 2z+1.
func birds(names ...string) *dataset.Dataset {
	n := len(names)
	d := &dataset.Dataset{Name: "birds", Classes: names, Features: dataset.NewMatrix[float32](2*n, 2), Descriptions: dataset.NewMatrix[float64](n, n)}
	for z := range n {
		d.Attributes = append(d.Attributes, dataset.Attribute{Name: fmt.Sprintf("a%d", z), Group: -1})
		d.Descriptions.Row(z)[z] = 1
		d.Labels = append(d.Labels, z, z)
	}
	for i := range d.Features.Data {
		d.Features.Data[i] = float32(i + 1)
	}
	return d
}

func TestLeaks(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		names []string
		spoil func(d *dataset.Dataset)
		want  []string
	}{
		{"none", []string{"ant", "bee", "cat", "dog"}, func(*dataset.Dataset) {}, nil},
		{"case", []string{"Red Bird", "bee", "red_bird", "dog"}, func(*dataset.Dataset) {}, []string{
			`name: class "Red Bird" (train) and class "red_bird" (test): names that differ in case, signs or a number before them alone`,
		}},
		{"numbers", []string{"001.Red_bird", "n02123045 Tabby", "Red+bird", "tabby"}, func(*dataset.Dataset) {}, []string{
			`name: class "001.Red_bird" (train) and class "Red+bird" (test): names that`,
			`name: class "n02123045 Tabby" (val) and class "tabby" (test): names that`,
		}},
		{"letters and signs", []string{"d", "1", "D", "+"}, func(*dataset.Dataset) {}, nil},
		{"the same description", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) { copy(d.Descriptions.Row(3), d.Descriptions.Row(1)) }, []string{
			`description: class "bee" (val) and class "dog" (test): the same description`,
		}},
		{"nearly the same, as far as described", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Descriptions.Row(2), []float64{0.97, 0.04, 0, nan})
		}, []string{`description: class "ant" (train) and class "cat" (test): descriptions that differ by 0.04 at most`}},
		{"another in one attribute", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Descriptions.Row(2), []float64{1, 0.06, 0, 0})
		}, nil},
		{"little described in common", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Descriptions.Row(2), []float64{1, nan, nan, nan})
		}, nil},
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
		}, []string{`sample: class "ant" (train) and class "bee" (val): samples 0 and 2 have the same features, and so have 1 more pairs`}},
		{"a sample twice in a class, and in two test classes", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Features.Row(0), d.Features.Row(1))
			copy(d.Features.Row(6), d.Features.Row(4))
		}, nil},
		{"a sample held out and learned from", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Features.Row(1), d.Features.Row(0))
			d.TestSeen = []int{0}
		}, []string{`test_seen: sample 0 of "ant" (held out) and sample 1 of "ant" (learned from): they have the same features`}},
		{"a sample held out twice", []string{"ant", "bee", "cat", "dog"}, func(d *dataset.Dataset) {
			copy(d.Features.Row(1), d.Features.Row(0))
			d.TestSeen = []int{0, 1}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := birds(c.names...)
			c.spoil(d)
			leaks := Leaks(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}}, Tolerance)
			var got []string
			for i, l := range leaks {
				line := l.Kind + ": " + l.String()
				if i < len(c.want) {
					line = line[:min(len(line), len(c.want[i]))]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if leaks := Leaks(d, dataset.Split{Train: []int{0, 1, 2, 3}}, Tolerance); len(d.TestSeen) == 0 && leaks != nil {
				t.Errorf("in one part: %v", leaks)
			}
		})
	}
	d := birds("ant", "bee")
	copy(d.Descriptions.Row(1), []float64{0.8, 0.2})
	s := dataset.Split{Train: []int{0}, Test: []int{1}}
	if len(Leaks(d, s, Tolerance)) != 0 || len(Leaks(d, s, 0.25)) != 1 {
		t.Error("the tolerance is not that which was given")
	}
	copy(d.Descriptions.Row(1), d.Descriptions.Row(0))
	if len(Leaks(d, s, 0)) != 1 {
		t.Error("no tolerance finds no descriptions that are the same")
	}
	if len(Leaks(d, s, -1)) != 0 {
		t.Error("a negative tolerance compares descriptions")
	}
}

// drawn is a data set with classes of many sizes, some of them tied.
func drawn(t *rapid.T) *dataset.Dataset {
	n := rapid.IntRange(6, 14).Draw(t, "classes")
	names := make([]string, n)
	for z := range names {
		names[z] = fmt.Sprintf("class %c", 'a'+z)
	}
	d := birds(names...)
	for range rapid.IntRange(0, 3).Draw(t, "ties") {
		a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			d.Classes[b] = strings.ToUpper(d.Classes[a])
		case 1:
			copy(d.Descriptions.Row(b), d.Descriptions.Row(a))
		default:
			copy(d.Features.Row(2*b), d.Features.Row(2*a))
		}
	}
	for range rapid.IntRange(0, 20).Draw(t, "more samples") {
		z := rapid.IntRange(0, n-1).Draw(t, "class")
		d.Labels = append(d.Labels, z)
		d.Features.Rows++
		d.Features.Data = append(d.Features.Data, float32(1000+len(d.Labels)), 0)
	}
	return d
}

// Whatever is tied, what is proposed has all classes in one part each, leaks nothing,
// is no larger than asked for, and is the same for the same seed.
func TestProposeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn(t)
		o := Options{Val: rapid.IntRange(1, 3).Draw(t, "val"), Test: rapid.IntRange(1, 3).Draw(t, "test"), Seed: rapid.Uint64().Draw(t, "seed"), Tolerance: Tolerance}
		s, err := Propose(d, o)
		var refused *dataset.Error
		if errors.As(err, &refused) {
			return // what is tied may fit into no part
		}
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Val, s.Test)))
		if !slices.Equal(all, Usable(d)) {
			t.Fatalf("%+v does not have each class once", s)
		}
		for _, part := range s.Parts() {
			if !slices.IsSorted(part.Classes) || len(part.Classes) == 0 {
				t.Fatalf("%s is %v", part.Name, part.Classes)
			}
		}
		if len(s.Val) > o.Val || len(s.Test) > o.Test {
			t.Fatalf("%+v is larger than %+v", s, o)
		}
		if leaks := Leaks(d, s, Tolerance); leaks != nil {
			t.Fatalf("%+v leaks %v", s, leaks)
		}
		again, err := Propose(d, o)
		if err != nil || !cmp.Equal(s, again) {
			t.Fatalf("the same seed gives %+v and %+v", s, again)
		}
	})
}

// Of splits of the right sizes the one is taken whose samples are balanced and whose
// attributes train has: class 0 to 3 have 10 samples each, 4 to 7 have 2, and class 1
// alone has attribute 1.
func TestProposeBalances(t *testing.T) {
	d := birds("a", "b", "c", "d", "e", "f", "g", "h")
	for z := range d.Classes {
		u := d.Descriptions.Row(z)
		clear(u)
		u[0], u[2] = float64(z)/7, 0.8
	}
	d.Descriptions.Row(1)[1] = 0.9
	for z := range 4 {
		for range 8 {
			d.Labels = append(d.Labels, z)
			d.Features.Rows++
			d.Features.Data = append(d.Features.Data, float32(1000+len(d.Labels)), 0)
		}
	}
	seen := make(map[string]bool)
	for seed := range uint64(5) {
		s, err := Propose(d, Options{Val: 2, Test: 2, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		n := d.SamplesPerClass()
		for _, part := range [][]int{s.Val, s.Test} {
			if len(part) != 2 || n[part[0]]+n[part[1]] != 12 {
				t.Errorf("seed %d: classes %v have other than 12 samples", seed, part)
			}
		}
		if !slices.Contains(s.Train, 1) || len(Uncovered(d, s)) != 0 {
			t.Errorf("seed %d: %+v leaves attribute 1 to val or test", seed, s)
		}
		seen[fmt.Sprint(s)] = true
	}
	if len(seen) < 2 {
		t.Error("all seeds give one split")
	}
}

// Where classes that stay together leave room in some draws, one without is taken,
// although a val or test class less has fewer attributes that train lacks.
func TestProposeReachesTheSizes(t *testing.T) {
	d := birds("ab", "AB", "cd", "CD", "ef", "EF", "gh")
	for seed := range uint64(5) {
		s, err := Propose(d, Options{Val: 3, Test: 2, Seed: seed, Tolerance: Tolerance})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Val) != 3 || len(s.Test) != 2 {
			t.Errorf("seed %d: %+v, expected 3 classes in val and 2 in test", seed, s)
		}
	}
}

// A sample that is twice in one class ties it to no other.
func TestNoClassIsTiedToItself(t *testing.T) {
	d := birds("ant", "bee")
	copy(d.Features.Row(1), d.Features.Row(0))
	if found := ties(d, Tolerance); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestProposeRefuses(t *testing.T) {
	alike := func(d *dataset.Dataset) {
		for z := range d.Classes {
			copy(d.Descriptions.Row(z), d.Descriptions.Row(0))
		}
	}
	for _, c := range []struct {
		name  string
		o     Options
		spoil func(d *dataset.Dataset)
		want  string
	}{
		{"no val", Options{Test: 1}, nil, "at least 1 for each of train, val and test, of 4 that have samples and a description, found 0 for val and 1 for test"},
		{"no train", Options{Val: 2, Test: 2}, nil, "found 2 for val and 2 for test"},
		{"too few with samples", Options{Val: 1, Test: 1}, func(d *dataset.Dataset) { d.Labels = []int{0, 0, 0, 0, 1, 1, 1, 1} }, "of 2 that have samples"},
		{"all alike", Options{Val: 1, Test: 1}, alike, "at least 3 sets of classes between which nothing leaks, found 1"},
		{"two pairs for two places", Options{Val: 1, Test: 1}, func(d *dataset.Dataset) {
			d.Classes = []string{"ax", "Ax", "bx", "Bx", "cx", "Cx"}
		}, "sets of classes that fit into 1 for val and 1 for test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := birds("ant", "bee", "cat", "dog")
			if strings.HasPrefix(c.name, "two pairs") {
				d = birds("ant", "bee", "cat", "dog", "eel", "fox")
			}
			if c.spoil != nil {
				c.spoil(d)
			}
			_, err := Propose(d, c.o)
			var e *dataset.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected %s", err, c.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	d := birds("ant", "bee", "Bee", "dog", "eel")
	d.TestSeen = []int{0, 4, 5}
	r := Describe(d, dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}}, Tolerance)
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `┌───────┬─────────┬─────────┬──────────────────┬──────────────────┐
│ part  │ classes │ samples │ share of classes │ share of samples │
├───────┼─────────┼─────────┼──────────────────┼──────────────────┤
│ train │       1 │       2 │ 25.0 %           │ 25.0 %           │
│ val   │       1 │       2 │ 25.0 %           │ 25.0 %           │
│ test  │       2 │       4 │ 50.0 %           │ 50.0 %           │
└───────┴─────────┴─────────┴──────────────────┴──────────────────┘
in no part: eel
leaks: 1
  name: class "bee" (val) and class "Bee" (test): names that differ in case, signs or a number before them alone
attributes that a val or test class has and no train class: a1, a2, a3
2 samples of test classes are held out as those of seen ones (test_seen): choose these anew
not known from files: which test classes the network saw that the features are from (those of ImageNet, for most)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := json.Marshal(Describe(birds("ant", "bee", "cat"), dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2}}, Tolerance))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"name":"birds","samples":6,"parts":[{"name":"train","classes":["ant"],"samples":2},{"name":"val","classes":["bee"],"samples":2},{"name":"test","classes":["cat"],"samples":2}],"left_out":[],"leaks":[],"uncovered":["a1","a2"],"held_out_unseen":0}`; string(text) != want {
		t.Errorf("as JSON\n%s\nwant\n%s", text, want)
	}
}

// Many leaks of a kind hide no others.
func TestReportCutsManyLeaks(t *testing.T) {
	names := make([]string, 26)
	for z := range names {
		names[z] = strings.Repeat("x", 2+z/2)
		if z%2 == 1 {
			names[z] = strings.ToUpper(names[z])
		}
	}
	d := birds(names...)
	copy(d.Features.Row(5), d.Features.Row(0))
	var s dataset.Split
	for z := range names {
		part := []*[]int{&s.Train, &s.Test}[z%2]
		*part = append(*part, z)
	}
	s.Train, s.Val = s.Train[1:], s.Train[:1]
	var b strings.Builder
	if err := Describe(d, s, Tolerance).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "  name: class") != maxLeaks || !strings.Contains(text, "  name: 3 more\n") || !strings.Contains(text, "  sample: ") {
		t.Error(text)
	}
}
