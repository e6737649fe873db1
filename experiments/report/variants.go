package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
)

// variants compares the variants, as figure 3 and table A.1 of the paper do.
func variants(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "variants", Title: "Variants",
		Text: "Each variant stands with the configuration that has the best mean accuracy on the val classes, where the best " +
			"epoch of each seed counts. Test classes were never trained on, and had no part in the choice.",
	}
	choices := d.choices()
	p := &plot.Dots{X: accuracyAxis}
	series := []plot.DotSeries{{Name: "val", Look: 0}, {Name: "test", Look: 1}, {Name: "published test", Look: 5}}
	s.Table = &Table{Header: []string{"configuration", "val (%)", "test (%)", "seeds val / test"}}
	for i, c := range choices {
		p.Rows = append(p.Rows, string(c.Variant))
		row := []string{c.label(), absent, absent, fmt.Sprintf("%d / %d", c.Dev.seeds(), c.Test.seeds())}
		for j, part := range []*Configuration{c.Dev, c.Test} {
			if part != nil {
				row[1+j] = plusMinus(part.PerClass)
				series[j].Dots = append(series[j].Dots, dot(i, part.PerClass))
			}
		}
		if paper, ok := publishedTest(d.Name, c.Variant); ok {
			series[2].Dots = append(series[2].Dots, plot.Dot{Row: i, Value: 100 * paper, Text: percent(paper)})
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	p.Series = slices.DeleteFunc(series, func(s plot.DotSeries) bool { return len(s.Dots) == 0 })
	caption := "Mean and standard error over seeds of the accuracy of each variant." + chance(choices)
	s.Figures = []Figure{r.figure(d, "variants", caption, p)}
	s.Notes, s.Command = r.lacking(d, choices)
	return s
}

// absent stands in a table for what was not run.
const absent = "–"

// dot shows a summary in percent.
func dot(row int, s lab.Summary) plot.Dot {
	return plot.Dot{Row: row, Value: 100 * s.Mean, Error: 100 * s.SEM, Text: plusMinus(s)}
}

// seeds counts the trials of a configuration, which may not have been run.
func (c *Configuration) seeds() int {
	if c == nil {
		return 0
	}
	return len(c.Trials)
}

func (c choice) label() string {
	if c.Dev == nil {
		return c.Test.Label
	}
	return c.Dev.Label
}

// publishedTest is the test accuracy in table A.1 of the paper, a fraction.
func publishedTest(dataset string, v model.Variant) (fraction float64, ok bool) {
	cell, ok := published.TestAccuracy(dataset, published.Method(v))
	if !ok {
		return 0, false
	}
	percent, err := strconv.ParseFloat(cell, 64)
	return percent / 100, err == nil
}

// chance says what naming classes blindly would score.
func chance(choices []choice) string {
	var val, test string
	for _, c := range choices {
		if c.Dev != nil {
			val = fmt.Sprintf(" Chance on the val classes is %s %%.", percent(c.Dev.Chance()))
		}
		if c.Test != nil {
			test = fmt.Sprintf(" Chance on the test classes is %s %%.", percent(c.Test.Chance()))
		}
	}
	return val + test
}

// lacking says which variants lack a stage, and the command that runs them all.
func (r *Runs) lacking(d *Dataset, choices []choice) (notes []string, command string) {
	for _, v := range model.Variants {
		i := slices.IndexFunc(choices, func(c choice) bool { return c.Variant == v })
		switch {
		case i < 0:
			notes = append(notes, fmt.Sprintf("%s was not run.", v))
		case choices[i].Dev == nil:
			notes = append(notes, fmt.Sprintf("%s has no trials of the dev stage.", v))
		case choices[i].Test == nil:
			notes = append(notes, fmt.Sprintf("%s has no trials of the test stage with these settings.", v))
		}
	}
	if len(notes) > 0 {
		command = r.command(d, "reproduce")
	}
	return notes, command
}
