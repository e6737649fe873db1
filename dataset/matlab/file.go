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

// Header describes a variable without its data.
type Header struct {
	Name  string
	Class Class
	Dims  []int // rows, columns, ...
}

// Size returns class and size, as in "uint8 108x1".
func (h Header) Size() string { return h.Class.String() + " " + formatDims(h.Dims) }

// Array is a variable with its data, which are in column-major order: the first
// subscript varies fastest.
type Array struct {
	Header

	// Float32 holds the values of a numeric array, else nil. Doubles, and integers beyond
	// 2^24, are rounded to the nearest float32. A D x N matrix, column by column, is an
	// N x D matrix row by row.
	Float32 []float32

	// Strings holds the text of a char array, or of each cell of a cell array. An empty
	// cell is the empty string.
	Strings []string
}

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

// Read returns the wanted variables of a MAT-file by name. A wanted variable that the
// file does not have, or that cannot be decoded, is an error. Of variables with the same
// name the first counts. Errors are *invalid.Error, or the context's.
func Read(ctx context.Context, path string, want ...string) (map[string]*Array, error) {
	return withFile(ctx, path, func(f *file) (map[string]*Array, error) { return f.read(want) })
}

// List returns the headers of the variables of a MAT-file in the order of the file. It
// decompresses no more than the start of each variable.
func List(ctx context.Context, path string) ([]Header, error) {
	return withFile(ctx, path, (*file).list)
}

func withFile[T any](ctx context.Context, path string, use func(*file) (T, error)) (result T, err error) {
	r, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return result, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	result, err = use(&file{r: r, size: size, name: path})
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return result, err
}

// file is an open MAT-file.
type file struct {
	r    io.ReaderAt
	size int64
	name string
}

// each calls visit with the named variables in the order of the file, until it returns
// false. It reads the sizes of all elements in any case, so that a truncated file is an
// error.
func (f *file) each(visit func(v *variable) (more bool, err error)) error {
	if err := f.checkHeader(); err != nil {
		return err
	}
	more := true
	n := 0
	for offset := int64(headerSize); offset < f.size; n++ {
		s := &stream{file: f.name, base: offset, r: io.NewSectionReader(f.r, offset, f.size-offset)}
		e, err := s.element(f.size - offset)
		if err != nil {
			return err
		}
		if n == maxVariables {
			return s.unexpected(fmt.Sprintf("at most %d variables", maxVariables), "more")
		}
		offset += s.pos
		if more {
			v, err := f.variable(e, offset)
			// One without a name is MATLAB's own data about function handles and objects.
			if err == nil && v.Name != "" {
				more, err = visit(v)
			}
			if err != nil {
				return err
			}
		}
		offset += e.size
	}
	return nil
}

// variable reads the header of the variable in an element, whose data begin at offset.
func (f *file) variable(e element, offset int64) (v *variable, err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(f.r, offset, e.size), bufferSize)
	s := &stream{file: f.name, base: offset, r: r}
	if e.kind == kindCompressed {
		s.compressed = e.size
		if s.r, err = zlib.NewReader(r); err != nil {
			return nil, s.broken("compressed data", err)
		}
		if e, err = s.element(math.MaxInt64); err != nil {
			return nil, err
		}
	}
	if e.kind != kindMatrix {
		return nil, s.unexpected("a variable", "an element of type %d", e.kind)
	}
	m, err := s.header(s.pos + e.size)
	return &variable{matrix: m, stream: s}, err
}

// read decodes the wanted variables.
func (f *file) read(want []string) (map[string]*Array, error) {
	arrays := make(map[string]*Array)
	var found []string
	missing := slices.Clone(want)
	err := f.each(func(v *variable) (bool, error) {
		found = append(found, v.Name)
		i := slices.Index(missing, v.Name)
		if i < 0 {
			return true, nil
		}
		missing = slices.Delete(missing, i, i+1)
		var err error
		arrays[v.Name], err = v.decode()
		return len(missing) > 0, err
	})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, &invalid.Error{
			Where: f.name, Field: missing[0], Want: "a variable of this name",
			Got: "only " + strings.Join(found[:min(len(found), 20)], ", "), Hint: invalid.DidYouMean(missing[0], found),
		}
	}
	return arrays, nil
}

func (f *file) list() (headers []Header, err error) {
	err = f.each(func(v *variable) (bool, error) {
		headers = append(headers, v.Header)
		return true, nil
	})
	return headers, err
}

// checkHeader checks the first bytes of a level 5 MAT-file: a text, a version and the
// letters MI as a 16-bit number.
func (f *file) checkHeader() error {
	e := &invalid.Error{
		Where: f.name, Want: "a little-endian level 5 MAT-file", Got: "a file of another format",
		Hint: "If MATLAB loads it, save it again with save(..., '-v7').",
	}
	if f.size < headerSize {
		e.Got = fmt.Sprintf("%d bytes, which are fewer than its header", f.size)
		return e
	}
	head := make([]byte, headerSize)
	if _, err := f.r.ReadAt(head, 0); err != nil && err != io.EOF {
		return invalid.File(f.name, err)
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
