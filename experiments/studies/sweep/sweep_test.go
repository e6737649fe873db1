package sweep

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// items lists what a data set has on an axis, and for axes of each class whose it is.
func items(a Axis, d *dataset.Dataset) (list []any) {
	held := map[int]bool{}
	for _, i := range d.TestSeen {
		held[i] = true
	}
	switch a {
	case Classes:
		for _, z := range d.Split.Seen() {
			list = append(list, z)
		}
	case Samples:
		for i, z := range d.Labels {
			if slices.Contains(d.Split.Seen(), z) && !held[i] {
				list = append(list, [2]int{z, i})
			}
		}
	case Groups:
		for _, name := range d.Groups {
			list = append(list, name)
		}
	case Entries:
		for i, p := range d.Descriptions.Data {
			if !math.IsNaN(p) {
				list = append(list, [2]int{i / d.Descriptions.Cols, i})
			}
		}
	}
	return list
}

// A subset has the size that was asked for, contains the smaller ones of its seed, and is a sound
// data set with the same test classes. Another seed draws others.
func TestSubsetsAreNested(t *testing.T) {
	for _, a := range Axes {
		d := tiny.Small()
		if a == Entries {
			d.Descriptions.Row(3)[2] = math.NaN()
		}
		times := map[Axis]int{Samples: len(d.Split.Seen()), Entries: len(d.Classes)}[a]
		var before []any
		for n := a.least(); n < a.size(d); n++ {
			part := a.subset(d, n, 7)
			testkit.NoError(t, check.Errors(part))
			now := items(a, part)
			if len(now) != n*max(times, 1) && !(a == Entries && n == 8) { // class 3 describes 8 of 9 attributes
				t.Errorf("%s: %d of size %d", a, len(now), n)
			}
			for _, item := range before {
				if !slices.Contains(now, item) {
					t.Errorf("%s: size %d lacks %v of the size before", a, n, item)
				}
			}
			if before = now; !cmp.Equal(part.Split.Test, d.Split.Test) {
				t.Errorf("%s: other test classes", a)
			}
			for m, attribute := range part.Attributes {
				from := slices.IndexFunc(d.Attributes, func(of dataset.Attribute) bool { return of.Name == attribute.Name })
				p, of := part.Descriptions.Row(5)[m], d.Descriptions.Row(5)[from]
				if part.Groups[attribute.Group] != d.Groups[d.Attributes[from].Group] || p != of && !(a == Entries && math.IsNaN(p)) {
					t.Errorf("%s: attribute %s is of another group or value", a, attribute.Name)
				}
			}
		}
		one, two := a.subset(d, a.least(), 1), a.subset(d, a.least(), 2)
		if a != Groups && cmp.Equal(one, two, cmpopts.EquateNaNs()) {
			t.Errorf("%s: two seeds draw the same", a)
		}
	}
}

func subsetsOf(of Axis, sizes ...int) Subsets {
	return Subsets{Of: of, Sizes: sizes, Draws: 2}
}

// hard is the settings of semantic-hard by the full protocol.
func hard(l *lab.Lab) *config.Request {
	return testlab.Request(testlab.Config(l, config.DevThenTest, model.SemanticHard))
}

