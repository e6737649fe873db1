// Package matlab reads arrays of numbers and text from MAT-files of level 5, the format of MATLAB's save -v6
// and -v7, as described in MathWorks' "MAT-File Format" (chapter 1, level 5 MAT-file format).
//
// Open reads the headers of the variables, so that a caller can refuse their sizes before Load decompresses
// and converts the data of one, piece by piece. Sizes that a file declares are checked before memory is
// allocated for them, so a damaged or hostile file ends in an *invalid.Error that names the file, the
// variable and the byte. A truncated file is refused even where the wanted variables are complete.
//
// Read are real numbers, text, and cell arrays of text of one row, in files of little-endian computers. Other
// variables are skipped, and refused where they are wanted, as are files of level 4 and of version 7.3, which
// are HDF5. The package does not know data sets: what the variables mean is for its callers.
package matlab

import (
	"bufio"
	"bytes"
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
	"github.com/lago-train/lago-train/internal/matrix"
)

// Array is a variable. Load reads its data, which are in column-major order: the first subscript
// varies fastest.
type Array struct {
	Name  string
	Class Class
	Dims  []int // rows, columns, ...

	// Float32 holds the values of a numeric array, else nil. Doubles, and integers beyond 2^24, are rounded
	// to the nearest float32. A D x N matrix, column by column, is an N x D matrix row by row.
	Float32 []float32

	// Strings holds the text of each row of a char array, or of each cell of a cell array. An empty
	// cell is the empty string.
	Strings []string

	file   string
	offset int64 // of its element
}

// Count is the number of elements.
func (a *Array) Count() int {
	n, _ := matrix.Count(a.Dims, maxElements) // Open refuses more
	return n
}

// Size returns class and size, as in "uint8 108x1".
func (a *Array) Size() string { return a.Class.String() + " " + formatDims(a.Dims) }

// Class is the class of an array, as MATLAB's function class names it.
type Class uint8

// The classes that are read: cell, char, and from Double to lastNumeric numbers. Logical arrays are uint8.
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

// Numeric reports whether arrays of the class hold numbers.
func (c Class) Numeric() bool { return c >= Double && c <= lastNumeric }

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

// Open finds variables of a MAT-file by name: all that are required, and the optional ones that
// the file has. Of variables with the same name the first counts. Load reads their data. Errors are
// *invalid.Error, or the context's.
func Open(ctx context.Context, path string, required []string,
	optional ...string,
) (map[string]*Array, error) {
	all, err := list(ctx, path)
	if err != nil {
		return nil, err
	}
	arrays := make(map[string]*Array)
	for _, a := range slices.Backward(all) {
		if slices.Contains(required, a.Name) || slices.Contains(optional, a.Name) {
			arrays[a.Name] = a
		}
	}
	for _, name := range required {
		if arrays[name] == nil {
			return nil, missing(path, name, all)
		}
	}
	return arrays, nil
}

func missing(path, name string, all []*Array) error {
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return &invalid.Error{
		Where: path, Field: name, Want: "a variable of this name",
		Got: "only " + strings.Join(names[:min(len(names), 20)], ", "), Hint: invalid.DidYouMean(name, names),
	}
}

// list reads the headers of the variables of a file, but for MATLAB's own data about function
// handles and objects, which have no name.
func list(ctx context.Context, path string) (all []*Array, err error) {
	file, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	err = checkHeader(file, size, path)
	variables := 0
	for offset := int64(headerSize); err == nil && offset < size; variables++ {
		s, m, end := variable(file, path, offset, size)
		if variables == maxVariables {
			s.unexpected(fmt.Sprintf("at most %d variables", maxVariables), "more")
		}
		if m.file, m.offset = path, offset; m.Name != "" {
			all = append(all, &m.Array)
		}
		offset, err = end, s.err
	}
	return all, cmp.Or(ctx.Err(), err)
}

// Load reads the data of a variable. Errors are as those of Open.
func (a *Array) Load(ctx context.Context) error {
	file, size, err := fileio.OpenRegular(ctx, a.file)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	s, m, _ := variable(file, a.file, a.offset, size)
	if m.Name != a.Name || m.Class != a.Class || !slices.Equal(m.Dims, a.Dims) {
		s.unexpected("the variable that was here before", "%s of %s", m.Name, m.Size())
	}
	s.decode(&m)
	a.Float32, a.Strings = m.Float32, m.Strings
	return cmp.Or(ctx.Err(), s.err)
}

// variable reads the header of the variable whose element is at an offset, and returns where the
// element ends.
func variable(file io.ReaderAt, path string, offset, size int64) (s *stream, m unread, end int64) {
	s = &stream{file: path, base: offset, r: io.NewSectionReader(file, offset, size-offset)}
	e := s.element(size - offset)
	if s.err != nil {
		return s, m, size
	}
	begin := offset + s.pos
	s = &stream{
		file: path, base: begin, r: bufio.NewReaderSize(io.NewSectionReader(file, begin, e.size), bufferSize),
	}
	end = begin + e.size
	if e.kind == kindCompressed {
		s.compressed = e.size
		r, err := zlib.NewReader(s.r)
		if err != nil {
			s.broken("compressed data", "", err)
			return s, m, end
		}
		s.r = r
		e = s.element(math.MaxInt64)
	}
	if e.kind != kindMatrix {
		s.unexpected("a variable", "an element of type %d", e.kind)
	}
	return s, s.header(s.pos + e.size), end
}

// checkHeader checks the first bytes of a level 5 MAT-file: a text, a version and the
// letters MI as a 16-bit number.
func checkHeader(file io.ReaderAt, size int64, path string) error {
	e := &invalid.Error{
		Where: path, Want: "a little-endian level 5 MAT-file", Got: "a file of another format",
		Hint: "If MATLAB loads it, save it again with save(..., '-v7').",
	}
	head := make([]byte, headerSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return invalid.File(path, err)
	}
	if n < headerSize {
		e.Got = fmt.Sprintf("%d bytes, which are fewer than its header", size)
	}
	if other := fileio.FormatOf(head[:n]); !bytes.HasPrefix(head, []byte("MATLAB")) {
		e.Got, e.Hint = cmp.Or(other.Name, e.Got), cmp.Or(other.Hint, e.Hint)
	}
	version := binary.LittleEndian.Uint16(head[124:])
	switch {
	case n < headerSize, string(head[126:]) != "IM":
	case version>>8 == 1:
		return nil
	case version>>8 == 2:
		e.Got = "one of version 7.3 (HDF5)"
	default:
		e.Got = fmt.Sprintf("version %#x", version)
	}
	return e
}
