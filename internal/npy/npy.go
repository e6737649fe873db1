// Package npy reads and writes NumPy arrays, as numpy.load and numpy.save do (NumPy's
// documentation, numpy.lib.format, versions 1.0 to 3.0): floats, integers and booleans of any
// width and byte order, in C or Fortran order. The declared shape is compared with the size of the
// file before memory is allocated.
package npy

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
)

// magic begins a file. It is followed by two bytes of version, the length of the header
// in two bytes (version 1) or four (2 and 3), and the header: a Python dictionary.
const magic = "\x93NUMPY"

const (
	maxHeader  = 1 << 16 // far above the header of a plain array; NumPy itself refuses more than 10,000 bytes
	bufferSize = 1 << 18
)

// Matrix is an open array of two dimensions, or of one, which is a column.
type Matrix struct {
	Rows, Cols int

	path      string
	file      *fileio.File
	values    *bufio.Reader // what is left of them
	kind      matrix.Type
	bigEndian bool
	direct    bool // the values lie in the file as they do in memory
	fortran   bool
	held      []float32 // those left of a matrix in Fortran order, in C order
}

// Open opens an array of at least one row and column. The file has all of its values. Errors are
// *invalid.Error, or the context's.
func Open(ctx context.Context, path string) (*Matrix, error) {
	f, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	m := &Matrix{path: path, file: f, values: bufio.NewReaderSize(f, bufferSize)}
	if err := m.readStart(size); err != nil {
		_ = f.Close() // nothing was written
		return nil, cmp.Or(ctx.Err(), invalid.At(path, err))
	}
	return m, nil
}

// Close closes the file.
func (m *Matrix) Close() error { return m.file.Close() }

// Read fills dst with the next values, row by row. Those beyond the range of float32 become infinite.
func (m *Matrix) Read(dst []float32) error {
	if !m.fortran {
		return m.read(dst)
	}
	if m.held == nil {
		m.held = make([]float32, m.Rows*m.Cols)
		column := make([]float32, m.Rows)
		for j := range m.Cols {
			if err := m.read(column); err != nil {
				return err
			}
			for i, v := range column {
				m.held[i*m.Cols+j] = v
			}
		}
	}
	m.held = m.held[copy(dst, m.held):]
	return nil
}

func (m *Matrix) read(dst []float32) error {
	if m.direct {
		return invalid.At(m.path, m.full(matrix.Memory(dst)))
	}
	for len(dst) > 0 {
		n := min(len(dst), bufferSize/m.kind.Width)
		b, err := m.values.Peek(n * m.kind.Width)
		if err != nil {
			return invalid.At(m.path, asError(err))
		}
		for i := range n {
			v := b[i*m.kind.Width : (i+1)*m.kind.Width]
			if m.bigEndian {
				slices.Reverse(v)
			}
			dst[i] = float32(m.kind.Number(v))
		}
		_, _ = m.values.Discard(len(b)) // they are in the buffer
		dst = dst[n:]
	}
	return nil
}

func (m *Matrix) readStart(size int64) error {
	length, shape, err := m.readHeader()
	if err != nil {
		return err
	}
	size -= length
	text := "(" + format.Join(shape) + ")"
	if n, ok := matrix.Count(shape, int(size)); !ok || n == 0 || int64(n)*int64(m.kind.Width) != size {
		return &invalid.Error{
			Field: "size",
			Want:  fmt.Sprintf("at least one value, and %d bytes for each of shape %s", m.kind.Width, text),
			Got:   fmt.Sprintf("%d bytes", size),
			Hint:  "A file with fewer is truncated: copy or save it again.",
		}
	}
	if len(shape) != 2 {
		return &invalid.Error{
			Field: "shape", Want: "two dimensions", Got: text,
			Hint: "x.reshape(len(x), -1) makes two dimensions.",
		}
	}
	m.Rows, m.Cols = shape[0], shape[1]
	m.fortran = m.fortran && m.Rows > 1 && m.Cols > 1 // else both orders are the same
	return nil
}

func (m *Matrix) full(b []byte) error {
	_, err := io.ReadFull(m.values, b)
	return asError(err)
}

