package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// choice is the configuration that represents a variant: the one with the best mean
// validation accuracy of those with test runs, or of all if there are none, and the test
// runs of the same settings. Either is nil if it was not run.
type choice struct {
	variant   model.Variant
	dev, test *configuration
	tried     []*configuration // of the variant in the dev stage, the best first
}

// choices are in the order of the variants in the paper.
func (d *datasetRuns) choices() []choice {
	var list []choice
	for _, v := range model.Variants {
		isOther := func(c *configuration) bool { return c.variant() != v }
		c := choice{variant: v, tried: slices.DeleteFunc(slices.Clone(d.dev), isOther)}
		for _, dev := range c.tried {
			if test := d.testOf(dev); c.dev == nil || c.test == nil && test != nil {
				c.dev, c.test = dev, test
			}
		}
		if tests := slices.DeleteFunc(slices.Clone(d.test), isOther); c.dev == nil && len(tests) > 0 {
			c.test = tests[0]
		}
		if c.dev != nil || c.test != nil {
			list = append(list, c)
		}
	}
	return list
}

// testOf returns the test runs of a configuration of the dev stage; of several, those
// trained for the number of epochs that the average curve of the dev stage gives.
func (d *datasetRuns) testOf(dev *configuration) *configuration {
	settings := func(t train.Trial) train.Trial {
		t.Stage, t.Training.Epochs, t.Training.Patience, t.Training.Seed = "", 0, 0, 0
		return t
	}
	var found *configuration
	for _, c := range d.test {
		if settings(c.trial()) == settings(dev.trial()) && (found == nil || c.trial().Training.Epochs == dev.bestEpoch()) {
			found = c
		}
	}
	return found
}

// bestEpoch is the epoch at which the average curve is best.
func (c *configuration) bestEpoch() int { return protocol.BestEpoch(c.curves) }

// best returns the choice with the highest validation accuracy among those that fit.
func best(choices []choice, fits func(choice) bool) (c choice, ok bool) {
	for _, other := range choices {
		if fits(other) && (!ok || other.val() > c.val()) {
			c, ok = other, true
		}
	}
	return c, ok
}

// val returns the mean validation accuracy, below any other if there is none.
func (c choice) val() float64 {
	if c.dev == nil {
		return -1
	}
	return c.dev.PerClass.Mean
}

// shown returns the configuration of the dev stage or, without one, of the test stage.
func (c choice) shown() *configuration {
	if c.dev == nil {
		return c.test
	}
	return c.dev
}

