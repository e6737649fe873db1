package metrics

import "github.com/lago-train/lago-train/dataset"

// TopK is how often the true class is among the k that are scored highest, per class
// and per sample. Of equal scores the first come before the others, so that k = 1 is
// accuracy.
func TopK(scores dataset.Matrix[float32], labels []int, k int) Accuracy {
	t := newTally(scores.Cols)
	for i, label := range labels {
		t.add(label, 1, rank(scores.Row(i), label) < k)
	}
	return t.accuracy()
}

// rank counts the classes that come before one of them.
func rank(row []float32, class int) int {
	var before int
	for z, v := range row {
		if v > row[class] || v == row[class] && z < class {
			before++
		}
	}
	return before
}
