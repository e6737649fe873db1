package ksweep

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

type group struct {
	Variant model.Variant
	K       int
}

func groups(points []Point) (list []group) {
	for _, p := range points {
		list = append(list, group{p.Variant, p.K})
	}
	return list
}

// The numbers are those of runs with each setting, and what is stored shows them.
func TestSweep(t *testing.T) {
	l := testlab.New(t)
	c := testlab.Config(l, config.OnlyDev, model.KSoft)
	s := testkit.Must(Run(t.Context(), l, Config{c, []int{9, 2, 2}}))(t)
	if diff := cmp.Diff([]group{{model.KSoft, 2}, {model.KSoft, 9}}, groups(s.Points)); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]group{{model.Singletons, 9}, {model.SemanticHard, 3}}, groups(s.Lines)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the sweep", r.Dir) }
	c = c.On(l.Data)
	for i, alone := range []config.Config{c.With("k", 2), c.With("k", 9), line(c, model.Singletons), line(c, model.SemanticHard)} {
		m := results.Measure(testkit.Must(l.Do(t.Context(), alone.Trials(l.Parts[0], train.Dev, c.Epochs)))(t))
		if got := append(s.Points, s.Lines...)[i]; len(got.Accuracy.Values) != 2 || !cmp.Equal(m.PerClass, got.Accuracy) || m.Interval != got.Interval {
			t.Errorf("point %d is %+v, expected %+v", i, got, m)
		}
	}
	var stored Result
	testlab.Stored(t, l, Kind, &stored)
	if diff := cmp.Diff(s, &stored); diff != "" {
		t.Errorf("(-made +stored):\n%s", diff)
	}
	picture := testkit.Must(stored.Figures(""))(t)[0].Picture.(*plot.Lines)
	if len(picture.Series) != 3 || picture.Series[0].Points[1].Y != 100*s.Points[1].Accuracy.Mean {
		t.Errorf("found %+v", picture.Series)
	}
	testkit.WantError(t, (&Result{}).Check(), "points: expected at least one")
	without := *l.Data
	without.Groups = nil
	if s := testkit.Must(Run(t.Context(), lab.New(&without, t.TempDir()), Config{c, []int{2}}))(t); len(s.Lines) != 1 {
		t.Errorf("lines %v of data without groups, expected singletons alone", s.Lines)
	}
	_, err := Run(t.Context(), l, Config{Base: testlab.Config(l, config.OnlyDev, model.SemanticHard)})
	testkit.WantError(t, err, "variant: expected k-soft, ", "found semantic-hard")
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
		{[]int{3, 6}, 5, nil, "ks: expected numbers from 1 to the number of attributes, 5, found 3, 6"},
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
		c := config.PresetFor("cub", methods.Of(v)).Config
		c.Seeds, c.Epochs = 9, 10
		return c.With("complement", model.DeMorgan).With("preprocess", "l2")
	}
	want := of(model.SemanticHard)
	got := line(of(model.KSoft).With("lr", 7).With("zeta", 8), model.SemanticHard)
	if diff := cmp.Diff(want.Settings().Values(), got.Settings().Values()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