// variantsSection compares the variants, as figure 3 and table A.1 of the paper do.
func variantsSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "variants", Title: "Variants",
		Text: "Each variant is represented by the configuration with the best mean validation accuracy, at the best epoch of each " +
			"seed, among those evaluated on the test classes, or among all if there are none. Test classes were not used for " +
			"training, and test accuracy not for this choice. Validation accuracy chose the configuration, so it is optimistic, " +
			"the more so the more configurations were tried.",
	}
	choices := d.choices()
	p := &plot.Dots{X: accuracyAxis}
	series := []plot.DotSeries{{Name: "val", Condition: plot.Dashed}, {Name: "test"}, {Name: "published test", Condition: plot.Dotted}}
	s.Table = &Table{Header: []string{"configuration", "val (%)", "95 % over val classes", "test (%)", "95 % over test classes", "seeds val / test", "configurations tried"}}
	for i, c := range choices {
		p.Rows = append(p.Rows, plot.Row{Name: string(c.variant), Method: string(c.variant)})
		row := []string{
			c.shown().label, absent, absent, absent, absent,
			fmt.Sprintf("%d / %d", c.dev.seeds(), c.test.seeds()), fmt.Sprint(len(c.tried)),
		}
		for j, stage := range []*configuration{c.dev, c.test} {
			if stage != nil {
				row[1+2*j], row[2+2*j] = plusMinus(stage.PerClass), stage.Interval.String()
				series[j].Dots = append(series[j].Dots, intervalDot(i, stage.PerClass.Mean, stage.Interval))
			}
		}
		if cell, ok := published.TestAccuracy(d.name, published.Method(c.variant)); ok {
			if paper, err := strconv.ParseFloat(cell, 64); err == nil {
				series[2].Dots = append(series[2].Dots, plot.Dot{Row: i, Value: paper, Text: percent(paper / 100)})
			}
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	p.Series = slices.DeleteFunc(series, func(s plot.DotSeries) bool { return len(s.Dots) == 0 })
	var shown []*configuration
	for _, c := range choices {
		shown = append(shown, c.dev, c.test)
	}
	caption := "Mean over " + seedsOf(shown)
	for _, stage := range [][]*configuration{d.dev, d.test} {
		if len(stage) > 0 {
			caption += ", " + stage[0].classesOf()
			p.Chance = 100 * stage[0].Chance()
		}
	}
	caption += "; bars are 95 % bootstrap intervals over classes. Each variant is shown in its chosen configuration."
	s.Figures = []Figure{f.figure(d, "variants", "Accuracy of the variants", caption, p)}
	f.addMissing(&s, d, choices)
	return s
}

// seeds counts the runs of a configuration, which may be nil.
func (c *configuration) seeds() int {
	if c == nil {
		return 0
	}
	return len(c.runs)
}

// addMissing adds which variants lack a stage, with the commands that run it.
func (f *folder) addMissing(s *Section, d *datasetRuns, choices []choice) {
	for _, v := range model.Variants {
		variant := "--variant " + string(v)
		i := slices.IndexFunc(choices, func(c choice) bool { return c.variant == v })
		if i < 0 {
			s.todo(string(v), f.command(d, "run", variant, sharedFlags(choices)))
			continue
		}
		c := choices[i]
		if c.dev != nil && c.tried[0].PerClass.Mean > c.dev.PerClass.Mean {
			s.Notes = append(s.Notes, fmt.Sprintf("%s has a higher validation accuracy, %s, but was not evaluated on the test classes.",
				c.tried[0].label, c.tried[0].PerClass.MeanText()))
		}
		switch {
		case c.dev == nil:
			s.todo("dev stage of "+c.test.label, f.command(d, "run --stage dev", variant, c.test.flags()))
		case c.test == nil:
			s.todo("test stage of "+c.dev.label, f.command(d, "run", variant, c.dev.flags()))
		case c.test.trial().Training.Epochs != c.dev.bestEpoch():
			s.Notes = append(s.Notes, fmt.Sprintf("The test runs of %s were trained for %d epochs; its dev runs are best at epoch %d.",
				c.shown().label, c.test.trial().Training.Epochs, c.dev.bestEpoch()))
		}
	}
}

// sharedFlags returns the settings of the best configuration that apply to any variant, so
// that another variant can be run on the same features and seeds.
func sharedFlags(choices []choice) string {
	c, _ := best(choices, func(choice) bool { return true })
	return c.shown().flags(ofVariants...)
}

// curvesSection shows how the configuration of each variant learned in the dev stage.
func curvesSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "curves", Title: "Learning curves",
		Text: "Lines are means over seeds, bands range from the lowest to the highest seed, over the epochs that all seeds " +
			"reached. The mark is the epoch with the highest mean validation accuracy, the number of epochs of the test stage. " +
			"The accuracy in a caption is the mean over seeds, each at its best epoch.",
	}
	if len(d.dev) == 0 {
		for _, c := range d.test {
			s.todo("dev stage of "+c.label, f.command(d, "run --stage dev --variant", string(c.variant()), c.flags()))
		}
		return s
	}
	const how = "; lines are means over %s, bands from the lowest to the highest seed; the mark is the best epoch of the mean."
	var shown []*configuration
	for _, c := range d.choices() {
		if c.dev != nil {
			shown = append(shown, c.dev)
		}
	}
	s.Figures = []Figure{f.figure(d, "curves", "Validation accuracy by epoch",
		d.dev[0].classesOf()+fmt.Sprintf(how, seedsOf(shown))+" Each variant is shown in its chosen configuration.", curvesOfVariants(d.choices()))}
	for _, c := range shown {
		v := string(c.variant())
		caption := fmt.Sprintf("%s; %s"+how+" Accuracy at the best epoch of each seed: %s %%.",
			c.label, c.classesOf(), format.Count(c.seeds(), "seed"), plusMinus(c.PerClass))
		s.Figures = append(s.Figures, f.figure(d, "curve-"+v, "Learning curves, "+v, caption, curvesOf(c)))
	}
	return s
}

// curvesOfVariants draws the validation accuracy of several configurations.
func curvesOfVariants(choices []choice) *plot.Lines {
	p := &plot.Lines{X: "epoch", Y: "val " + accuracyAxis, FromZero: true}
	var chance float64
	for _, c := range choices {
		if c.dev != nil {
			chance = c.dev.Chance()
			p.Series = append(p.Series, plot.Series{
				Name: string(c.variant), Look: plot.Look{Method: string(c.variant)},
				Points: averaged(c.dev.curves, valAccuracy), Stop: float64(c.dev.bestEpoch()),
			})
		}
	}
	chanceLine(p, chance)
	return p
}

// curvesOf draws the accuracy of one configuration.
func curvesOf(c *configuration) *plot.Lines {
	look := plot.Look{Method: string(c.variant())}
	val := plot.Series{Name: "val", Look: look, Points: averaged(c.curves, valAccuracy), Stop: float64(c.bestEpoch())}
	look.Condition = plot.Dashed
	seen := plot.Series{Name: "train", Look: look, Points: averaged(c.curves, func(e train.Epoch) float64 { return e.TrainAccuracy })}
	p := &plot.Lines{X: "epoch", Y: accuracyAxis, FromZero: true, Series: []plot.Series{seen, val}}
	chanceLine(p, c.Chance())
	return p
}

func valAccuracy(e train.Epoch) float64 { return *e.ValAccuracy }

// averaged returns mean, lowest and highest of curves, in percent, over the epochs that
// all of them have.
func averaged(curves []train.Curve, value func(train.Epoch) float64) []plot.Point {
	shortest := len(curves[0])
	for _, c := range curves {
		shortest = min(shortest, len(c))
	}
	points := make([]plot.Point, shortest)
	for e := range points {
		values := make([]float64, len(curves))
		for i, c := range curves {
			values[i] = 100 * value(c[e])
		}
		points[e] = plot.Point{
			X: float64(e + 1), Y: lab.Summarise(values).Mean, Low: slices.Min(values), High: slices.Max(values),
		}
	}
	return points
}
