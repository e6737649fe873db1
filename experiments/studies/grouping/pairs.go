package grouping

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// Pairs counts pairs of attributes that have a correlation; an attribute that never varies has none.
type Pairs struct {
	Count          int     `json:"count"`
	Anticorrelated float64 `json:"anticorrelated"` // share, 0 without pairs
}

// Test compares two distributions of correlations.
type Test struct {
	Distance float64 `json:"distance"` // Kolmogorov-Smirnov: the largest between the distribution functions
	P        float64 `json:"p"`        // of a distance as large without a difference
}

// correlations returns the Pearson correlation of each pair of attributes over classes, M x M. The paper
// correlates over samples for CUB and SUN, by the attributes of each image, which data sets lack.
func correlations(d *dataset.Dataset) (*mat.SymDense, error) {
	// Missing entries become the attribute's mean, which draws its correlations towards 0.
	described, err := model.Config{Variant: model.Singletons, Prior: model.PerAttribute}.Describe(d.Descriptions, nil)
	if err != nil {
		return nil, err
	}
	var r mat.SymDense
	x := mat.NewDense(described.U.Rows, described.U.Cols, described.U.Data)
	stat.CorrelationMatrix(&r, x, nil)
	for m := range described.U.Cols {
		// Rounding gives an attribute that never varies a variance just above 0.
		if stat.Variance(mat.Col(nil, m, x), nil) < 1e-20 {
			for j := range described.U.Cols {
				r.SetSym(m, j, math.NaN())
			}
		}
	}
	return &r, nil
}

type pair struct {
	i, j        int
	correlation float64
}

// comparePairs compares the correlations of attributes in the same group with those of others.
func (r *Result) comparePairs(gamma dataset.Matrix[float64], d *dataset.Dataset) error {
	correlation, err := correlations(d)
	if err != nil {
		return err
	}
	together := make([][]bool, gamma.Rows)
	var pairs []pair
	var grouped, ungrouped []float64
	for i := range together {
		together[i] = make([]bool, gamma.Rows)
		for j := range i {
			same := floats.Dot(gamma.Row(i), gamma.Row(j)) > r.Threshold
			together[i][j], together[j][i] = same, same
			switch c := correlation.At(i, j); {
			case math.IsNaN(c):
				continue
			case same:
				grouped = append(grouped, c)
			default:
				ungrouped = append(ungrouped, c)
			}
			pairs = append(pairs, pair{i, j, correlation.At(i, j)})
		}
	}
	all := slices.Concat(grouped, ungrouped)
	r.All, r.Grouped, r.Ungrouped = r.count(all), r.count(grouped), r.count(ungrouped)
	if len(grouped) > 0 && len(ungrouped) > 0 {
		r.Permutation = permutationTest(pairs, together)
	}
	return nil
}

// count counts pairs with the given correlations.
func (r *Result) count(correlations []float64) Pairs {
	p := Pairs{Count: len(correlations)}
	for _, c := range correlations {
		if c < r.Below {
			p.Anticorrelated += 1 / float64(p.Count)
		}
	}
	return p
}

// permutations is the number of random permutations of the attributes.
const permutations = 2_000

// permutationTest compares grouped with ungrouped pairs. Pairs that share an attribute depend on each other,
// so that whole attributes are permuted: which attribute has which row of Gamma. P is (1 + count)/(1 +
// permutations) of the distances not below the observed one.
func permutationTest(pairs []pair, together [][]bool) *Test {
	pairs = slices.SortedFunc(slices.Values(pairs), func(x, y pair) int { return cmp.Compare(x.correlation, y.correlation) })
	rows := make([]int, len(together)) // of Gamma, one for each attribute
	var attributes []int               // those without correlations keep their rows
	for a := range rows {
		rows[a] = a
		if slices.ContainsFunc(pairs, func(p pair) bool { return p.i == a || p.j == a }) {
			attributes = append(attributes, a)
		}
	}
	var grouped int // in every permutation
	for _, p := range pairs {
		if together[p.i][p.j] {
			grouped++
		}
	}
	observed := distance(pairs, together, rows, grouped)
	random := rand.New(rand.NewPCG(0, 0))
	var count int
	for range permutations {
		random.Shuffle(len(attributes), func(x, y int) {
			rows[attributes[x]], rows[attributes[y]] = rows[attributes[y]], rows[attributes[x]]
		})
		if distance(pairs, together, rows, grouped) >= observed {
			count++
		}
	}
	return &Test{observed, float64(1+count) / (1 + permutations)}
}

// distance is the Kolmogorov-Smirnov distance of grouped and ungrouped pairs, sorted by
// correlation, where each attribute has a row of Gamma.
func distance(pairs []pair, together [][]bool, rows []int, grouped int) float64 {
	ungrouped := len(pairs) - grouped
	var below, largest int // grouped pairs so far, and the largest difference times grouped times ungrouped
	for n, p := range pairs {
		if together[rows[p.i]][rows[p.j]] {
			below++
		}
		if n+1 == len(pairs) || pairs[n+1].correlation > p.correlation {
			apart := below*ungrouped - (n+1-below)*grouped
			largest = max(largest, apart, -apart)
		}
	}
	return float64(largest) / float64(grouped) / float64(ungrouped)
}
