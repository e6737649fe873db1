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

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
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

const (
	headerSize = 128
	tagSize    = 8
	bufferSize = 64 << 10

	// maxVariables bounds how long a hostile file can keep the reader busy.
	maxVariables = 1 << 16
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
	r, size, err := input.OpenRegular(ctx, path)
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

	order binary.ByteOrder
	// Readers of the current variable, reused from one to the next.
	buffer *bufio.Reader
	zlib   io.ReadCloser
}

// variable is a variable whose header has been read and whose data have not.
type variable struct {
	matrix
	*stream
}

// each calls visit with the named variables in the order of the file, until it returns
// false. It reads the sizes of all elements in any case, so that a truncated file is an
// error.
func (f *file) each(visit func(v *variable) (more bool, err error)) error {
	if err := f.checkHeader(); err != nil {
		return err
	}
	f.buffer = bufio.NewReaderSize(nil, bufferSize)
	more := true
	n := 0
	for offset := int64(headerSize); offset < f.size; n++ {
		s := f.stream(offset, f.size-offset)
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

// stream returns a stream over n bytes of the file.
func (f *file) stream(offset, n int64) *stream {
	return &stream{file: f.name, base: offset, order: f.order, r: io.NewSectionReader(f.r, offset, n)}
}

// variable reads the header of the variable in an element, whose data begin at offset.
func (f *file) variable(e element, offset int64) (*variable, error) {
	s := f.stream(offset, e.size)
	f.buffer.Reset(s.r)
	s.r = f.buffer
	if e.kind == kindCompressed {
		s.compressed = io.NewSectionReader(f.r, offset, e.size)
		var err error
		if f.zlib == nil {
			f.zlib, err = zlib.NewReader(f.buffer)
		} else {
			err = f.zlib.(zlib.Resetter).Reset(f.buffer, nil)
		}
		if err != nil {
			return nil, s.broken("compressed data", err)
		}
		s.r = f.zlib
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
		e := &invalid.Error{Where: f.name, Field: missing[0], Want: "a variable of this name", Got: "no variables"}
		if len(found) > 0 {
			e.Got = strings.Join(found[:min(len(found), 20)], ", ")
			e.Hint = invalid.DidYouMean(missing[0], found)
		}
		return nil, e
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

// checkHeader finds the byte order in the first bytes of a level 5 MAT-file: a text, a
// version and the letters MI as a 16-bit number.
func (f *file) checkHeader() error {
	e := &invalid.Error{Where: f.name, Want: "a level 5 MAT-file", Got: "a file of another format"}
	e.Hint = "If MATLAB loads it, save it again with save(..., '-v7')."
	if f.size < headerSize {
		e.Got = fmt.Sprintf("%d bytes, which are fewer than its header", f.size)
		return e
	}
	head := make([]byte, headerSize)
	if _, err := f.r.ReadAt(head, 0); err != nil && err != io.EOF {
		return invalid.File(f.name, err)
	}
	f.order = binary.LittleEndian
	if string(head[126:]) == "MI" {
		f.order = binary.BigEndian
	}
	version := f.order.Uint16(head[124:])
	switch {
	case f.order.Uint16(head[126:]) != 'M'<<8|'I':
	case version>>8 == 1:
		return nil
	case version>>8 == 2:
		e.Got = "one of version 7.3 (HDF5)"
	default:
		e.Got = fmt.Sprintf("version %#x", version)
	}
	return e
}
