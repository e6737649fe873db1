package grouping

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

// Figures draws Gamma of the model file: the mean over the attributes of each named group, if
// there are any, and the share of each attribute. dir holds the runs; there are no figures
// without a file.
func (r *Result) Figures(dir string) ([]plot.Figure, error) {
	if r.Model == "" {
		return nil, nil
	}
	m, err := train.Load(filepath.Join(dir, filepath.Base(filepath.Dir(r.Model)), filepath.Base(r.Model)))
	if err != nil {
		return nil, err
	}
	gamma, err := gammaOf(m)
	if err != nil {
		return nil, err
	}
	caption := fmt.Sprintf("%s; %s. Rows sum to 1; ", m.Method.Label(), format.Count(gamma.Rows, "attribute"))
	var figures []plot.Figure
	if m.Semantic != nil {
		figures = append(figures, plot.Figure{
			Name: "groups", Title: "Named and learned groups", Caption: caption + "after a name the number of its attributes.", Picture: summary(m, gamma),
		})
	}
	parts := details(m, gamma)
	for i, p := range parts {
		figures = append(figures, plot.Figure{
			Name: fmt.Sprintf("groups-detail-%d", i+1), Title: fmt.Sprintf("Attributes and learned groups, %d of %d", i+1, len(parts)),
			Caption: caption + "attributes are sorted by their strongest group.", Picture: p,
		})
	}
	return figures, nil
}

// summary draws the mean share of each named group's attributes in each learned group. The
// learned groups are in the order of the named groups that are strongest in them.
func summary(m *train.Saved, gamma dataset.Matrix[float64]) *plot.Heat {
	p := &plot.Heat{RowTitle: "named group", ColTitle: format.Count(gamma.Cols, "learned group"), Unit: "mean share (%)"}
	counts := make([]int, len(m.Groups))
	means := mat.NewDense(len(m.Groups), gamma.Cols, nil)
	for a, z := range m.Semantic {
		counts[z]++
		floats.Add(means.RawRowView(z), gamma.Row(a))
	}
	for z, n := range counts {
		floats.Scale(1/float64(max(n, 1)), means.RawRowView(z))
		p.Rows = append(p.Rows, fmt.Sprintf("%s (%d)", format.AttributeName(m.Groups[z]), n))
		p.Values = append(p.Values, nil)
	}
	strongest := func(k int) int { return floats.MaxIdx(mat.Col(nil, k, means)) }
	for _, k := range sorted(gamma.Cols, func(a, b int) int { return cmp.Compare(strongest(a), strongest(b)) }) {
		p.Cols = append(p.Cols, strconv.Itoa(k))
		for z := range p.Rows {
			p.Values[z] = append(p.Values[z], means.At(z, k))
		}
	}
	return p
}

// mostRows is the number of attributes in a figure, as many as a page has room for.
const mostRows = 80

// details orders attributes by their strongest group and, within one, by their share.
func details(m *train.Saved, gamma dataset.Matrix[float64]) (parts []*plot.Heat) {
	var groups []string
	for k := range gamma.Cols {
		name := strconv.Itoa(k)
		if m.Method.Variant().Semantic() {
			name = format.AttributeName(m.Groups[k])
		}
		groups = append(groups, name)
	}
	order := sorted(gamma.Rows, func(a, b int) int {
		k, other := floats.MaxIdx(gamma.Row(a)), floats.MaxIdx(gamma.Row(b))
		return cmp.Or(cmp.Compare(k, other), cmp.Compare(gamma.Row(b)[k], gamma.Row(a)[k]))
	})
	for page := range slices.Chunk(order, mostRows) {
		p := &plot.Heat{RowTitle: "attribute", ColTitle: format.Count(gamma.Cols, "learned group"), Unit: "share (%)", Cols: groups}
		for _, a := range page {
			p.Rows, p.Values = append(p.Rows, format.AttributeName(m.Attributes[a])), append(p.Values, gamma.Row(a))
		}
		parts = append(parts, p)
	}
	return parts
}

// sorted returns the numbers below n in the order of compare.
func sorted(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}
