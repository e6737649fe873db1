package ablation

import (
	"cmp"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// rowsOf returns a row for each design with the accuracy of each class, best first.
func rowsOf(classes func(d Design) []float64) []Row {
	var rows []Row
	for _, d := range designs() {
		c := classes(d)
		rows = append(rows, Row{Design: d, Accuracy: lab.Summarise([]float64{stat.Mean(c, nil)}), classes: c})
	}
	slices.SortStableFunc(rows, func(x, y Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	return rows
}

// What the paper reads from its numbers holds for them, and not for others.
func TestFindings(t *testing.T) {
	for _, dataset := range []string{"cub", "awa2"} {
		rows := rowsOf(func(d Design) []float64 { return []float64{*d.published(dataset)} })
		want := slices.Clone(published.All().Ablation)
		slices.SortFunc(want, func(x, y published.Ablation) int {
			px, _ := x.On(dataset)
			py, _ := y.On(dataset)
			return cmp.Compare(py, px)
		})
		for i, row := range rows {
			if d := (Design{want[i].Prior, want[i].Complement, Supervision(want[i].Supervision)}); row.Design != d {
				t.Errorf("%s: row %d is %v, expected %v", dataset, i, row.Design, d)
			}
		}
		for i, f := range findings(rows) {
			if rows[i].Published = rows[i].published(dataset); !f.Holds {
				t.Errorf("%s: does not hold for the paper's own table: %s", dataset, f.Text)
			}
		}
		a := &Result{Rows: rows, Findings: findings(rows), Parts: 1} // one class cannot make a difference clear
		testkit.WantText(t, testlab.Text(a.Tables()), "│ published │", "unclear: with a uniform prior, const is above De-Morgan: ")
	}
	other := []float64{0.1, 0.5, 0.3, 0.2, 0.6, 0.4, 0.4, 0.4} // in the order of designs
	rows := rowsOf(func(d Design) []float64 { return []float64{other[slices.Index(designs(), d)]} })
	list := findings(rows)
	if len(list) != 5 {
		t.Fatalf("%d findings, expected 5", len(list))
	}
	for _, f := range list {
		if f.Holds {
			t.Errorf("holds: %s", f.Text)
		}
	}
	rows[3].Accuracy = lab.Summary{}
	if list := findings(rows); len(list) > 0 {
		t.Errorf("%d findings although a row is without accuracy", len(list))
	}
}

// Of twelve classes, each is 10 points better with a uniform prior, half of them 1 point better
// and the others 1 point worse with const, and 2 to 13 points worse with explicit supervision
// if the prior is per attribute.
func TestDifferencesOverClasses(t *testing.T) {
	rows := rowsOf(func(d Design) []float64 {
		list := make([]float64, 12)
		for z := range list {
			list[z] = 0.5 + 0.01*float64(z)
			if d.Prior == model.Uniform {
				list[z] += 0.1
			}
			if d.Complement == model.Const {
				list[z] += []float64{0.01, -0.01}[z%2]
			}
			if d.Prior == model.PerAttribute && d.Supervision == Explicit {
				list[z] -= 0.02 + 0.01*float64(z)
			}
		}
		return list
	})
	compareRows(rows)
	for _, r := range rows {
		switch d := r.Difference; {
		case r.Design == lago:
			if d != nil {
				t.Errorf("LAGO's design differs from itself by %+v", d)
			}
		case r.Prior == model.PerAttribute:
			// The least p of 2^12 signs, four times, corrected for seven comparisons.
			if d.P != 7*2.0/4096 || d.Mean > -0.09 || d.Interval.High > -0.09 {
				t.Errorf("%v: %+v", r.Design, d)
			}
		case math.Abs(d.Mean) > 1e-9 || d.P != 1:
			t.Errorf("%v: %+v", r.Design, d)
		}
	}
	for i, want := range []struct {
		difference float64
		clear      bool
	}{{0, false}, {0.1 + (0.02+0.13)/4, true}, {(0.02 + 0.13) / 2, true}, {0, false}, {0, false}} {
		f := findings(rows)[i]
		if d := f.Difference; math.Abs(d.Mean-want.difference) > 1e-9 || (d.P < metrics.Significance) != want.clear {
			t.Errorf("%s: %+v, expected %+v", f.Text, f.Difference, want)
		}
	}
}

// Each row is the dev runs of its design, with the best alpha if it is explicit; the row of the
// prior per group is extra. A second ablation trains nothing.
func TestAblate(t *testing.T) {
	l := testlab.New(t)
	c := Config{Base: testlab.Config(l, config.DevThenTest, model.SemanticHard), PerGroup: true, Alphas: []float64{0.5, 1e4}}
	a := testkit.Must(Run(t.Context(), l, c))(t)
	if len(a.Rows) != 9 || len(a.Findings) != 5 || a.Classes != 4 || !slices.Equal(a.Seeds, []uint64{5, 6}) || len(a.Missing) > 0 {
		t.Errorf("found %+v", a)
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the ablation", r.Dir) }
	var designs []Design
	for i, r := range a.Rows {
		designs = append(designs, r.Design)
		alphas := c.Alphas
		if r.Supervision == Implicit {
			alphas = []float64{0}
		}
		best := lab.Summary{Mean: -1}
		for _, alpha := range alphas {
			one := c.Base.With("prior", r.Prior).With("complement", r.Complement).With("alpha", alpha)
			m := results.Measure(testkit.Must(l.Do(t.Context(), one.Trials(l.Parts[0], train.Dev, a.Epochs)))(t)).PerClass
			if alpha == r.Alpha && !gocmp.Equal(m, r.Accuracy) {
				t.Errorf("%v: %+v, expected %+v", r.Design, r.Accuracy, m)
			}
			if m.Mean > best.Mean {
				best = m
			}
		}
		if best.Mean != r.Accuracy.Mean || i > 0 && a.Rows[i-1].Accuracy.Mean < r.Accuracy.Mean || r.Published != nil {
			t.Errorf("%v with alpha %g: %+v, expected a mean of %g", r.Design, r.Alpha, r.Accuracy, best.Mean)
		}
	}
	if !slices.Contains(designs, perGroup) || len(slices.Compact(designs)) != 9 {
		t.Errorf("designs %v", designs)
	}
	testkit.WantText(t, testlab.Text(a.Tables()), "2 seeds, explicit with the best alpha of 0.5, 10000 by the same accuracy", "│ per-group     │")
	again := testkit.Must(Run(t.Context(), l, c))(t)
	var stored Result
	testlab.Stored(t, l, Kind, &stored)
	testkit.NoError(t, stored.Check())
	if diff := gocmp.Diff(a, again, cmpopts.IgnoreUnexported(Row{})) + gocmp.Diff(a, &stored, cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Errorf("another run, or what is stored, differs:\n%s", diff)
	}
	if dots := testkit.Must(stored.Figures(""))(t)[0].Picture.(*plot.Dots); len(dots.Rows) != 9 || len(dots.Panels[0].Series[1].Dots) != 0 {
		t.Errorf("%d rows and series %+v in the figure, expected 9 and none that is published", len(dots.Rows), dots.Panels)
	}
}

func TestAblateRefuses(t *testing.T) {
	l := testlab.New(t)
	c := Config{Base: testlab.Config(l, config.OnlyDev, model.SemanticHard)}
	for _, wrong := range [][]float64{{0, 1}, {1, 1}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		c.Alphas = wrong
		testkit.WantError(t, c.Check(), "alphas: expected different positive numbers, found ")
	}
	l.Data.Groups, c.Alphas = nil, nil
	_, err := Run(t.Context(), l, c)
	testkit.WantError(t, err, "variant: expected one that the data set allows")
	testkit.WantError(t, (&Result{}).Check(), "rows: expected at least one, found none")
}

// Random groups have the sizes of the semantic ones, and their mean stands beside these and
// singletons, all by the full protocol.
func TestGroups(t *testing.T) {
	l := testlab.New(t)
	testkit.NoError(t, l.Rotate(3, 0))
	c := testlab.Config(l, config.DevThenTest, model.SemanticHard)
	g := testkit.Must(RunGroups(t.Context(), l, c))(t)
	if len(g.Rows) != 4 || g.Classes != 16 || g.Rows[3].Draws != randomDraws || g.Rows[0].Difference != nil {
		t.Fatalf("%d classes, rows %+v", g.Classes, g.Rows)
	}
	sizes := func(d *dataset.Dataset) []int {
		n := make([]int, len(d.Groups))
		for _, a := range d.Attributes {
			n[a.Group]++
		}
		return n
	}
	var mean float64
	for seed := range uint64(randomDraws) {
		other := shuffled(l, seed)
		if d := other.Parts[2].Data; !slices.Equal(sizes(d), sizes(l.Data)) || slices.Equal(d.Attributes, l.Data.Attributes) {
			t.Errorf("draw %d has groups %v", seed, d.GroupOf())
		}
		plan := engine.Plan{Stage: config.DevThenTest, Arms: []engine.Arm{{Name: "x", Starts: []config.Config{c}}}}
		mean += results.Rows(testkit.Must(engine.Run(t.Context(), other, plan))(t))[0].Test.PerClass.Mean / randomDraws
	}
	testkit.Near(t, "random groups", g.Rows[3].Accuracy, mean, 1e-12)
	for _, r := range g.Rows[1:] {
		testkit.Near(t, r.Groups, r.Difference.Mean, g.Rows[0].Accuracy-r.Accuracy, 1e-12)
	}
	var stored Groups
	testlab.Stored(t, l, GroupsKind, &stored)
	testkit.WantText(t, testlab.Text(stored.Tables()), "16 unseen classes", "│ singletons, same settings ", "random: mean over 5 draws")
}
