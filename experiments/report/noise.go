package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments"
	"github.com/lago-train/lago-train/experiments/report/picture"
	"github.com/lago-train/lago-train/model"
)

// NoiseFile is where the report looks for what `lago-train noise --json` prints.
const NoiseFile = "noise.json"

// noise shows how accuracy suffers from noisy descriptions, as figure A.1 of the
// paper does.
func noise(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "noise", Title: "Noisy descriptions",
		Text: "Accuracy on the test classes when entries of p(a|z) are replaced by 0 or 1 at random, against that of the same " +
			"model without noise. Error bars are one standard error over seeds of the noise.",
	}
	path := filepath.Join(r.Dir, NoiseFile)
	measured, err := readNoise(path)
	if err == nil && measured.Dataset != d.Name {
		err = fmt.Errorf("%s: expected measurements on %s, found those on %s", path, d.Name, measured.Dataset)
	}
	if err != nil {
		s.Notes = []string{err.Error()}
		if errors.Is(err, fs.ErrNotExist) {
			s.Notes = []string{"No measurements in " + path + "."}
		}
		s.Command = r.command(d, "noise") + " --json > " + path
		return s
	}
	p := &picture.Lines{X: "share of entries with noise (%)", Y: "relative accuracy (%)", Width: 520, Height: 260, FromZero: true}
	s.Table = &Table{Header: []string{"method", "without noise (%)"}}
	for _, ratio := range measured.Ratios {
		s.Table.Header = append(s.Table.Header, fmt.Sprintf("%g %% noise (%%)", math.Round(1000*ratio)/10))
	}
	for _, m := range measured.Methods {
		line := picture.Series{Name: m.Method, Look: lookOf(m.Method), Measured: true}
		row := []string{m.Method, plusMinus(m.Start)}
		for i, ratio := range measured.Ratios {
			line.Points = append(line.Points, point(100*ratio, m.Relative[i]))
			row = append(row, plusMinus(m.Accuracy[i]))
		}
		p.Series = append(p.Series, line)
		s.Table.Rows = append(s.Table.Rows, row)
	}
	s.Figures = []Figure{r.figure(d, "noise", "Relative test accuracy against salt and pepper noise in the descriptions of classes.", p)}
	return s
}

// readNoise reads what the noise command printed.
func readNoise(path string) (*experiments.Robustness, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(experiments.Robustness)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: expected what lago-train noise --json prints: %w", path, err)
	}
	if len(r.Methods) == 0 || len(r.Ratios) == 0 {
		return nil, fmt.Errorf("%s: expected methods and ratios, found %d and %d", path, len(r.Methods), len(r.Ratios))
	}
	for _, m := range r.Methods {
		if len(m.Accuracy) != len(r.Ratios) || len(m.Relative) != len(r.Ratios) {
			return nil, fmt.Errorf("%s: %s: expected an accuracy and a relative_accuracy for each of the %d ratios, found %d and %d",
				path, m.Method, len(r.Ratios), len(m.Accuracy), len(m.Relative))
		}
	}
	return r, nil
}

// lookOf is how a method is drawn: the variants as everywhere, any other as the one
// after them.
func lookOf(method string) int {
	if i := slices.Index(model.Variants, model.Variant(method)); i >= 0 {
		return i
	}
	return len(model.Variants)
}