// The accuracy with all is that of the data set as it is, and with fewer that of models trained on
// what is left. Samples that are left out are in no stage. With parts each class is unseen once.
func TestSubsets(t *testing.T) {
	for _, a := range Axes {
		l := testlab.New(t)
		c := subsetsOf(a, a.least())
		r := testlab.Ask[*results.Accuracies](t, l, &c, hard(l))
		if len(r.Missing) > 0 || r.Classes != 4 || r.Rows[len(r.Rows)-1].Number != float64(a.size(l.Data)) {
			t.Fatalf("%s: %+v", a, r)
		}
		whole := testkit.Must(engine.Run(t.Context(), l, engine.Plan{Arms: []engine.Arm{{Starts: []config.Config{c.Base}}}, Stage: config.DevThenTest}))(t)
		for i, p := range r.Rows {
			last := i == len(r.Rows)-1
			if (p.Draws == 1) != last || (p.Difference == nil) != last {
				t.Errorf("%s: %+v", a, p)
			}
			if last {
				testkit.Near(t, string(a), p.Accuracy.Mean, results.Methods(whole)[0].Test.PerClass.Mean, 1e-12)
			}
		}
		testlab.Stored(t, l, SubsetsKind(a), &results.Accuracies{})
		for _, run := range testkit.Must(lab.ReadRuns(l.Root + "/splits"))(t) {
			if a == Classes && run.Stage == train.Dev {
				t.Errorf("%s: few validation classes choose the epochs", run.Name())
			}
		}
	}
	l := testlab.New(t)
	testkit.NoError(t, l.Rotate(4, 0))
	rotated := subsetsOf(Samples, 2)
	r := testlab.Ask[*results.Accuracies](t, l, &rotated, hard(l))
	if r.Classes != 16 || r.Parts != 4 || len(r.Rows) != 2 {
		t.Errorf("rotated: %+v", r)
	}
	few := 0 // dev runs on two samples of each class
	for _, run := range testkit.Must(lab.ReadRuns(l.Root + "/splits"))(t) {
		samples := 0
		for _, pair := range run.Evaluation.Confusion {
			samples += pair[2]
		}
		if run.Stage == train.Dev && samples == 2*len(run.Result.Classes) {
			few++
		}
	}
	testkit.Equal(t, "dev runs with 2 samples of each class: parts, draws and seeds", few, 4*2*2)
	testkit.WantText(t, testlab.Text(r.Tables()), "16 test classes, 2 seeds, each class unseen in one of 4 parts", "│       2 │", "chance 25.0 %")
	p := testkit.Must(r.Figures(""))(t)[0].Picture.(*plot.Lines)
	if point := p.Series[0].Points[0]; p.Chance != 25 || point.X != 2 || point.Low != 100*r.Rows[0].Interval.Low || point.High != 100*r.Rows[0].Interval.High {
		t.Errorf("%+v", p)
	}
}

// Fewer classes with fewer samples of each: every size has runs on as many samples as both say.
func TestSubsetsOfClassesAndSamples(t *testing.T) {
	l := testlab.New(t)
	c := subsetsOf(Classes, 6)
	c.Samples = 2
	r := testlab.Ask[*results.Accuracies](t, l, &c, hard(l))
	testkit.WantText(t, testlab.Text(r.Tables()), "2 samples of each seen class")
	p := testkit.Must(c.Plan(hard(l), l))(t)
	for i, want := range []int{6, 12} {
		for _, part := range p.Arms[i].Parts {
			held := map[int]bool{}
			for _, n := range part.Data.TestSeen {
				held[n] = true
			}
			seen, samples := part.Data.Split.Seen(), 0
			for n, z := range part.Data.Labels {
				if slices.Contains(seen, z) && !held[n] {
					samples++
				}
			}
			testkit.Equal(t, "classes and samples", [2]int{len(seen), samples}, [2]int{want, 2 * want})
		}
		testkit.Equal(t, "hold out", p.Arms[i].Starts[0].HoldOut, true)
	}
}

func TestSubsetsRefuse(t *testing.T) {
	both := subsetsOf(Samples, 2)
	both.Samples = 1
	l := testlab.New(t)
	none := *l.Data
	none.Groups = nil
	for want, c := range map[string]struct {
		on *lab.Lab
		Subsets
	}{
		"sizes: expected numbers of seen classes from 4 to 12, found 3, 5":             {l, subsetsOf(Classes, 3, 5)},
		"sizes: expected numbers of described attributes of each class from 1 to 9, f": {l, subsetsOf(Entries, 10)},
		"samples: expected --sizes with --of samples, found 1":                         {l, both},
		"of: expected a data set with 1 or more groups, found 0":                       {lab.New(&none, t.TempDir()), subsetsOf(Groups)},
	} {
		_, err := results.Ask(t.Context(), &c.Subsets, hard(l), c.on)
		testkit.WantError(t, err, want)
	}
}

