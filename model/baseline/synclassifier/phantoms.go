package synclassifier

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
)

// phantoms returns the descriptions of count phantom classes: those of the classes if the
// numbers are equal, else the centres of count clusters of the classes by k-means.
func phantoms(classes dataset.Matrix[float64], count int) dataset.Matrix[float64] {
	b := dataset.NewMatrix[float64](count, classes.Cols)
	if count == classes.Rows {
		copy(b.Data, classes.Data)
		return b
	}
	for r, z := range farthestFirst(classes, count) {
		copy(b.Row(r), classes.Row(z))
	}
	of := slices.Repeat([]int{-1}, classes.Rows)
	for range maxIterations {
		if !assign(of, classes, b) {
			break
		}
		centre(b, classes, of)
	}
	return b
}

// maxIterations bounds k-means, which usually converges in a few.
const maxIterations = 1000

// farthestFirst returns the initial centres (Gonzalez 1985): the class closest to the mean
// of all, then the class farthest from those selected, and so on. It is not random.
func farthestFirst(classes dataset.Matrix[float64], count int) []int {
	mean := make([]float64, classes.Cols)
	for z := range classes.Rows {
		floats.AddScaled(mean, 1/float64(classes.Rows), classes.Row(z))
	}
	distance := make([]float64, classes.Rows)
	for z := range distance {
		distance[z] = squaredDistance(classes.Row(z), mean)
	}
	selected := []int{floats.MinIdx(distance)}
	for z := range distance {
		distance[z] = math.Inf(1)
	}
	for len(selected) < count {
		last := classes.Row(selected[len(selected)-1])
		for z := range distance {
			distance[z] = min(distance[z], squaredDistance(classes.Row(z), last))
		}
		selected = append(selected, floats.MaxIdx(distance))
	}
	return selected
}

// assign sets of[z] to the closest of b for each class z, and reports whether one changed.
func assign(of []int, classes, b dataset.Matrix[float64]) (moved bool) {
	for z := range of {
		closest, distance := 0, math.Inf(1)
		for r := range b.Rows {
			if d := squaredDistance(classes.Row(z), b.Row(r)); d < distance {
				closest, distance = r, d
			}
		}
		moved = moved || of[z] != closest
		of[z] = closest
	}
	return moved
}

// centre moves each of b to the mean of its classes. Empty clusters do not move.
func centre(b, classes dataset.Matrix[float64], of []int) {
	for r := range b.Rows {
		if !slices.Contains(of, r) {
			continue
		}
		row, n := b.Row(r), 0.0
		clear(row)
		for z, closest := range of {
			if closest == r {
				floats.Add(row, classes.Row(z))
				n++
			}
		}
		floats.Scale(1/n, row)
	}
}

func squaredDistance(a, b []float64) (sum float64) {
	for m, v := range a {
		sum += (v - b[m]) * (v - b[m])
	}
	return sum
}

// medianDistance returns the median distance of two different classes, 1 without any.
func medianDistance(classes dataset.Matrix[float64]) float64 {
	var all []float64
	for z := range classes.Rows {
		for other := range z {
			if d := squaredDistance(classes.Row(z), classes.Row(other)); d > 0 {
				all = append(all, math.Sqrt(d))
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// similarities returns the s_cr of classes and phantoms, classes x R; rows sum to 1.
func similarities(classes, b dataset.Matrix[float64], sigma float64) dataset.Matrix[float64] {
	s := dataset.NewMatrix[float64](classes.Rows, b.Rows)
	for z := range s.Rows {
		row := s.Row(z)
		for r := range row {
			row[r] = squaredDistance(classes.Row(z), b.Row(r))
		}
		closest := slices.Min(row) // its exponential is 1, so that the sum is not 0
		for r, d := range row {
			row[r] = math.Exp(-(d - closest) / sigma / sigma)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return s
}
