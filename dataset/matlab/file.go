// Package matlab reads arrays of numbers and text from MAT-files of level 5, the format
// of MATLAB's save -v6 and -v7, as described in MathWorks' "MAT-File Format" (chapter 1,
// level 5 MAT-file format).
//
// It streams: data are decompressed and converted piece by piece into the result, and
// variables that are not wanted are skipped. Sizes that a file declares are checked
// before memory is allocated for them, so a damaged or hostile file ends in an
// *invalid.Error that names the file, the variable and the byte. A truncated file is
// refused even where the wanted variables are complete.
//
// Read are real numbers, text of one row, and cell arrays of such text, in files of
// little-endian computers. Other variables are skipped, and refused where they are wanted,
// as are files of level 4 and of version 7.3, which are HDF5. The package does not know
// data sets: what the variables mean is for its callers.
package matlab

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Array is a variable with its data, which are in column-major order: the first
// subscript varies fastest.
type Array struct {
	Name  string
	Class Class
	Dims  []int // rows, columns, ...

	// Float32 holds the values of a numeric array, else nil. Doubles, and integers beyond
	// 2^24, are rounded to the nearest float32. A D x N matrix, column by column, is an
	// N x D matrix row by row.
	Float32 []float32

	// Strings holds the text of a char array, or of each cell of a cell array. An empty
	// cell is the empty string.
	Strings []string
}

// Size returns class and size, as in "uint8 108x1".
func (a Array) Size() string { return a.Class.String() + " " + formatDims(a.Dims) }

// Class is the class of an array, as MATLAB's function class names it.
type Class uint8

// The classes that are read: cell, char, and from Double to lastNumeric numbers. Logical
// arrays are uint8.
const (
	Cell   Class = 1
	Char   Class = 4
	Double Class = 6

	lastNumeric Class = 15
	opaque      Class = 17 // an object of a class defined in MATLAB code
)

// classNames has the numbers of the file format as indices.
var classNames = [...]string{
	"unknown", "cell", "struct", "object", "char", "sparse", "double", "single",
	"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
	"function_handle", "opaque",
}

// String returns MATLAB's name of the class.
func (c Class) String() string { return classNames[c] }

func (c Class) numeric() bool { return c >= Double && c <= lastNumeric }

// maxElements is the largest number of elements of an array. MATLAB writes no variable
// of more than 2^31 bytes in this format.
const maxElements = math.MaxInt32

func formatDims(dims []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", "x")
}

const (
	headerSize = 128
	tagSize    = 8
	bufferSize = 64 << 10

	// maxVariables bounds how long a hostile file can keep the reader busy.
	maxVariables = 1 << 14
)

// Read returns variables of a MAT-file by name: all that are required, and the optional ones
// that the file has. Of variables with the same name the first counts. One of these that cannot
// be decoded is an error. Errors are *invalid.Error, or the context's.
func Read(ctx context.Context, path string, required []string, optional ...string) (map[string]*Array, error) {
	arrays := make(map[string]*Array)
	var found []string
	err := each(ctx, path, func(s *stream, m matrix) {
		wanted := slices.Contains(required, m.Name) || slices.Contains(optional, m.Name)
		if wanted && !slices.Contains(found, m.Name) {
			arrays[m.Name] = s.decode(m)
		}
		found = append(found, m.Name)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range required {
		if arrays[name] == nil {
			return nil, &invalid.Error{
				Where: path, Field: name, Want: "a variable of this name",
				Got: "only " + strings.Join(found[:min(len(found), 20)], ", "), Hint: invalid.DidYouMean(name, found),
			}
		}
	}
	return arrays, nil
}

// each calls visit with the named variables of a file in its order. A truncated file is an
// error.
func each(ctx context.Context, path string, visit func(*stream, matrix)) error {
	file, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	err = checkHeader(file, size, path)
	n := 0
	for offset := int64(headerSize); err == nil && offset < size; n++ {
		tag := &stream{file: path, base: offset, r: io.NewSectionReader(file, offset, size-offset)}
		e := tag.element(size - offset)
		if n == maxVariables {
			tag.unexpected(fmt.Sprintf("at most %d variables", maxVariables), "more")
		}
		offset += tag.pos
		if err = tag.err; err == nil {
			s := &stream{file: path, base: offset, r: bufio.NewReaderSize(io.NewSectionReader(file, offset, e.size), bufferSize)}
			s.variableIn(e, visit)
			err = s.err
		}
		offset += e.size
	}
	return cmp.Or(ctx.Err(), err)
}

// variableIn calls visit with the variable in an element, of which s reads the data.
func (s *stream) variableIn(e element, visit func(*stream, matrix)) {
	if e.kind == kindCompressed {
		s.compressed = e.size
		r, err := zlib.NewReader(s.r)
		if err != nil {
			s.broken("compressed data", "", err)
			return
		}
		s.r = r
		e = s.element(math.MaxInt64)
	}
	if e.kind != kindMatrix {
		s.unexpected("a variable", "an element of type %d", e.kind)
	}
	m := s.header(s.pos + e.size)
	if s.err == nil && m.Name != "" { // without a name it is MATLAB's own data about function handles and objects
		visit(s, m)
	}
}

// checkHeader checks the first bytes of a level 5 MAT-file: a text, a version and the
// letters MI as a 16-bit number.
func checkHeader(file io.ReaderAt, size int64, path string) error {
	e := &invalid.Error{
		Where: path, Want: "a little-endian level 5 MAT-file", Got: "a file of another format",
		Hint: "If MATLAB loads it, save it again with save(..., '-v7').",
	}
	head := make([]byte, headerSize)
	if _, err := file.ReadAt(head, 0); err == io.EOF {
		e.Got = fmt.Sprintf("%d bytes, which are fewer than its header", size)
		return e
	} else if err != nil {
		return invalid.File(path, err)
	}
	version := binary.LittleEndian.Uint16(head[124:])
	switch {
	case string(head[126:]) != "IM":
	case version>>8 == 1:
		return nil
	case version>>8 == 2:
		e.Got = "one of version 7.3 (HDF5)"
	default:
		e.Got = fmt.Sprintf("version %#x", version)
	}
	return e
}
