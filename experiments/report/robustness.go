package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// distortion describes a section on accuracy by descriptions that are made worse in
// steps.
type distortion struct {
	command string // that measures it and stores the result
	steps   string // their name in the result

	axis, y          string
	caption          string
	start, stepTitle string // columns of the table: undistorted, and a step in percent

	// find returns the stored result and its file.
	find func(dir string, d *datasetRuns) (m *measurements, path string, err error)
	// plotted returns the summaries to plot, one for each step.
	plotted func(robustness.Method) []lab.Summary
}

// measurements are the accuracies of methods in the result.
type measurements struct {
	steps   []float64
	methods []robustness.Method
}

// noiseSection shows accuracy with noisy descriptions, as figure A.1 of the paper does.
func noiseSection(f *folder, d *datasetRuns) Section {
	return distortion{
		command: "noise", steps: "ratios",
		axis: "share of entries with noise (%)", y: "relative accuracy (%)",
		caption: "Relative test accuracy with salt-and-pepper noise in the class descriptions.",
		start:   "without noise (%)", stepTitle: "%g %% noise (%%)",
		find: func(dir string, d *datasetRuns) (*measurements, string, error) {
			n := new(robustness.NoiseResult)
			path, err := lab.FindStored(dir, robustness.NoiseKind, d.name, d.fingerprint, n)
			return &measurements{n.Ratios, n.Methods}, path, err
		},
		plotted: func(m robustness.Method) []lab.Summary { return m.Relative },
	}.section(Section{
		Name: "noise", Title: "Noisy descriptions",
		Text: "Test accuracy when entries of the class descriptions are replaced by 0 or 1 at random. The figure shows it relative " +
			"to the same model without noise. Error bars are one standard error over noise seeds.",
	}, f, d)
}

// partialSection shows accuracy with part of each class's attributes.
func partialSection(f *folder, d *datasetRuns) Section {
	return distortion{
		command: "partial", steps: "shares",
		axis: "share of attributes given (%)", y: accuracyAxis,
		caption: "Test accuracy with part of the attributes of each class.",
		start:   "all given (%)", stepTitle: "%g %% given (%%)",
		find: func(dir string, d *datasetRuns) (*measurements, string, error) {
			p := new(robustness.PartialResult)
			path, err := lab.FindStored(dir, robustness.PartialKind, d.name, d.fingerprint, p)
			return &measurements{p.Shares, p.Methods}, path, err
		},
		plotted: func(m robustness.Method) []lab.Summary { return m.Accuracy },
	}.section(Section{
		Name: "partial", Title: "Partial descriptions",
		Text: "Test accuracy when only part of each class's attributes is given. Missing entries are imputed from the given ones " +
			"of their group or, for methods marked \"inferred\", from all given ones. Error bars are one standard error over the choice of attributes.",
	}, f, d)
}

// section completes a section with the figure and the table, or with the command that
// measures them.
func (x distortion) section(s Section, f *folder, d *datasetRuns) Section {
	m, path, err := x.find(f.dir, d)
	if err == nil {
		err = x.check(m, path)
	}
	if err != nil {
		s.Notes = []string{err.Error()}
		if errors.Is(err, fs.ErrNotExist) {
			s.Notes = []string{"No measurements in " + path + "."}
		}
		s.Commands = []string{f.command(d, x.command)}
		return s
	}
	p := &plot.Lines{X: x.axis, Y: x.y, Width: 520, Height: 260, FromZero: true}
	s.Table = &Table{Header: []string{"method", x.start}}
	for _, step := range m.steps {
		s.Table.Header = append(s.Table.Header, fmt.Sprintf(x.stepTitle, math.Round(1000*step)/10))
	}
	others := 0
	for _, method := range m.methods {
		look := lookOf(method.Method)
		if look == len(model.Variants) {
			look += others
			others++
		}
		line := plot.Series{Name: method.Method, Look: look, Measured: true}
		row := []string{method.Method, plusMinus(method.Start)}
		for j, step := range m.steps {
			line.Points = append(line.Points, point(100*step, x.plotted(method)[j]))
			row = append(row, plusMinus(method.Accuracy[j]))
		}
		slices.SortStableFunc(line.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		p.Series = append(p.Series, line)
		s.Table.Rows = append(s.Table.Rows, row)
	}
	s.Figures = []Figure{f.figure(d, x.command, x.caption, p)}
	return s
}

// check returns an error if the result is incomplete.
func (x distortion) check(m *measurements, path string) error {
	if len(m.methods) == 0 || len(m.steps) == 0 {
		return &invalid.Error{Where: path, Want: "methods and " + x.steps, Got: fmt.Sprintf("%d and %d", len(m.methods), len(m.steps))}
	}
	for _, method := range m.methods {
		if len(method.Accuracy) != len(m.steps) || len(method.Relative) != len(m.steps) {
			return &invalid.Error{
				Where: path, Field: method.Method, Want: fmt.Sprintf("an accuracy and a relative_accuracy for each of the %d %s", len(m.steps), x.steps),
				Got: fmt.Sprintf("%d and %d", len(method.Accuracy), len(method.Relative)),
			}
		}
	}
	return nil
}
