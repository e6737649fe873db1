package glyphs

import (
	"image"
	"math"
)

// Histograms of oriented gradients after Dalal and Triggs (CVPR 2005): gradients vote for
// their orientation, weighted by strength, in their cell, and cells are normalised over the
// cells around them. There are two sizes of cells.
const (
	orientations = 8 // from 0 to half a turn: black on white equals white on black
	grid         = 4 // pixels; cells consist of squares of this size
	squares      = side / grid
	epsilon      = 0.02 // keeps blocks of noise small
)

var cellSizes = []int{2, 4} // squares along an edge

// dims is the number of features of a picture.
var dims = func() int {
	n := 0
	for _, c := range cellSizes {
		n += (squares / c) * (squares / c) * orientations
	}
	return n
}()

// A histogram is the strength of the gradients by orientation.
type histogram [orientations]float64

// hog writes the dims features of a picture into dst.
func hog(im *image.Gray, dst []float32) {
	fine := vote(im)
	for _, size := range cellSizes {
		dst = normalise(pool(fine, size), squares/size, dst)
	}
}

// vote returns the histograms of the squares, row by row. A gradient between two
// orientations votes for both.
func vote(im *image.Gray) []histogram {
	at := func(x, y int) float64 {
		x, y = min(max(x, 0), side-1), min(max(y, 0), side-1)
		return float64(im.Pix[y*im.Stride+x]) / math.MaxUint8
	}
	h := make([]histogram, squares*squares)
	for y := range side {
		for x := range side {
			gx, gy := at(x+1, y)-at(x-1, y), at(x, y+1)-at(x, y-1)
			strength := math.Hypot(gx, gy)
			turn := math.Atan2(gy, gx) / math.Pi // -1 to 1, with period 1
			position := (turn + 1) * orientations
			low := math.Floor(position)
			part := position - low
			square := &h[y/grid*squares+x/grid]
			square[int(low)%orientations] += strength * (1 - part)
			square[int(low+1)%orientations] += strength * part
		}
	}
	return h
}

// pool averages size x size squares per cell.
func pool(fine []histogram, size int) []histogram {
	n := squares / size
	cells := make([]histogram, n*n)
	for i, h := range fine {
		y, x := i/squares, i%squares
		for o, v := range h {
			cells[y/size*n+x/size][o] += v / float64(size*size*grid*grid)
		}
	}
	return cells
}

// normalise writes n x n cells into dst, each divided by the root of the mean energy of
// itself and the cells around it, and returns the rest of dst.
func normalise(cells []histogram, n int, dst []float32) []float32 {
	for y := range n {
		for x := range n {
			var energy, count float64
			for by := max(y-1, 0); by <= min(y+1, n-1); by++ {
				for bx := max(x-1, 0); bx <= min(x+1, n-1); bx++ {
					for _, v := range cells[by*n+bx] {
						energy += v * v
					}
					count++
				}
			}
			scale := 1 / math.Sqrt(energy/count+epsilon*epsilon)
			for o, v := range cells[y*n+x] {
				dst[o] = float32(v * scale)
			}
			dst = dst[orientations:]
		}
	}
	return dst
}
