package grouping

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

// shares are those of attributes in learned groups.
type shares struct {
	attributes []string
	learned    []string    // names of the learned groups
	gamma      [][]float64 // attributes x learned
	named      []string    // groups of the data set, none without
	semantic   []int       // the named group of each attribute
}

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
	gamma, err := gammaOf(m)
	if err != nil {
		return nil, err
	}
	s := &shares{semantic: m.Semantic}
	if len(m.Semantic) == gamma.Rows {
		s.named = m.Groups
	}
	for k := range gamma.Cols {
		s.learned = append(s.learned, strconv.Itoa(k))
	}
	if m.Method.Variant().Semantic() && len(m.Groups) == gamma.Cols {
		s.learned = m.Groups
	}
	for a, name := range m.Attributes {
		s.attributes = append(s.attributes, format.AttributeName(name))
		s.gamma = append(s.gamma, make([]float64, gamma.Cols))
		for k, v := range gamma.Row(a) {
			s.gamma[a][k] = float64(v)
		}
	}
	caption := fmt.Sprintf("%s; %s. Rows sum to 1; ", m.Method.Label(), format.Count(gamma.Rows, "attribute"))
	var figures []plot.Figure
	if len(s.named) > 0 {
		figures = append(figures, plot.Figure{
			Name: "groups", Title: "Named and learned groups", Caption: caption + "after a name the number of its attributes.", Picture: s.summary(),
		})
	}
	parts := s.details()
	for i, p := range parts {
		figures = append(figures, plot.Figure{
			Name: fmt.Sprintf("groups-detail-%d", i+1), Title: fmt.Sprintf("Attributes and learned groups, %d of %d", i+1, len(parts)),
			Caption: caption + "attributes are sorted by their strongest group, named on the right.", Picture: p, Detail: len(s.named) > 0,
		})
	}
	return figures, nil
}

// summary draws the mean share of each named group's attributes in each learned group. The
// learned groups are in the order of the named groups that are strongest in them.
func (s *shares) summary() *plot.Heat {
	p := &plot.Heat{RowTitle: "named group", ColTitle: format.Count(len(s.learned), "learned group"), Unit: "mean share of the attributes"}
	counts := make([]int, len(s.named))
	means := make([][]float64, len(s.named))
	for z := range means {
		means[z] = make([]float64, len(s.learned))
	}
	for a, z := range s.semantic {
		counts[z]++
		floats.Add(means[z], s.gamma[a])
	}
	for z, name := range s.named {
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
	order := sorted(len(s.learned), func(a, b int) int { return cmp.Compare(strongest(a), strongest(b)) })
	for _, mean := range means {
		row := make([]float64, len(order))
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
func (s *shares) details() []*plot.Heat {
	order := sorted(len(s.gamma), func(a, b int) int {
		k, other := floats.MaxIdx(s.gamma[a]), floats.MaxIdx(s.gamma[b])
		return cmp.Or(cmp.Compare(k, other), cmp.Compare(s.gamma[b][k], s.gamma[a][k]))
	})
	var parts []*plot.Heat
	for page := range slices.Chunk(order, mostRows) {
		p := &plot.Heat{RowTitle: "attribute", ColTitle: format.Count(len(s.learned), "learned group"), Unit: "share of the attribute"}
		strongest := -1
		for i, a := range page {
			p.Rows = append(p.Rows, s.attributes[a])
			p.Values = append(p.Values, s.gamma[a])
			if k := floats.MaxIdx(s.gamma[a]); k != strongest {
				strongest = k
				p.Blocks = append(p.Blocks, plot.Block{Row: i, Name: format.AttributeName(s.learned[k])})
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