func asError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &invalid.Error{
			Want: "more bytes", Got: "the end of the file",
			Hint: "The file is truncated: copy or save it again.",
		}
	}
	return invalid.File("", err)
}

// entry is an entry of the dictionary, as in
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (7456, 2048), }
//
// Its groups are the key, and the value without quotes or brackets: a type, a boolean or a shape,
// in which Python 2 marks long integers with L.
var entry = regexp.MustCompile(`['"](descr|fortran_order|shape)['"]\s*:\s*` +
	`(?:['"]([^'"]*)['"]|(True|False)|\(([\d\s,L]*)\))`)

// readHeader reads what precedes the values, and returns its length and the shape of the array.
func (m *Matrix) readHeader() (n int64, shape []int, err error) {
	bad := func(want, got, hint string) (int64, []int, error) {
		return 0, nil, &invalid.Error{Field: "header", Want: want, Got: got, Hint: hint}
	}
	start, _ := m.values.Peek(fileio.FormatBytes) // of a shorter file, all
	if !bytes.HasPrefix(start, []byte(magic)) {
		other := fileio.FormatOf(start)
		if len(start) == 0 {
			other.Name = "an empty file"
		}
		begin := "a file that begins with " + invalid.Quote(string(start[:min(len(start), 8)]))
		return bad("a NumPy array, as numpy.save writes it", cmp.Or(other.Name, begin), other.Hint)
	}
	width := 2 // of the length of the header
	if len(start) > len(magic) && start[len(magic)] > 1 {
		width = 4
	}
	prefix := make([]byte, len(magic)+2+width)
	if err := m.full(prefix); err != nil {
		return 0, nil, err
	}
	version, size := prefix[len(magic)], 0
	for i, b := range prefix[len(magic)+2:] {
		size |= int(b) << (8 * i)
	}
	switch {
	case version < 1 || version > 3:
		return bad("version 1, 2 or 3 of the format", fmt.Sprint(version), "")
	case size > maxHeader:
		return bad(fmt.Sprintf("at most %d bytes", maxHeader), fmt.Sprint(size), "")
	}
	text := make([]byte, size)
	if err := m.full(text); err != nil {
		return 0, nil, err
	}
	entries, values := entry.FindAllStringSubmatch(string(text), -1), make(map[string]string)
	for _, e := range entries {
		values[e[1]] = e[2] + e[3] + e[4]
	}
	if len(entries) != 3 || len(values) != 3 ||
		len(bytes.Trim(entry.ReplaceAll(text, nil), "{}, \t\r\n")) > 0 {
		return bad("the entries descr, fortran_order and shape of a NumPy array of numbers, "+
			"each once, and nothing else", invalid.Quote(string(text)), "")
	}
	kind, known := matrix.Types[strings.TrimLeft(values["descr"], "<>=|")]
	if !known {
		return bad("values that are floats, integers or booleans", invalid.Quote(values["descr"]),
			`Write x.astype("float32") of an array x.`)
	}
	m.kind, m.bigEndian = kind, strings.HasPrefix(values["descr"], ">")
	m.direct = matrix.LittleEndian && strings.TrimLeft(values["descr"], "<=") == "f4"
	for field := range strings.FieldsFuncSeq(values["shape"], func(r rune) bool {
		return !('0' <= r && r <= '9')
	}) {
		size, err := strconv.Atoi(field)
		if err != nil {
			return bad("a size below 2^63 in the shape", field, "")
		}
		shape = append(shape, size)
	}
	m.fortran = values["fortran_order"] == "True"
	return int64(len(prefix) + len(text)), shape, nil
}

// WriteHeader writes what comes before the values of a rows x cols array of float32 in C
// order, which matrix.Write writes.
func WriteHeader(w io.Writer, rows, cols int) error {
	const prefix, align = len(magic) + 2 + 2, 64 // NumPy aligns the values to 64 bytes
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	length := (prefix+len(text)+1+align-1)/align*align - prefix
	text += strings.Repeat(" ", length-len(text)-1) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(length))
	_, err := w.Write(append(b, text...))
	return err
}
