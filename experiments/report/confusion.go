package report

import (
	"fmt"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/train"
)

// confusion shows which unseen classes the best model takes for which.
func confusion(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "confusion", Title: "Confusion between unseen classes",
		Text: "Of the samples of the row's class, the share that was named as the column's, over all seeds of the variant " +
			"with the best accuracy on the val classes.",
	}
	c, ok := best(d.choices(), func(c choice) bool { return c.Test != nil })
	shown := c.Test
	if !ok {
		s.Notes = []string{"The configurations that stand for their variants have no trials of the test stage. " +
			"Below are the val classes, which are unseen in the dev stage."}
		s.Command = r.command(d, "run --stage full")
		c, _ = best(d.choices(), func(choice) bool { return true })
		shown = c.Dev
	}
	judged := "test"
	if shown.Trial().Stage == train.Dev {
		judged = "val"
	}
	caption := fmt.Sprintf("%s, %s: confusion between the %d %s classes, in percent of the row's samples.",
		shown.Label, count(len(shown.Trials), "seed"), shown.Classes, judged)
	s.Figures = []Figure{r.figure(d, "confusion", caption, confusionPicture(shown))}
	return s
}

func confusionPicture(c *Configuration) *plot.Heat {
	classes := c.Trials[0].Result.Evaluation.Classes
	p := &plot.Heat{
		Rows: classes, Cols: classes, RowTitle: "true class", ColTitle: "named as",
		Unit: "samples of the class (%)", Percent: true,
	}
	for z := range classes {
		row := make([]float64, len(classes))
		var samples float64
		for _, t := range c.Trials {
			for k, n := range t.Result.Evaluation.Confusion[z] {
				row[k] += float64(n)
				samples += float64(n)
			}
		}
		for k := range row {
			if samples > 0 {
				row[k] /= samples
			}
		}
		p.Values = append(p.Values, row)
	}
	return p
}
