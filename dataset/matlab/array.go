package matlab

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Header says what a variable is, without its data.
type Header struct {
	Name  string
	Class Class
	Dims  []int // in MATLAB's order: rows, columns, ...
}

func (h Header) String() string {
	s := h.Class.String()
	if h.Name != "" {
		s = h.Name + ", " + s
	}
	return s + " " + formatDims(h.Dims)
}

// Array is one variable. Its data are in MATLAB's column-major order: the first
// subscript runs fastest.
type Array struct {
	Name  string
	Dims  []int
	Class Class

	// Float32 holds the values of a numeric or logical array, and is nil for any
	// other. Integers beyond 2^24 and doubles are rounded to the nearest float32.
	//
	// A D x N matrix, column by column, is an N x D matrix row by row: features
	// that MATLAB keeps one sample a column are here, without a copy, one sample a
	// row.
	Float32 []float32

	// Strings holds the text of a char array, a string for each row with the blanks
	// that pad it, or of a cell array, a string for each cell. An empty array of
	// any class in a cell is the empty string, and a cell array within a cell puts
	// its strings in that place.
	Strings []string
}

// Column returns column j of a numeric matrix, sharing its memory.
func (a *Array) Column(j int) []float32 {
	rows := a.Dims[0]
	return a.Float32[j*rows : (j+1)*rows]
}

// maxElements is the most elements that an array may have. MATLAB writes no
// variable of more than 2^31 bytes in this format.
const maxElements = math.MaxInt32

// elements returns the number of elements of an array, and false if there are more
// than a file can hold.
func elements(dims []int) (int64, bool) {
	if slices.Contains(dims, 0) {
		return 0, true
	}
	n := int64(1)
	for _, d := range dims {
		if n > maxElements/int64(d) {
			return 0, false
		}
		n *= int64(d)
	}
	return n, true
}

func formatDims(dims []int) string {
	s := make([]string, len(dims))
	for i, d := range dims {
		s[i] = strconv.Itoa(d)
	}
	return strings.Join(s, "x")
}
