package report

import (
	"cmp"
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
	"github.com/lago-train/lago-train/model"
)

// distortion is how descriptions are made worse by degrees, and where the report
// finds what methods then score.
type distortion struct {
	command, file string // that measures it, and its output
	degrees       string // what the file calls the degrees

	axis, y       string
	caption       string
	start, degree string // columns of the table: of what is not distorted, and of a degree in percent

	// measured parses the file.
	measured func(data []byte) (*distorted, error)
	// drawn is what of a method is drawn, a summary for each degree.
	drawn func(robustness.Method) []lab.Summary
}

// distorted is what methods score by distorted descriptions.
type distorted struct {
	dataset string
	degrees []float64
	methods []robustness.Method
}

// fill completes a section with the picture and the table, or with what makes them.
func (x distortion) fill(s Section, r *Runs, d *Dataset) Section {
	path := filepath.Join(r.Dir, x.file)
	m, err := x.read(path)
	if err == nil && m.dataset != d.Name {
		err = fmt.Errorf("%s: expected measurements on %s, found those on %s", path, d.Name, m.dataset)
	}
	if err != nil {
		s.Notes = []string{err.Error()}
		if errors.Is(err, fs.ErrNotExist) {
			s.Notes = []string{"No measurements in " + path + "."}
		}
		s.Command = r.command(d, x.command) + " --json > " + path
		return s
	}
	p := &plot.Lines{X: x.axis, Y: x.y, Width: 520, Height: 260, FromZero: true}
	s.Table = &Table{Header: []string{"method", x.start}}
	for _, degree := range m.degrees {
		s.Table.Header = append(s.Table.Header, fmt.Sprintf(x.degree, math.Round(1000*degree)/10))
	}
	looks := looksOf(m.methods)
	for i, method := range m.methods {
		line := plot.Series{Name: method.Method, Look: looks[i], Measured: true}
		row := []string{method.Method, plusMinus(method.Start)}
		for j, degree := range m.degrees {
			line.Points = append(line.Points, point(100*degree, x.drawn(method)[j]))
			row = append(row, plusMinus(method.Accuracy[j]))
		}
		slices.SortStableFunc(line.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		p.Series = append(p.Series, line)
		s.Table.Rows = append(s.Table.Rows, row)
	}
	s.Figures = []Figure{r.figure(d, x.command, x.caption, p)}
	return s
}

// read reads what the command printed.
func (x distortion) read(path string) (*distorted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := x.measured(data)
	if err != nil {
		return nil, fmt.Errorf("%s: expected what lago-train %s --json prints: %w", path, x.command, err)
	}
	if len(m.methods) == 0 || len(m.degrees) == 0 {
		return nil, fmt.Errorf("%s: expected methods and %s, found %d and %d", path, x.degrees, len(m.methods), len(m.degrees))
	}
	for _, method := range m.methods {
		if len(method.Accuracy) != len(m.degrees) || len(method.Relative) != len(m.degrees) {
			return nil, fmt.Errorf("%s: %s: expected an accuracy and a relative_accuracy for each of the %d %s, found %d and %d",
				path, method.Method, len(m.degrees), x.degrees, len(method.Accuracy), len(method.Relative))
		}
	}
	return m, nil
}

// looksOf are how methods are drawn beside each other: the variants as everywhere,
// others as the ones after them.
func looksOf(methods []robustness.Method) []int {
	looks, others := make([]int, len(methods)), 0
	for i, m := range methods {
		if looks[i] = lookOf(m.Method); looks[i] == len(model.Variants) {
			looks[i] += others
			others++
		}
	}
	return looks
}

// lookOf is how a method is drawn: the variants as everywhere, any other as the one
// after them.
func lookOf(method string) int {
	if i := slices.Index(model.Variants, model.Variant(method)); i >= 0 {
		return i
	}
	return len(model.Variants)
}
