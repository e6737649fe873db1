package results

import (
	"fmt"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// What a stored result must have, so that its tables and figures can be made. Its file has a checksum, but
// whoever changes the file can renew that.

// Within returns an *invalid.Error for a number outside a range.
func Within(field string, v, least, most float64) error {
	const rounding = 1e-9
	if v >= least-rounding && v <= most+rounding {
		return nil
	}
	return &invalid.Error{
		Field: field, Want: fmt.Sprintf("a number from %g to %g", least, most), Got: fmt.Sprint(v),
	}
}

// mostRelative is far above an accuracy divided by another one.
const mostRelative = 1e6

// checkSummary checks accuracies of several runs, or their ratios.
func checkSummary(field string, s lab.Summary, most float64) error {
	for _, v := range append([]float64{s.Mean}, s.Values...) {
		if err := Within(field, v, 0, most); err != nil {
			return err
		}
	}
	if s.SEM != nil {
		return Within(field+": sem", *s.SEM, 0, most)
	}
	return nil
}

// CheckAccuracy checks accuracies of several runs.
func CheckAccuracy(field string, s lab.Summary) error { return checkSummary(field, s, 1) }

// CheckInterval checks the interval of an accuracy or of a difference, unless it is null.
func CheckInterval(field string, i metrics.Interval) error {
	if i.Low != i.Low && i.High != i.High {
		return nil
	}
	if err := Within(field+": low", i.Low, -1, 1); err != nil {
		return err
	}
	return Within(field+": high", i.High, i.Low, 1)
}

// CheckDifference checks a difference of accuracies.
func CheckDifference(field string, d metrics.Difference) error {
	if err := Within(field, d.Mean, -1, 1); err != nil {
		return err
	}
	return CheckInterval(field+": interval", d.Interval)
}

// Check returns an *invalid.Error unless these are accuracies on classes. That of no accuracies, nil, is nil.
func (m *Measured) Check(field string) error {
	if m == nil {
		return nil
	}
	if m.Classes < 1 || m.Parts < 1 || m.Parts > m.Classes {
		return &invalid.Error{
			Field: field, Want: "classes, in one part or more",
			Got: fmt.Sprintf("%d classes in %d parts", m.Classes, m.Parts),
		}
	}
	for _, s := range []lab.Summary{m.PerClass, m.PerSample} {
		if err := checkSummary(field, s, 1); err != nil {
			return err
		}
	}
	return CheckInterval(field+": interval", m.Interval)
}

// Check implements lab.Checked.
func (a *Accuracies) Check() error {
	if a.Stage != "validation" && a.Stage != "test" {
		return &invalid.Error{Field: "stage", Want: "validation or test", Got: invalid.Quote(a.Stage)}
	}
	for i, r := range a.Rows {
		if err := r.check(len(a.Columns)); err != nil {
			return invalid.At(fmt.Sprintf("row %d", i+1), err)
		}
	}
	return nil
}

func (p Row) check(columns int) error {
	if len(p.Labels) == 0 || len(p.Labels) != columns {
		return &invalid.Error{
			Field: "labels", Want: fmt.Sprintf("one for each of %d columns", columns),
			Got: fmt.Sprint(len(p.Labels)),
		}
	}
	if (p.ByDraw == nil) != (p.Relative == nil) {
		return &invalid.Error{Want: "both by_draw and relative, or neither", Got: "one of them"}
	}
	const mostNumber = 1e9
	err := Within("number", p.Number, -mostNumber, mostNumber)
	if err == nil {
		err = checkSummary("accuracy", p.Accuracy, 1)
	}
	if err == nil {
		err = CheckInterval("interval", p.Interval)
	}
	if err == nil && p.ByDraw != nil {
		err = checkSummary("by_draw", *p.ByDraw, 1)
	}
	if err == nil && p.Relative != nil {
		err = checkSummary("relative", *p.Relative, mostRelative)
	}
	if err == nil && p.Difference != nil {
		err = CheckDifference("difference", *p.Difference)
	}
	if err == nil && p.Published != nil {
		err = Within("published_accuracy", *p.Published, 0, 1)
	}
	return err
}

// Check implements lab.Checked.
func (c *Comparison) Check() error {
	for _, m := range c.Methods {
		val := &m.Val
		if c.fixed() {
			val = nil
		}
		for _, err := range []error{val.Check("val"), m.Test.Check("test")} {
			if err != nil {
				return invalid.At("method "+invalid.Quote(m.Name), err)
			}
		}
	}
	return nil
}
