package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// groupsSection shows the groups that the best soft model learned.
func groupsSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "groups", Title: "Learned groups",
		Text: "Gamma, the share of each attribute in each group, of the soft variant with the best validation accuracy in its " +
			"chosen configuration: the mean over the attributes of a named group, and in the supplement the share of each attribute, sorted by its strongest group.",
	}
	c, ok := best(d.choices(), func(c choice) bool { return c.variant.Learned() })
	if !ok {
		s.todo(string(model.KSoft), f.command(d, "run --variant", string(model.KSoft), sharedFlags(d.choices())))
		return s
	}
	run := c.shown().runs[0] // of the test stage: its accuracy must not choose the seed
	if c.dev != nil {
		run = slices.MaxFunc(c.dev.runs, func(a, b lab.Run) int {
			return cmp.Compare(a.Result.Evaluation.PerClass, b.Result.Evaluation.PerClass)
		})
	}
	g, err := readGamma(run.Dir)
	if err != nil {
		s.Notes = []string{err.Error()}
		return s
	}
	caption := fmt.Sprintf("%s, seed %d; %s.", c.shown().label, run.Training.Seed, format.Count(len(g.attributes), "attribute"))
	if len(g.named) > 0 {
		s.Figures = []Figure{f.figure(d, "groups", "Named and learned groups",
			caption+" Rows sum to 1; after a name the number of its attributes.", g.summary())}
	}
	parts := g.detail()
	for i, p := range parts {
		one := f.figure(d, fmt.Sprintf("groups-detail-%d", i+1), fmt.Sprintf("Attributes and learned groups, %d of %d", i+1, len(parts)),
			caption+" Rows sum to 1; attributes are sorted by their strongest group, named on the right.", p)
		one.Detail = len(g.named) > 0
		s.Figures = append(s.Figures, one)
	}
	return s
}

// gamma has the shares of attributes in learned groups.
type gamma struct {
	attributes []string
	learned    []string // names of the learned groups
	shares     [][]float64
	named      []string // groups of the data set, none without
	semantic   []int    // the named group of each attribute
}

func readGamma(dir string) (*gamma, error) {
	m, err := train.Load(filepath.Join(dir, train.ModelFile))
	if err != nil {
		return nil, err
	}
	l, err := m.LAGO("groups")
	if err != nil {
		return nil, err
	}
	matrix := l.Params.Groups(l.Config.Zeta)
	g := &gamma{learned: groupNames(l.Config.Variant, m.Groups, matrix.Cols), semantic: m.Semantic}
	if len(m.Semantic) == matrix.Rows {
		g.named = m.Groups
	}
	for a := range matrix.Rows {
		row := make([]float64, matrix.Cols)
		for k, v := range matrix.Row(a) {
			row[k] = float64(v)
		}
		g.attributes = append(g.attributes, format.AttributeName(m.Attributes[a]))
		g.shares = append(g.shares, row)
	}
	return g, nil
}

// summary draws the mean share of each named group's attributes in each learned group. The
// learned groups are in the order of the named groups that are strongest in them.
func (g *gamma) summary() *plot.Heat {
	p := &plot.Heat{RowTitle: "named group", ColTitle: format.Count(len(g.learned), "learned group"), Unit: "mean share of the attributes"}
	counts := make([]int, len(g.named))
	means := make([][]float64, len(g.named))
	for z := range means {
		means[z] = make([]float64, len(g.learned))
	}
	for a, z := range g.semantic {
		counts[z]++
		floats.Add(means[z], g.shares[a])
	}
	for z, name := range g.named {
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
	order := sorted(len(g.learned), func(a, b int) int { return cmp.Compare(strongest(a), strongest(b)) })
	for _, row := range means {
		p.Values = append(p.Values, permuted(row, order))
	}
	return p
}

// mostRows is the number of attributes in a figure, as many as a page has room for.
const mostRows = 90

// detail orders attributes by their strongest group and, within one, by their share.
func (g *gamma) detail() []*plot.Heat {
	order := sorted(len(g.shares), func(a, b int) int {
		k, other := floats.MaxIdx(g.shares[a]), floats.MaxIdx(g.shares[b])
		return cmp.Or(cmp.Compare(k, other), cmp.Compare(g.shares[b][k], g.shares[a][k]))
	})
	var parts []*plot.Heat
	for page := range slices.Chunk(order, mostRows) {
		p := &plot.Heat{RowTitle: "attribute", ColTitle: format.Count(len(g.learned), "learned group"), Unit: "share of the attribute"}
		strongest := -1
		for i, a := range page {
			p.Rows = append(p.Rows, g.attributes[a])
			p.Values = append(p.Values, g.shares[a])
			if k := floats.MaxIdx(g.shares[a]); k != strongest {
				strongest = k
				p.Blocks = append(p.Blocks, plot.Block{Row: i, Name: format.AttributeName(g.learned[k])})
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

func permuted[T any](values []T, order []int) []T {
	result := make([]T, len(order))
	for i, k := range order {
		result[i] = values[k]
	}
	return result
}

// groupNames returns the names of the data set for semantic-soft, and numbers for k-soft.
func groupNames(v model.Variant, groups []string, k int) []string {
	if v.Semantic() && len(groups) == k {
		return groups
	}
	names := make([]string, k)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
