package matlab

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Header describes a variable without its data.
type Header struct {
	Name  string
	Class Class
	Dims  []int // rows, columns, ...
}

// String returns name, class and size, as in "labels, uint8 108x1".
func (h Header) String() string {
	if h.Name == "" {
		return h.Size()
	}
	return h.Name + ", " + h.Size()
}

// Size returns class and size, as in "uint8 108x1".
func (h Header) Size() string { return h.Class.String() + " " + formatDims(h.Dims) }

// Array is a variable with its data, which are in column-major order: the first
// subscript varies fastest.
type Array struct {
	Header

	// Float32 holds the values of a numeric or logical array, else nil. Doubles, and
	// integers beyond 2^24, are rounded to the nearest float32. A D x N matrix, column
	// by column, is an N x D matrix row by row.
	Float32 []float32

	// Strings holds the text of a char array, one string per row with its padding, or
	// of a cell array, one string per cell. An empty cell is the empty string; the
	// strings of a cell array in a cell take the place of that cell.
	Strings []string
}

// Class is the class of an array, as MATLAB's function class names it.
type Class uint8

// Classes of arrays, with the numbers of the file format. Logical arrays are uint8 with
// a flag in the file.
const (
	unknown Class = iota
	Cell
	Struct
	Object
	Char
	Sparse
	Double
	Single
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Function
	opaque // an object of a class defined in MATLAB code
	Logical
)

var classNames = [...]string{
	"unknown", "cell", "struct", "object", "char", "sparse", "double", "single",
	"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
	"function_handle", "opaque", "logical",
}

// String returns MATLAB's name of the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[unknown]
}

func (c Class) numeric() bool { return c >= Double && c <= Uint64 || c == Logical }

// maxElements is the largest number of elements of an array. MATLAB writes no variable
// of more than 2^31 bytes in this format.
const maxElements = math.MaxInt32

// elements returns the number of elements of an array, and false if it exceeds
// maxElements.
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
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", "x")
}