// The numbers are those of runs with each setting, and what is stored shows them.
func TestGroupNumbers(t *testing.T) {
	l := testlab.New(t)
	c := testlab.Config(l, config.OnlyDev, model.KSoft)
	s := testlab.Ask[*results.Accuracies](t, l, &GroupNumbers{Ks: []int{9, 2, 2}}, testlab.Request(c))
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the sweep", r.Dir) }
	c = c.On(l.Data)
	labels := []string{"k-soft, 2", "k-soft, 9", "singletons, 9", "semantic-hard, 3"}
	for i, alone := range []config.Config{c.With("k", 2), c.With("k", 9), comparable(c, model.Singletons), comparable(c, model.SemanticHard)} {
		runs := testkit.Must(l.Do(t.Context(), alone.Trials(l.Parts[0], train.Dev, c.Epochs)))(t)
		m := results.Measure(lab.Evaluate(runs, alone.Correction))
		got := s.Rows[i]
		if got.Label() != labels[i] || got.Reference != (i > 1) || len(got.Accuracy.Values) != 2 || !cmp.Equal(m.PerClass, got.Accuracy) || m.Interval != got.Interval {
			t.Errorf("row %d is %+v, expected %+v", i, got, m)
		}
	}
	var stored results.Accuracies
	testlab.Stored(t, l, KKind, &stored)
	testkit.Equal(t, "stored", &stored, s, cmpopts.IgnoreFields(results.Row{}, "ByClass"))
	picture := testkit.Must(stored.Figures(""))(t)[0].Picture.(*plot.Lines)
	if len(picture.Series) != 3 || picture.Series[0].Points[1].Y != 100*s.Rows[1].Accuracy.Mean {
		t.Errorf("found %+v", picture.Series)
	}
	without := *l.Data
	without.Groups = nil
	s = testlab.Ask[*results.Accuracies](t, lab.New(&without, t.TempDir()), &GroupNumbers{Ks: []int{2}}, testlab.Request(c))
	if len(s.Rows) != 2 {
		t.Errorf("rows %v of data without groups, expected k-soft and singletons", s.Rows)
	}
}

func TestSweptKs(t *testing.T) {
	for _, c := range []struct {
		ks         []int
		attributes int
		want       []int
		err        string
	}{
		{nil, 312, []int{1, 10, 20, 30, 40, 60}, ""}, // the paper's
		{nil, 40, []int{1, 10, 20, 30, 40}, ""},
		{[]int{5, 3, 5}, 5, []int{3, 5}, ""},
		{[]int{3, 6}, 5, nil, "ks: expected numbers from 1 to the number of attributes, 5, found 6"},
		{[]int{0}, 5, nil, "ks: expected numbers from 1 to the number of attributes, 5, found 0"},
	} {
		got, err := sweptKs(c.ks, c.attributes)
		if c.err == "" != (err == nil) || err != nil && err.Error() != c.err || !cmp.Equal(c.want, got) {
			t.Errorf("%v of %d: %v, error %v, expected %v, %q", c.ks, c.attributes, got, err, c.want, c.err)
		}
	}
}

// Settings of the model come from the preset, the others from the configuration.
func TestLinesOfASweep(t *testing.T) {
	of := func(v model.Variant) config.Config {
		c := config.PresetFor("cub", methods.Variant(v)).Config
		c.Seeds, c.Epochs = 9, 10
		return c.With("complement", model.DeMorgan).With("preprocess", "l2")
	}
	want := of(model.SemanticHard)
	got := comparable(of(model.KSoft).With("lr", 7).With("zeta", 8), model.SemanticHard)
	testkit.Equal(t, "settings", got.Settings().Values(), want.Settings().Values())
}
