// Package npy reads and writes NumPy arrays, as numpy.load and numpy.save do (NumPy's
// documentation, numpy.lib.format, versions 1.0 to 3.0): matrices of float16, float32 or
// float64, and vectors of int32 or int64, little-endian and in C order. Other arrays are
// refused with the NumPy call that converts them. The declared shape is compared with the
// size of the file before memory is allocated.
//
// ReadIntegers also takes text files, because labels come in both forms.
package npy

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// magic begins a file. It is followed by two bytes of version, the length of the header
// in two bytes (version 1) or four (2 and 3), and the header: a Python dictionary.
const magic = "\x93NUMPY"

// maxHeader is far above the header of a plain array; NumPy itself refuses more than
// 10,000 bytes.
const maxHeader = 1 << 16

// header describes the values of an array.
type header struct {
	kind  string // type of the values in NumPy's notation, as in <f4
	shape []int
	start int64 // of the values in the file, in bytes
	size  int64 // of the values, in bytes
}

// The entries of the dictionary, as in
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (7456, 2048), }
var (
	kindEntry    = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([<>|=]?[A-Za-z]\w*)['"]`)
	fortranEntry = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	shapeEntry   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([\d\s,L]*)\)`) // Python 2 marks long integers with L
)

// hint is how NumPy converts an array to a type that can be read.
func hint(kind string) string {
	return fmt.Sprintf("Save it again: np.save(FILE, np.ascontiguousarray(x).astype('%s')).", kind)
}

// open opens an array whose values have one of the given types. The first is the one that
// errors advise to use.
func open(ctx context.Context, path string, kinds ...string) (*fileio.File, header, error) {
	f, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, header{}, err
	}
	start := make([]byte, min(size, maxHeader+12)) // at most 12 bytes come before the text
	var h header
	if err = readAt(f, start, 0); err == nil {
		h, err = parseHeader(start, kinds)
		h.size = size - h.start
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, h, invalid.At(path, err)
	}
	return f, h, nil
}

// readAt fills b from an offset on. The error is an *invalid.Error without a place.
func readAt(f *fileio.File, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return truncated()
	}
	return invalid.File("", err)
}

func truncated() error {
	return &invalid.Error{Want: "more bytes", Got: "the end of the file", Hint: "The file is truncated: copy or save it again."}
}

// parseHeader reads the header from the first bytes of a file.
func parseHeader(b []byte, kinds []string) (h header, err error) {
	bad := func(want, got, hint string) (header, error) {
		return header{}, &invalid.Error{Field: "header", Want: want, Got: got, Hint: hint}
	}
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return bad("one array, as numpy.save writes it", "an archive, as numpy.savez writes it", "")
	case !bytes.HasPrefix(b, []byte(magic)):
		return bad("a NumPy array, as numpy.save writes it", "a file that begins with "+invalid.Quote(string(b[:min(len(b), 8)])), "")
	case len(b) < len(magic)+6:
		return h, truncated()
	}
	version, length, from := b[len(magic)], b[len(magic)+2:], len(magic)+4
	n := int(binary.LittleEndian.Uint16(length))
	if version > 1 {
		n, from = int(binary.LittleEndian.Uint32(length)), from+2
	}
	switch {
	case version < 1 || version > 3:
		return bad("version 1, 2 or 3 of the format", fmt.Sprint(version), "")
	case n > maxHeader:
		return bad(fmt.Sprintf("at most %d bytes", maxHeader), fmt.Sprint(n), "")
	case len(b) < from+n:
		return h, truncated()
	}
	text := string(b[from : from+n])
	kind, fortran, shape := kindEntry.FindStringSubmatch(text), fortranEntry.FindStringSubmatch(text), shapeEntry.FindStringSubmatch(text)
	switch {
	case shape == nil || fortran == nil || kind == nil:
		return bad("the entries descr, fortran_order and shape of a NumPy array of numbers", invalid.Quote(text), "")
	case !slices.Contains(kinds, kind[1]):
		return bad("values of type "+strings.Join(kinds, ", "), kind[1], hint(kinds[0]))
	case fortran[1] == "True":
		return bad("an array in C order", "Fortran order", hint(kind[1]))
	}
	h = header{kind: kind[1], start: int64(from + n)}
	for field := range strings.FieldsFuncSeq(shape[1], func(r rune) bool { return !('0' <= r && r <= '9') }) {
		size, err := strconv.Atoi(field)
		if err != nil {
			return bad("a size below 2^63 in the shape", field, "")
		}
		h.shape = append(h.shape, size)
	}
	return h, nil
}

// checkSize compares the size of the file with that of the values. There must be some.
func (h header) checkSize(path string) error {
	n, ok := numeric.Count(h.shape, int(h.size))
	if ok && n > 0 && int64(n)*int64(h.width()) == h.size {
		return nil
	}
	return &invalid.Error{
		Where: path, Field: "size", Want: fmt.Sprintf("at least one value, and %d bytes for each of shape %s", h.width(), h.shapeText()),
		Got: fmt.Sprintf("%d bytes", h.size), Hint: "A file with fewer is truncated: copy or save it again.",
	}
}

// width is the size of a value in bytes.
func (h header) width() int { return int(h.kind[2] - '0') }

func (h header) shapeText() string {
	return "(" + strings.ReplaceAll(strings.Trim(fmt.Sprint(h.shape), "[]"), " ", ", ") + ")"
}

// Matrix is an open array of floats of two dimensions.
type Matrix struct {
	Rows, Cols int

	file   *fileio.File
	kind   string
	width  int
	offset int64 // of the values
	buffer []byte
}

const bufferSize = 1 << 18

// floats reads a value of each type.
var floats = map[string]func([]byte) float32{
	"<f2": numeric.Float16, "<f4": numeric.Float32,
	"<f8": func(b []byte) float32 { return float32(numeric.Float64(b)) },
}

// Open opens an array of at least one row and column.
func Open(ctx context.Context, path string) (*Matrix, error) {
	f, h, err := open(ctx, path, "<f4", "<f2", "<f8")
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 2 {
		err = &invalid.Error{
			Where: path, Field: "shape", Want: "samples x features", Got: h.shapeText(), Hint: "x.reshape(len(x), -1) makes two dimensions of more.",
		}
	} else {
		err = h.checkSize(path)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return &Matrix{
		Rows: h.shape[0], Cols: h.shape[1],
		file: f, kind: h.kind, width: h.width(), offset: h.start, buffer: make([]byte, bufferSize),
	}, nil
}

// ReadRows fills dst with values from the given row on, row by row. Doubles beyond the
// range of float32 become infinite.
func (m *Matrix) ReadRows(row int, dst []float32) error {
	at := m.offset + int64(row)*int64(m.Cols)*int64(m.width)
	for len(dst) > 0 {
		n := min(len(dst), len(m.buffer)/m.width)
		raw := m.buffer[:n*m.width]
		if err := readAt(m.file, raw, at); err != nil {
			return invalid.At(m.file.Name(), err)
		}
		at += int64(len(raw))
		numeric.Decode(dst[:n], raw, m.width, floats[m.kind])
		dst = dst[n:]
	}
	return nil
}

// Close closes the file.
func (m *Matrix) Close() error { return m.file.Close() }

// Write writes a rows x cols array of float32 in C order.
func Write(w io.Writer, rows, cols int, values []float32) error {
	if err := WriteHeader(w, rows, cols); err != nil {
		return err
	}
	return WriteValues(w, values)
}

// WriteHeader writes what comes before the values of a rows x cols array of float32 in C
// order.
func WriteHeader(w io.Writer, rows, cols int) error {
	const prefix, align = len(magic) + 2 + 2, 64 // NumPy aligns the values to 64 bytes
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	length := (prefix+len(text)+1+align-1)/align*align - prefix
	text += strings.Repeat(" ", length-len(text)-1) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(length))
	_, err := w.Write(append(b, text...))
	return err
}

// WriteValues writes the next values of an array, after its header.
func WriteValues(w io.Writer, values []float32) error { return numeric.Write(w, values) }

// maxText is the largest size of a text file of integers in bytes, far above the labels
// of any data set.
const maxText = 1 << 28

// ReadIntegers reads at least one integer: from an .npy of one dimension, or of two of
// which one is 1, or from a text file as ParseIntegers does.
func ReadIntegers(ctx context.Context, path string) ([]int, error) {
	var numbers []int
	var err error
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		numbers, err = readIntegers(ctx, path)
	} else {
		var text []byte
		if text, err = fileio.ReadFile(ctx, path, maxText); err == nil {
			numbers, err = ParseIntegers(path, string(text))
		}
	}
	if err == nil && len(numbers) == 0 {
		err = &invalid.Error{Where: path, Want: "at least one integer", Got: "none"}
	}
	return numbers, err
}

func readIntegers(ctx context.Context, path string) ([]int, error) {
	f, h, err := open(ctx, path, "<i8", "<i4")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if len(h.shape) != 1 && !(len(h.shape) == 2 && slices.Contains(h.shape, 1)) {
		return nil, &invalid.Error{Where: path, Field: "shape", Want: "one dimension, with one integer per sample", Got: h.shapeText()}
	}
	if err := h.checkSize(path); err != nil {
		return nil, err
	}
	raw := make([]byte, h.size)
	if err := readAt(f, raw, h.start); err != nil {
		return nil, invalid.At(path, err)
	}
	number := func(b []byte) int { return int(int64(binary.LittleEndian.Uint64(b))) }
	if h.kind == "<i4" {
		number = func(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) }
	}
	return numeric.Decode(make([]int, len(raw)/h.width()), raw, h.width(), number), nil
}

// ParseIntegers reads integers separated by commas, semicolons, spaces or lines. where is
// the file or flag that errors name.
func ParseIntegers(where, text string) ([]int, error) {
	var numbers []int
	line := 0
	for part := range strings.SplitSeq(text, "\n") {
		line++
		for word := range strings.FieldsFuncSeq(part, func(r rune) bool { return strings.ContainsRune(", \t\r;", r) }) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return nil, &invalid.Error{Where: where, Field: fmt.Sprintf("line %d", line), Want: "integers", Got: invalid.Quote(word)}
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
