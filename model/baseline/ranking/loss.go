package ranking

import "github.com/lago-train/lago-train/model"

// Loss names a method, which is to say the loss of a sample.
type Loss string

// The methods.
const (
	ALE    Loss = "ale"
	SJE    Loss = "sje"
	DeViSE Loss = "devise"
)

// Func is the loss of a sample of class y, of which scores are the F(x, z) of every
// class z. It writes minus its derivative by each score into step: what a step down
// the gradient adds to the scores. The step is a sub-gradient at the kinks of the
// loss, and sums to 0.
type Func[T model.Float] func(scores []T, y int, margin T, step []T) (loss float64)

// PairwiseHinge is the loss of DeViSE (Frome et al. 2013, equation 1),
//
//	sum over z != y of max(0, margin + F(x, z) - F(x, y)).
//
// The authors go through the other classes in random order and stop at the first
// that has a loss, which they say is for speed.
func PairwiseHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
	loss, rank := violations(scores, y, margin, step)
	step[y] = T(rank)
	return loss
}

// WeightedRanking is the loss of ALE, the weighted approximate ranking of Usunier
// et al. (2009) in the form of Akata et al. (2016, section 3.2),
//
//	l_r / r  sum over z != y of max(0, margin + F(x, z) - F(x, y)),
//
// where r counts the z with a loss, and l_r = 1 + 1/2 + ... + 1/r: the top of the
// ranking weighs most. The weight is a constant between kinks. The authors' program
// draws other classes until one has a loss and estimates r by the number of draws
// (WSABIE, Weston et al. 2011), a step whose expectation is this one's where the
// estimate is right.
func WeightedRanking[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
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

// violations returns the sum of the hinges of the classes other than y, and how many
// of them are above 0; it writes -1 into their steps and 0 into the others.
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

// StructuredHinge is the loss of SJE (Akata et al. 2015, section 3), that of the
// structured support vector machine,
//
//	max over z != y of max(0, margin + F(x, z) - F(x, y)).
func StructuredHinge[T model.Float](scores []T, y int, margin T, step []T) (loss float64) {
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

// lossOf returns the loss of a method, nil where there is none of that name.
func lossOf[T model.Float](l Loss) Func[T] {
	switch l {
	case ALE:
		return WeightedRanking[T]
	case SJE:
		return StructuredHinge[T]
	case DeViSE:
		return PairwiseHinge[T]
	}
	return nil
}
