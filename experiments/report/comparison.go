package report

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/protocol"
)

// comparisonSection compares LAGO with its baselines, as table 1 of the paper does.
func comparisonSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "comparison", Title: "LAGO and its baselines",
		Text: "Accuracy of every method by one protocol: settings and epochs are chosen on the val classes, then the method is " +
			"trained on train and val classes and evaluated once on the test classes. Error bars are one standard error over seeds; " +
			"closed-form methods have none.",
	}
	c, path, err := comparison.Find(f.dir, d.name, d.fingerprint)
	if err != nil {
		s.Notes = []string{err.Error()}
		if errors.Is(err, fs.ErrNotExist) {
			s.Notes = []string{"No comparison in " + path + "."}
		}
		s.Commands = []string{f.command(d, "compare")}
		return s
	}
	p := &plot.Dots{X: accuracyAxis, Series: []plot.DotSeries{{Name: "val", Look: 0}, {Name: "test", Look: 1}}}
	s.Table = &Table{Header: []string{"method", "val (%)", "test (%)", "published (%)", "seconds to train", "seeds"}}
	for i, m := range c.Methods {
		p.Rows = append(p.Rows, m.Label())
		for j, stage := range []*protocol.Measured{m.Val, m.Test} {
			p.Series[j].Dots = append(p.Series[j].Dots, dot(i, stage.PerClass))
		}
		published := m.Published
		if published == "" {
			published = absent
		}
		s.Table.Rows = append(s.Table.Rows, []string{
			m.Label(), plusMinus(m.Val.PerClass), plusMinus(m.Test.PerClass), published,
			fmt.Sprintf("%.1f", m.Seconds), fmt.Sprint(len(m.Test.PerClass.Values)),
		})
	}
	if len(c.Ahead) > 0 {
		s.Notes = append(s.Notes, "More accurate than LAGO on the test classes: "+strings.Join(c.Ahead, ", ")+".")
	}
	s.Figures = []Figure{f.figure(d, "comparison", "Validation and test accuracy of LAGO and its baselines.", p)}
	return s
}
