package ranking

import "github.com/lago-train/lago-train/model"

// Loss names a method by the loss of a sample: see the package comment.
type Loss string

// The methods.
const (
	ALE    Loss = "ale"
	SJE    Loss = "sje"
	DeViSE Loss = "devise"
)

// lossFunc returns the loss of a sample of class y with the scores F(x, z) of all
// classes. It writes minus the derivative by each score into step, which is a subgradient
// at the kinks of the loss and sums to 0.
type lossFunc[T model.Float] func(scores []T, y int, margin T, step []T) (loss float64)

func lossOf[T model.Float](l Loss) lossFunc[T] {
	return map[Loss]lossFunc[T]{ALE: weightedRanking[T], SJE: structuredHinge[T], DeViSE: pairwiseHinge[T]}[l]
}

// pairwiseHinge is the loss of DeViSE. The authors visit the other classes in random
// order and stop at the first with a loss, for speed.
func pairwiseHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	loss, rank := violations(scores, y, margin, step)
	step[y] = T(rank)
	return loss
}

// weightedRanking is the loss of ALE, the weighted approximate ranking of Usunier et al.
// (2009): the top of the ranking weighs most. The weight is constant between kinks. The
// authors' program samples other classes until one has a loss and estimates r by the
// number of draws (WSABIE, Weston et al. 2011), a step with the same expectation if the
// estimate is right.
func weightedRanking[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	loss, rank := violations(scores, y, margin, step)
	if rank == 0 {
		return 0
	}
	var l float64
	for i := range rank {
		l += 1 / float64(i+1)
	}
	w := l / float64(rank)
	for z, s := range step {
		step[z] = T(w) * s
	}
	step[y] = T(l)
	return w * loss
}

// violations returns the sum of the hinges of the classes other than y, and how many of
// them are above 0; it writes -1 into the steps of these and 0 into the others.
func violations[T model.Float](scores []T, y int, margin T, step []T) (sum float64, rank int) {
	for z, s := range scores {
		step[z] = 0
		if hinge := margin + s - scores[y]; hinge > 0 && z != y {
			step[z] = -1
			sum += float64(hinge)
			rank++
		}
	}
	return sum, rank
}

// structuredHinge is the loss of SJE, that of the structured support vector machine.
func structuredHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	clear(step)
	worst, of := T(0), y
	for z, s := range scores {
		if hinge := margin + s - scores[y]; hinge > worst && z != y {
			worst, of = hinge, z
		}
	}
	if of != y {
		step[of], step[y] = -1, 1
	}
	return float64(worst)
}
