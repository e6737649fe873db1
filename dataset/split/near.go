package split

import (
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// node is a node of a k-d tree of descriptions, which finds those near one without comparing
// all pairs. Classes whose attribute is missing may be near any, so they have a branch.
type node struct {
	leaf      []int // classes, if the node has no branches
	attribute int
	most      float64 // value of the attribute in low
	least     float64 // value in high
	low, high *node
	missing   *node
}

const leafSize = 16

// newNode divides classes at the mean of the attribute with the largest variance.
func newNode(u dataset.Matrix[float64], classes []int) *node {
	n := &node{leaf: classes}
	if len(classes) <= leafSize {
		return n
	}
	mean, variance := 0.0, 0.0
	for m := range u.Cols {
		count, sum, squares := 0.0, 0.0, 0.0
		for _, z := range classes {
			if v := u.Row(z)[m]; !math.IsNaN(v) {
				count++
				sum += v
				squares += v * v
			}
		}
		if spread := squares - sum*sum/max(count, 1); spread > variance {
			n.attribute, mean, variance = m, sum/count, spread
		}
	}
	var low, high, missing []int
	n.most, n.least = math.Inf(-1), math.Inf(1)
	for _, z := range classes {
		switch v := u.Row(z)[n.attribute]; {
		case math.IsNaN(v):
			missing = append(missing, z)
		case v <= mean:
			low, n.most = append(low, z), max(n.most, v)
		default:
			high, n.least = append(high, z), min(n.least, v)
		}
	}
	if len(low) == 0 || len(high) == 0 { // all are equal, but for rounding
		return n
	}
	n.leaf, n.low, n.high, n.missing = nil, newNode(u, low), newNode(u, high), newNode(u, missing)
	return n
}

// near appends the classes that may differ from a description by at most the tolerance.
func (n *node) near(v []float64, tolerance float64, found []int) []int {
	if n.low == nil {
		return append(found, n.leaf...)
	}
	x := v[n.attribute]
	if !(x-n.most > tolerance) { // as where x is missing
		found = n.low.near(v, tolerance, found)
	}
	if !(n.least-x > tolerance) {
		found = n.high.near(v, tolerance, found)
	}
	return n.missing.near(v, tolerance, found)
}

// candidates calls visit with all pairs a < b of classes whose descriptions may differ by at
// most the tolerance, in the order of b and then of a.
func candidates(u dataset.Matrix[float64], tolerance float64, visit func(a, b int)) {
	tree := newNode(u, u.AllRows())
	var found []int
	for b := range u.Rows {
		found = tree.near(u.Row(b), tolerance, found[:0])
		slices.Sort(found)
		for _, a := range found {
			if a >= b {
				break
			}
			visit(a, b)
		}
	}
}
