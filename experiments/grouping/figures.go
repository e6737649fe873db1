package grouping

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

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
	return draw(m)
}

func draw(m *train.Saved) ([]plot.Figure, error) {
	matrix, err := gammaOf(m)
	if err != nil {
		return nil, err
	}
	gamma := make([][]float64, matrix.Rows)
	for a := range gamma {
		gamma[a] = dataset.Convert[float64](matrix.Slice(a, a+1)).Data
	}
	caption := fmt.Sprintf("%s; %s. Rows sum to 1; ", m.Method.Label(), format.Count(len(gamma), "attribute"))
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
			Caption: caption + "attributes are sorted by their strongest group, named on the right.", Picture: p, Detail: m.Semantic != nil,
		})
	}
	return figures, nil
}

// summary draws the mean share of each named group's attributes in each learned group. The
// learned groups are in the order of the named groups that are strongest in them.
func summary(m *train.Saved, gamma [][]float64) *plot.Heat {
	learned := len(gamma[0])
	p := &plot.Heat{RowTitle: "named group", ColTitle: format.Count(learned, "learned group"), Unit: "mean share of the attributes"}
	counts := make([]int, len(m.Groups))
	means := make([][]float64, len(m.Groups))
	for z := range means {
		means[z] = make([]float64, learned)
	}
	for a, z := range m.Semantic {
		counts[z]++
		floats.Add(means[z], gamma[a])
	}
	for z, name := range m.Groups {
		p.Rows = append(p.Rows, fmt.Sprintf("%s (%d)", format.AttributeName(name), counts[z]))
		floats.Scale(1/float64(max(counts[z], 1)), means[z])
	}
	strongest := func(k int) int {
		in := make([]float64, len(means))
		for z := range means {
			in[z] = means[z][k]
		}
		return floats.MaxIdx(in)
	}
	order := sorted(learned, func(a, b int) int { return cmp.Compare(strongest(a), strongest(b)) })
	for _, mean := range means {
		row := make([]float64, learned)
		for i, k := range order {
			row[i] = mean[k]
		}
		p.Values = append(p.Values, row)
	}
	return p
}

// mostRows is the number of attributes in a figure, as many as a page has room for.
const mostRows = 90

// details orders attributes by their strongest group and, within one, by their share.
func details(m *train.Saved, gamma [][]float64) []*plot.Heat {
	order := sorted(len(gamma), func(a, b int) int {
		k, other := floats.MaxIdx(gamma[a]), floats.MaxIdx(gamma[b])
		return cmp.Or(cmp.Compare(k, other), cmp.Compare(gamma[b][k], gamma[a][k]))
	})
	var parts []*plot.Heat
	for page := range slices.Chunk(order, mostRows) {
		p := &plot.Heat{RowTitle: "attribute", ColTitle: format.Count(len(gamma[0]), "learned group"), Unit: "share of the attribute"}
		strongest := -1
		for i, a := range page {
			p.Rows = append(p.Rows, format.AttributeName(m.Attributes[a]))
			p.Values = append(p.Values, gamma[a])
			if k := floats.MaxIdx(gamma[a]); k != strongest {
				strongest = k
				name := strconv.Itoa(k)
				if m.Method.Variant().Semantic() {
					name = format.AttributeName(m.Groups[k])
				}
				p.Blocks = append(p.Blocks, plot.Block{Row: i, Name: name})
			}
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
