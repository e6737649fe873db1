package split

import (
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// duplicate is a sample with the features of an earlier one, the first such.
type duplicate struct{ first, again int }

// duplicates returns all of them in the order of the samples.
func duplicates(x dataset.Matrix[float32]) []duplicate {
	var found []duplicate
	seen := make(map[uint64][]int, x.Rows) // distinct samples by their hash
	for i := range x.Rows {
		row := x.Row(i)
		h := hash(row)
		at := slices.IndexFunc(seen[h], func(j int) bool { return slices.Equal(row, x.Row(j)) })
		if at < 0 {
			seen[h] = append(seen[h], i)
			continue
		}
		found = append(found, duplicate{seen[h][at], i})
	}
	return found
}

// hash is FNV-1a over numbers instead of bytes. Equal rows have equal hashes, also
// where one has 0 and the other -0.
func hash(row []float32) uint64 {
	const basis, prime = 14695981039346656037, 1099511628211
	h := uint64(basis)
	for _, v := range row {
		h = (h ^ uint64(math.Float32bits(v+0))) * prime
	}
	return h
}
