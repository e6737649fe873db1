package ksweep

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// sweepConfig is a configuration of k-soft.
func sweepConfig(l *lab.Lab) protocol.Config {
	c := testlab.Config(l, protocol.OnlyDev)
	c.Variant, c.Zeta = model.KSoft, 1
	return c
}

func TestSweepK(t *testing.T) {
	l := testlab.Simulated(t)
	c := sweepConfig(l)
	s, err := Run(t.Context(), l, c, []int{9, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	type group struct {
		Variant model.Variant
		K       int
	}
	var got []group
	for _, g := range append(s.Points, s.Lines...) {
		got = append(got, group{g.Variant, g.K})
		if len(g.Accuracy.Values) != c.Seeds {
			t.Errorf("%s, K = %d: %d values, expected one per seed", g.Variant, g.K, len(g.Accuracy.Values))
		}
	}
	want := []group{{model.KSoft, 2}, {model.KSoft, 9}, {model.Singletons, 9}, {model.SemanticHard, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The numbers are those of the trials that a run of each setting would carry out.
	c.K = 9
	done, err := l.Do(t.Context(), c.Trials(l.Parts[0], train.Dev, c.Epochs))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.Measure(done).PerClass, s.Points[1].Accuracy); diff != "" {
		t.Errorf("K = 9 (-run +sweep):\n%s", diff)
	}
}

func TestSweepKWithoutGroups(t *testing.T) {
	l := testlab.Simulated(t)
	without := *l.Data
	without.Groups = nil
	s, err := Run(t.Context(), lab.New(&without, l.Root), sweepConfig(l), []int{2})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Lines) != 1 || s.Lines[0].Variant != model.Singletons {
		t.Errorf("lines %v, expected singletons alone", s.Lines)
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
		{[]int{3, 6}, 5, nil, "ks: expected numbers from 1 to the number of attributes, 5, found 3 6"},
		{[]int{0}, 5, nil, "ks: expected numbers from 1 to the number of attributes, 5, found 0"},
	} {
		got, err := sweptKs(c.ks, c.attributes)
		if c.err == "" != (err == nil) || err != nil && err.Error() != c.err {
			t.Errorf("%v of %d: error %v, expected %q", c.ks, c.attributes, err, c.err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v of %d (-want +got):\n%s", c.ks, c.attributes, diff)
		}
	}
}

func TestSweepKIsOfKSoft(t *testing.T) {
	l := testlab.Simulated(t)
	if _, err := Run(t.Context(), l, testlab.Config(l, protocol.OnlyDev), nil); err == nil || !strings.Contains(err.Error(), "expected k-soft") {
		t.Errorf("error %v for semantic-hard", err)
	}
}

// Settings of the model come from the preset, the others from the configuration.
func TestLinesOfASweep(t *testing.T) {
	c := protocol.PresetFor("cub", model.KSoft).Config
	c.LR, c.Zeta, c.Seeds, c.Epochs, c.Complement = 7, 8, 9, 10, model.DeMorgan
	got := line(c, model.SemanticHard)
	want := protocol.PresetFor("cub", model.SemanticHard).Config
	want.Seeds, want.Epochs, want.Complement = 9, 10, model.DeMorgan
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSweepText(t *testing.T) {
	s := Result{
		Dataset: "cub", Seeds: 2,
		Points: []Point{
			{model.KSoft, 1, lab.Summarise([]float64{0.25, 0.27}), metrics.Interval{Low: 0.2, High: 0.3}},
			{model.KSoft, 30, lab.Summarise([]float64{0.5, 0.52}), metrics.Interval{Low: 0.45, High: 0.6}},
			{model.KSoft, 40, lab.Summary{}, metrics.ClassInterval(nil)},
		},
		Lines:   []Point{{model.Singletons, 312, lab.Summarise([]float64{0.4, 0.4}), metrics.ClassInterval(nil)}},
		Missing: []lab.Missing{{Dir: "runs/a", Why: "unfinished at epoch 3"}},
	}
	var b bytes.Buffer
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"│ k-soft     │  30 │              51.0 % │ 45.0 to 60.0      │             1.0 % │     2 │", "│ k-soft     │  40 │                   - │ -                 │                 - │     0 │",
		"  runs/a: unfinished at epoch 3\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("expected %q in\n%s", want, &b)
		}
	}
}
