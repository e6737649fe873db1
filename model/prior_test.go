package model_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// prior is p(a_m) in the order of its definition: the mean over classes and described
// attributes of each group, then its expectation over the groups of m.
func (tr trial[T]) prior() []float64 {
	if tr.Config.Prior != model.PerGroup {
		return tr.Classes.P
	}
	gamma := tr.params.Groups(tr.Config.Zeta)
	undescribed := func(m int) bool { return tr.Classes.Undescribed != nil && tr.Classes.Undescribed[m] }
	p := make([]float64, gamma.Rows)
	for k := range gamma.Cols {
		var entries, weight float64
		for m := range gamma.Rows {
			for z := range tr.Classes.U.Rows {
				if !undescribed(m) {
					entries += float64(gamma.Row(m)[k]) * tr.Classes.U.Row(z)[m]
					weight += float64(gamma.Row(m)[k])
				}
			}
		}
		for m := range p {
			if weight > 0 && !undescribed(m) {
				p[m] += float64(gamma.Row(m)[k]) * entries / weight
			}
		}
	}
	return p
}

// Two groups, {0, 1} and {2}, and two classes. The group means are 0.3 and 0.5.
func TestPriorPerGroupByHand(t *testing.T) {
	c := model.Config{Variant: model.SemanticHard, Prior: model.PerGroup, Complement: model.Const, Zeta: 1e4}
	classes, err := c.Describe(matrix([][]float64{{0.6, 0.2, 0.8}, {0.1, 0.3, 0.2}}), []int{0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	params := &model.Parameters[float64]{V: matrix([][]float64{{1, 0}, {1, 0}, {0, 1}})}
	f, err := model.NewForward(c, classes, params)
	if err != nil {
		t.Fatal(err)
	}
	const pc = 0.7 * 0.7
	want := []float64{
		(0.6*0.9+0.2*0.5)/0.3 + 0.4*0.8/pc, (0.1*0.9+0.3*0.5)/0.3 + 0.9*0.7/pc,
		0.8*0.25/0.5 + 0.2/0.5, 0.2*0.25/0.5 + 0.8/0.5,
	}
	same(t, "G", f.GroupScores([]float64{0.9, 0.5, 0.25}).Data, want)
}

// The loss of both machines and log p(z|x) agree with the equations in plain loops. With
// one group the prior is uniform, and with one attribute per group it is per attribute.
func TestPriorPerGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrial(t)
		tr.Config.Prior, tr.Config.Alpha, tr.Config.Psi = model.PerGroup, 0, 0
		tr = tr.describe(t)
		gamma := tr.params.Groups(tr.Config.Zeta)
		a := dataset.NewMatrix[float64](tr.x.Rows, gamma.Rows)
		tr.params.Logits(tr.x, a)
		model.Sigmoid(a.Data)
		var l []float64
		for i := range a.Rows {
			for z := range tr.Classes.U.Rows {
				var sumOfLogs float64
				for k := range gamma.Cols {
					terms, none, _ := tr.parts(gamma, a.Row(i), k, z)
					sumOfLogs += logScore(sum(terms) + none)
				}
				l = append(l, sumOfLogs)
			}
		}
		model.LogNormalise(l, tr.Classes.U.Rows)
		same(t, "log p(z|x)", tr.logP(t), l)
		var cxe float64
		for i, z := range tr.y {
			cxe -= l[i*tr.Classes.U.Rows+z] / float64(len(tr.y))
		}
		same(t, "cxe", []float64{take(t, tr.byW(t)).Terms.CXE, take(t, tr.byV(t)).Terms.CXE}, []float64{cxe, cxe})

		other := tr
		switch {
		case gamma.Cols == 1:
			other.Config.Prior = model.Uniform
		case tr.Config.Variant == model.Singletons && tr.Config.Zeta == 1000:
			other.Config.Prior = model.PerAttribute
		default:
			return
		}
		same(t, "log p(z|x) of the prior at this limit", other.describe(t).logP(t), l)
	})
}

// An attribute that no class describes does not count in the mean of its group.
func TestPriorPerGroupOfUndescribedAttributes(t *testing.T) {
	c := model.Config{Variant: model.SemanticHard, Prior: model.PerGroup, Complement: model.NoComplement, Zeta: 1e4}
	nan := math.NaN()
	classes, err := c.Describe(matrix([][]float64{{0.6, nan, 0.8}, {0.2, nan, 0.2}}), []int{0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := model.NewForward(c, classes, &model.Parameters[float64]{V: matrix([][]float64{{1, 0}, {1, 0}, {0, 1}})})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "G", f.GroupScores([]float64{0.5, 0.5, 0.25}).Data, []float64{0.6 * 0.5 / 0.4, 0.2 * 0.5 / 0.4, 0.8 * 0.25 / 0.5, 0.2 * 0.25 / 0.5})
}
