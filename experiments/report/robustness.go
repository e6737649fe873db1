package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// The files in which the report looks for the output of `lago-train noise --json` and
// `lago-train partial --json`.
const (
	noiseFile   = "noise.json"
	partialFile = "partial.json"
)

// distortion describes a section on accuracy by descriptions that are made worse in
// steps.
type distortion struct {
	command, file string // that measures it, and its output
	steps         string // the file's name of the steps

	axis, y          string
	caption          string
	start, stepTitle string // columns of the table: undistorted, and a step in percent

	read func(data []byte) (*measurements, error)
	// plotted returns the summaries to plot, one for each step.
	plotted func(robustness.Method) []lab.Summary
}

// measurements are the accuracies of methods in the file.
type measurements struct {
	dataset string
	steps   []float64
	methods []robustness.Method
}

// noiseSection shows accuracy with noisy descriptions, as figure A.1 of the paper does.
func noiseSection(f *folder, d *datasetRuns) Section {
	return distortion{
		command: "noise", file: noiseFile, steps: "ratios",
		axis: "share of entries with noise (%)", y: "relative accuracy (%)",
		caption: "Relative test accuracy with salt-and-pepper noise in the class descriptions.",
		start:   "without noise (%)", stepTitle: "%g %% noise (%%)",
		read: func(data []byte) (*measurements, error) {
			n := new(robustness.NoiseResult)
			err := json.Unmarshal(data, n)
			return &measurements{n.Dataset, n.Ratios, n.Methods}, err
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
		command: "partial", file: partialFile, steps: "shares",
		axis: "share of attributes given (%)", y: accuracyAxis,
		caption: "Test accuracy with part of the attributes of each class.",
		start:   "all given (%)", stepTitle: "%g %% given (%%)",
		read: func(data []byte) (*measurements, error) {
			p := new(robustness.PartialResult)
			err := json.Unmarshal(data, p)
			return &measurements{p.Dataset, p.Shares, p.Methods}, err
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
	path := filepath.Join(f.dir, x.file)
	m, err := x.readFile(path)
	if err == nil && m.dataset != d.name {
		err = &invalid.Error{Where: path, Want: "measurements on " + d.name, Got: "those on " + m.dataset}
	}
	if err != nil {
		s.Notes = []string{err.Error()}
		if errors.Is(err, fs.ErrNotExist) {
			s.Notes = []string{"No measurements in " + path + "."}
		}
		s.Commands = []string{f.command(d, x.command) + " --json > " + shellQuote(path)}
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

// readFile reads and checks the output of the command.
func (x distortion) readFile(path string) (*measurements, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := x.read(data)
	if err != nil {
		return nil, &invalid.Error{Where: path, Want: "the output of lago-train " + x.command + " --json", Err: err}
	}
	if len(m.methods) == 0 || len(m.steps) == 0 {
		return nil, &invalid.Error{Where: path, Want: "methods and " + x.steps, Got: fmt.Sprintf("%d and %d", len(m.methods), len(m.steps))}
	}
	for _, method := range m.methods {
		if len(method.Accuracy) != len(m.steps) || len(method.Relative) != len(m.steps) {
			return nil, &invalid.Error{
				Where: path, Field: method.Method, Want: fmt.Sprintf("an accuracy and a relative_accuracy for each of the %d %s", len(m.steps), x.steps),
				Got: fmt.Sprintf("%d and %d", len(method.Accuracy), len(method.Relative)),
			}
		}
	}
	return m, nil
}
