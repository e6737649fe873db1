package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// ksweepSection shows validation accuracy against K, as figure 2 of the paper does.
func ksweepSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "sweep", Title: "Number of groups",
		Text: "Validation accuracy of k-soft against its number of groups K, and of singletons and semantic-hard with the same " +
			"features and training. Each line has one set of settings.",
	}
	sweeps := d.sweeps()
	if len(sweeps) == 0 {
		flags := sharedFlags(d.choices())
		if i := slices.IndexFunc(d.dev, func(c *configuration) bool { return c.variant() == model.KSoft }); i >= 0 {
			flags = d.dev[i].flags("k")
		}
		s.todo("k-soft with several numbers of groups", f.command(d, "sweep-k", flags))
		return s
	}
	s.Table = &Table{Header: []string{"configuration", "K", "val (%)", "95 % over classes", "seeds"}}
	p := &plot.Lines{X: "number of groups K", Y: "val " + accuracyAxis, DataTicks: true}
	var firsts, shown []*configuration
	for _, sweep := range sweeps {
		firsts = append(firsts, sweep[0])
	}
	low, high := sweeps[0][0].trial().Model.K, 0
	for i, label := range labels(firsts, "k") {
		line := plot.Series{Name: label, Look: plot.Look{Method: string(model.KSoft), Condition: plot.Condition(i)}, Measured: true}
		for _, c := range sweeps[i] {
			shown = append(shown, c)
			k := c.trial().Model.K
			low, high = min(low, k), max(high, k)
			line.Points = append(line.Points, point(float64(k), c.PerClass))
			s.Table.Rows = append(s.Table.Rows, []string{label, fmt.Sprint(k), plusMinus(c.PerClass), c.Interval.String(), fmt.Sprint(len(c.runs))})
		}
		p.Series = append(p.Series, line)
	}
	others := d.references(firsts)
	drawn := map[model.Variant]plot.Condition{}
	for i, label := range labels(others) {
		c := others[i]
		p.Series = append(p.Series, plot.Series{
			Name: label, Look: plot.Look{Method: string(c.variant()), Condition: drawn[c.variant()]},
			Points: []plot.Point{point(float64(low), c.PerClass), point(float64(high), c.PerClass)},
		})
		drawn[c.variant()]++
		s.Table.Rows = append(s.Table.Rows, []string{label, absent, plusMinus(c.PerClass), c.Interval.String(), fmt.Sprint(len(c.runs))})
	}
	caption := fmt.Sprintf("%s; mean over %s; bars and bands are one standard error over seeds.", d.dev[0].classesOf(), seedsOf(append(shown, others...)))
	s.Figures = []Figure{f.figure(d, "sweep-k", "Validation accuracy by number of groups K", caption, p)}
	return s
}

// sweeps returns the sets of k-soft configurations that differ in K only, each by K; those
// with the best configuration first.
func (d *datasetRuns) sweeps() [][]*configuration {
	var order []train.Trial
	found := map[train.Trial][]*configuration{}
	for _, c := range d.dev { // the best first
		if c.variant() != model.KSoft {
			continue
		}
		key := c.trial()
		key.Model.K, key.Training.Seed = 0, 0
		if found[key] == nil {
			order = append(order, key)
		}
		found[key] = append(found[key], c)
	}
	var sweeps [][]*configuration
	for _, key := range order {
		sweep := found[key]
		slices.SortFunc(sweep, func(a, b *configuration) int { return cmp.Compare(a.trial().Model.K, b.trial().Model.K) })
		if len(sweep) > 1 {
			sweeps = append(sweeps, sweep)
		}
	}
	return sweeps
}

// references returns singletons and semantic-hard with the training of a sweep. Of several
// configurations, as a search leaves them, it is the one nearest to the defaults, which are
// what sweep-k trains.
func (d *datasetRuns) references(sweeps []*configuration) []*configuration {
	var list []*configuration
	for _, c := range d.dev {
		isOther := c.variant() == model.Singletons || c.variant() == model.SemanticHard
		if !isOther || !slices.ContainsFunc(sweeps, func(k *configuration) bool { return sameTraining(k, c) }) {
			continue
		}
		i := slices.IndexFunc(list, func(o *configuration) bool { return o.variant() == c.variant() && sameTraining(o, c) })
		if i < 0 {
			list = append(list, c)
		} else if len(c.changes()) < len(list[i].changes()) {
			list[i] = c
		}
	}
	return list
}

// sameTraining reports whether two configurations share the settings that sweep-k gives to
// all variants; each has its own of the others.
func sameTraining(a, b *configuration) bool {
	return slices.Equal(settingsOf(a.trial(), ofVariants...), settingsOf(b.trial(), ofVariants...))
}
