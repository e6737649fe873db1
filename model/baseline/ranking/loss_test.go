package ranking

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
)

var losses = map[Loss]lossFunc[float64]{
	ALE:    weightedRanking[float64],
	SJE:    structuredHinge[float64],
	DeViSE: pairwiseHinge[float64],
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// Class 1 scores 2, the margin is 1: hinges are 1 - 2 + s, which is
// 2, -, -0.5, 0.5, 0 for the scores 3, 2, 0.5, 1.5, 1. Two are above 0, with a sum of
// 2.5 and a maximum of 2, and l_2 / 2 = (1 + 1/2) / 2 = 0.75.
func TestByHand(t *testing.T) {
	scores := []float64{3, 2, 0.5, 1.5, 1}
	for name, want := range map[Loss]struct {
		loss float64
		step []float64
	}{
		DeViSE: {2.5, []float64{-1, 2, 0, -1, 0}},
		ALE:    {1.875, []float64{-0.75, 1.5, 0, -0.75, 0}},
		SJE:    {2, []float64{-1, 1, 0, 0, 0}},
	} {
		step := []float64{9, 9, 9, 9, 9} // of the sample before
		if loss := losses[name](scores, 1, 1, step); !near(loss, want.loss) || !slices.Equal(step, want.step) {
			t.Errorf("%s: %g by %v, expected %g by %v", name, loss, step, want.loss, want.step)
		}
	}
}

// sample draws scores, a class and a margin, such that no loss has a kink within 1e-3
// of the scores.
func sample(t *rapid.T) (scores []float64, y int, margin float64) {
	classes := rapid.IntRange(1, 12).Draw(t, "classes")
	scores = rapid.SliceOfN(rapid.Float64Range(-3, 3), classes, classes).Draw(t, "scores")
	y = rapid.IntRange(0, classes-1).Draw(t, "class")
	margin = rapid.Float64Range(0.1, 2).Draw(t, "margin")
	for z, s := range scores {
		for o, other := range scores {
			if z != y && (math.Abs(margin+s-scores[y]) < 1e-3 || o != z && o != y && math.Abs(s-other) < 1e-3) {
				t.Skip("at a kink")
			}
		}
	}
	return scores, y, margin
}

func TestFiniteDifferences(t *testing.T) {
	for name, loss := range losses {
		t.Run(string(name), rapid.MakeCheck(func(t *rapid.T) {
			scores, y, margin := sample(t)
			step, unused := make([]float64, len(scores)), make([]float64, len(scores))
			loss(scores, y, margin, step)
			const h = 1e-4
			for z := range scores {
				moved := slices.Clone(scores)
				moved[z] += h
				up := loss(moved, y, margin, unused)
				moved[z] -= 2 * h
				testkit.Near(t, "step", step[z], (loss(moved, y, margin, unused)-up)/(2*h), 1e-6)
			}
		}))
	}
}

func TestLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, y, margin := sample(t)
		of := func(name Loss, scores []float64, margin float64) (float64, []float64) {
			step := make([]float64, len(scores))
			return losses[name](scores, y, margin, step), step
		}
		ale, _ := of(ALE, scores, margin)
		sje, _ := of(SJE, scores, margin)
		devise, steps := of(DeViSE, scores, margin)
		if sje < 0 || sje > devise || ale < 0 || ale > devise {
			t.Fatalf("expected 0 <= SJE, ALE <= DeViSE, found %g, %g and %g", sje, ale, devise)
		}
		if (devise > 0) != (sje > 0) || (devise > 0) != (ale > 0) {
			t.Fatalf("SJE %g, ALE %g and DeViSE %g: one has a loss where another has none", sje, ale, devise)
		}
		if steps[y] <= 1 && (!near(sje, devise) || !near(ale, devise)) {
			t.Fatalf("for one class: expected equal losses, found SJE %g, ALE %g and DeViSE %g", sje, ale, devise)
		}
		for name := range losses {
			loss, step := of(name, scores, margin)
			// The loss is linear between kinks, with the slope of the step.
			var sum, linear float64
			for z, s := range step {
				sum += s
				linear -= s * (scores[z] - scores[y])
				if z != y {
					linear -= s * margin
				}
			}
			if !near(sum, 0) || !near(linear, loss) {
				t.Fatalf("%s is %g by the step %v, which sums to %g and gives %g", name, loss, step, sum, linear)
			}
			// Adding a constant changes nothing, and scaling scores and margin scales the loss.
			other := slices.Clone(scores)
			for z := range other {
				other[z] = 4*scores[z] + 16
			}
			if scaled, again := of(name, other, 4*margin); !near(scaled, 4*loss) || !slices.Equal(again, step) {
				t.Fatalf("%s is %g by %v, and %g by %v at four times the scale", name, loss, step, scaled, again)
			}
		}
	})
}
