package matlab

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

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
	f, err := openFile(r, size, path)
	if err == nil {
		result, err = use(f)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return result, err
}

// file is an open MAT-file.
type file struct {
	r        io.ReaderAt
	name     string
	order    binary.ByteOrder
	elements []topElement

	// Readers of the current element, reused from one to the next.
	buffer *bufio.Reader
	zlib   io.ReadCloser
}

type topElement struct {
	element
	offset int64 // of the data in the file
}

// openFile checks the header of a file of the given size, and that its elements are
// complete.
func openFile(r io.ReaderAt, size int64, name string) (*file, error) {
	head := make([]byte, headerSize)
	head = head[:min(size, headerSize)]
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, invalid.File(name, err)
	}
	order, err := checkHeader(head, name)
	if err != nil {
		return nil, err
	}
	f := &file{r: r, name: name, order: order, buffer: bufio.NewReaderSize(nil, bufferSize)}
	return f, f.index(size)
}

// index reads the tags of the top-level elements, up to the end of the file.
func (f *file) index(size int64) error {
	for offset := int64(headerSize); offset < size; {
		s := f.stream(offset, size-offset)
		e, err := s.element(size - offset)
		if err != nil {
			return err
		}
		if len(f.elements) == maxVariables {
			return s.unexpected(fmt.Sprintf("at most %d variables", maxVariables), "more")
		}
		f.elements = append(f.elements, topElement{e, offset + s.pos})
		offset += s.pos + e.size
	}
	return nil
}

// stream returns a stream over n bytes of the file.
func (f *file) stream(offset, n int64) *stream {
	return &stream{file: f.name, base: offset, order: f.order, r: io.NewSectionReader(f.r, offset, n)}
}

// variable is a variable whose header has been read and whose data have not.
type variable struct {
	matrix
	*stream
}

// variables yields the named variables in the order of the file. A variable is valid
// until the next one; an error is the last that is yielded.
func (f *file) variables() iter.Seq2[*variable, error] {
	return func(yield func(*variable, error) bool) {
		for _, e := range f.elements {
			v, err := f.variable(e)
			if err == nil && v.Name == "" {
				continue // MATLAB's own data about function handles and objects
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (f *file) variable(top topElement) (*variable, error) {
	s := f.stream(top.offset, top.size)
	f.buffer.Reset(s.r)
	s.r = f.buffer
	e, err := top.element, error(nil)
	if top.kind == kindCompressed {
		if e, err = s.decompress(f, top); err != nil {
			return nil, err
		}
	}
	if e.kind != kindMatrix {
		return nil, s.unexpected("a variable", "an element of type %d", e.kind)
	}
	m, err := s.header(s.pos + e.size)
	if err != nil {
		return nil, err
	}
	return &variable{matrix: m, stream: s}, nil
}

// decompress makes s a stream over what the element decompresses to, and returns the
// tag of the element in it.
func (s *stream) decompress(f *file, top topElement) (element, error) {
	s.compressed = io.NewSectionReader(f.r, top.offset, top.size)
	var err error
	if f.zlib == nil {
		f.zlib, err = zlib.NewReader(f.buffer)
	} else {
		err = f.zlib.(zlib.Resetter).Reset(f.buffer, nil)
	}
	if err != nil {
		return element{}, s.broken("compressed data", err)
	}
	s.r = f.zlib
	return s.element(maxInt64)
}

// read decodes the wanted variables.
func (f *file) read(want []string) (map[string]*Array, error) {
	arrays := make(map[string]*Array)
	var found []string
	missing := slices.Clone(want)
	for v, err := range f.variables() {
		if err != nil {
			return nil, err
		}
		found = append(found, v.Name)
		i := slices.Index(missing, v.Name)
		if i < 0 {
			continue
		}
		if arrays[v.Name], err = v.decode(); err != nil {
			return nil, err
		}
		missing = slices.Delete(missing, i, i+1)
		if len(missing) == 0 {
			return arrays, nil
		}
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

func (f *file) list() ([]Header, error) {
	var headers []Header
	for v, err := range f.variables() {
		if err != nil {
			return nil, err
		}
		headers = append(headers, v.Header)
	}
	return headers, nil
}

// checkHeader returns the byte order that the first bytes of a level 5 MAT-file give: a
// text, a version and the letters MI as a 16-bit number.
func checkHeader(head []byte, name string) (binary.ByteOrder, error) {
	e := &invalid.Error{Where: name, Want: "a level 5 MAT-file", Got: "a file of another format"}
	e.Hint = "If MATLAB loads it, save it again with save(..., '-v7')."
	if len(head) < headerSize {
		e.Got = fmt.Sprintf("%d bytes, which are fewer than its header", len(head))
		return nil, e
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(head[126:]) == "MI" {
		order = binary.BigEndian
	}
	version := order.Uint16(head[124:])
	switch {
	case order.Uint16(head[126:]) != 'M'<<8|'I':
	case version>>8 == 1:
		return order, nil
	case version>>8 == 2:
		e.Got = "one of version 7.3 (HDF5)"
	default:
		e.Got = fmt.Sprintf("version %#x", version)
	}
	return nil, e
}
