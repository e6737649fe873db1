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
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// magic begins a file. It is followed by two bytes of version, the length of the header
// in two bytes (version 1) or four (2 and 3), and the header: a Python dictionary.
const magic = "\x93NUMPY"

// maxHeader is far above the header of a plain array; NumPy itself refuses more than
// 10,000 bytes.
const maxHeader = 1 << 16

// array is an open array.
type array struct {
	file  *fileio.File
	kind  string // type of the values in NumPy's notation, as in <f4
	width int    // of a value in bytes
	shape []int
	start int64 // of the values in the file, in bytes
}

// entry is the first entry of the dictionary, as in
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (7456, 2048), }
//
// Its groups are the key, and the value without quotes or brackets: a type, a boolean or a shape,
// in which Python 2 marks long integers with L.
var entry = regexp.MustCompile(`^\s*['"](?:(descr)['"]\s*:\s*['"]([<>|=]?[A-Za-z]\w*)['"]|` +
	`(fortran_order)['"]\s*:\s*(True|False)|(shape)['"]\s*:\s*\(((?:\s*\d+L?\s*,)*(?:\s*\d+L?)?\s*)\))\s*(?:,\s*|$)`)

// parseDictionary returns the values of the dictionary, which has each of the three entries once
// and nothing else.
func parseDictionary(text string) (values map[string]string, ok bool) {
	rest, opened := strings.CutPrefix(strings.TrimSpace(text), "{")
	rest, closed := strings.CutSuffix(rest, "}")
	values = make(map[string]string)
	for rest = strings.TrimSpace(rest); rest != ""; {
		found := entry.FindStringSubmatch(rest)
		if found == nil {
			return nil, false
		}
		key := found[1] + found[3] + found[5]
		if _, repeated := values[key]; repeated {
			return nil, false
		}
		values[key] = found[2] + found[4] + found[6]
		rest = rest[len(found[0]):]
	}
	return values, opened && closed && len(values) == 3
}

// hint is how NumPy converts an array to a type that can be read.
func hint(kind string) string {
	return fmt.Sprintf("Save it again: np.save(FILE, np.ascontiguousarray(x).astype('%s')).", kind)
}

// open opens an array whose shape fits and whose values have one of the given types, of which
// errors advise the first. There is at least one value, and the file has all of them.
func open(ctx context.Context, path string, fits func(shape []int) error, kinds ...string) (*array, error) {
	f, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	a := &array{file: f}
	start := make([]byte, min(size, maxHeader+12)) // at most 12 bytes come before the text
	if err = a.readAt(start, 0); err == nil {
		err = a.parseHeader(start, kinds)
	}
	if err == nil {
		err = fits(a.shape)
	}
	if err == nil {
		err = a.checkSize(size - a.start)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, invalid.At(path, err)
	}
	return a, nil
}

// readAt fills b from an offset on. Its error, as those of the methods below, is an
// *invalid.Error without a place.
func (a *array) readAt(b []byte, offset int64) error {
	n, err := a.file.ReadAt(b, offset)
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

// checkSize compares the size of the file with that of the values.
func (a *array) checkSize(size int64) error {
	n, ok := numeric.Count(a.shape, int(size))
	if ok && n > 0 && int64(n)*int64(a.width) == size {
		return nil
	}
	return &invalid.Error{
		Field: "size", Want: fmt.Sprintf("at least one value, and %d bytes for each of shape %s", a.width, shapeText(a.shape)),
		Got: fmt.Sprintf("%d bytes", size), Hint: "A file with fewer is truncated: copy or save it again.",
	}
}

func shapeText(shape []int) string {
	return "(" + format.Join(shape) + ")"
}

// parseHeader reads the header from the first bytes of a file.
func (a *array) parseHeader(b []byte, kinds []string) error {
	bad := func(want, got, hint string) error {
		return &invalid.Error{Field: "header", Want: want, Got: got, Hint: hint}
	}
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return bad("one array, as numpy.save writes it", "an archive, as numpy.savez writes it", "")
	case !bytes.HasPrefix(b, []byte(magic)):
		return bad("a NumPy array, as numpy.save writes it", "a file that begins with "+invalid.Quote(string(b[:min(len(b), 8)])), "")
	case len(b) < len(magic)+6:
		return truncated()
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
		return truncated()
	}
	text := string(b[from : from+n])
	values, ok := parseDictionary(text)
	kind := values["descr"]
	switch {
	case !ok:
		return bad("the entries descr, fortran_order and shape of a NumPy array of numbers, each once, and nothing else", invalid.Quote(text), "")
	case !slices.Contains(kinds, kind):
		return bad("values of type "+strings.Join(kinds, ", "), kind, hint(kinds[0]))
	case values["fortran_order"] == "True":
		return bad("an array in C order", "Fortran order", hint(kind))
	}
	a.kind, a.width, a.start = kind, int(kind[2]-'0'), int64(from+n)
	for field := range strings.FieldsFuncSeq(values["shape"], func(r rune) bool { return !('0' <= r && r <= '9') }) {
		size, err := strconv.Atoi(field)
		if err != nil {
			return bad("a size below 2^63 in the shape", field, "")
		}
		a.shape = append(a.shape, size)
	}
	return nil
}

// Matrix is an open array of floats of two dimensions.
type Matrix struct {
	Rows, Cols int
	*array
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
	a, err := open(ctx, path, func(shape []int) error {
		if len(shape) == 2 {
			return nil
		}
		return &invalid.Error{Field: "shape", Want: "samples x features", Got: shapeText(shape), Hint: "x.reshape(len(x), -1) makes two dimensions of more."}
	}, "<f4", "<f2", "<f8")
	if err != nil {
		return nil, err
	}
	return &Matrix{a.shape[0], a.shape[1], a, make([]byte, bufferSize)}, nil
}

// ReadRows fills dst with values from the given row on, row by row. Doubles beyond the
// range of float32 become infinite.
func (m *Matrix) ReadRows(row int, dst []float32) error {
	at := m.start + int64(row)*int64(m.Cols)*int64(m.width)
	for len(dst) > 0 {
		n := min(len(dst), len(m.buffer)/m.width)
		raw := m.buffer[:n*m.width]
		if err := m.readAt(raw, at); err != nil {
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
	return numeric.Write(w, values)
}

// WriteHeader writes what comes before the values of a rows x cols array of float32 in C
// order, which numeric.Write writes.
func WriteHeader(w io.Writer, rows, cols int) error {
	const prefix, align = len(magic) + 2 + 2, 64 // NumPy aligns the values to 64 bytes
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	length := (prefix+len(text)+1+align-1)/align*align - prefix
	text += strings.Repeat(" ", length-len(text)-1) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(length))
	_, err := w.Write(append(b, text...))
	return err
}

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
	a, err := open(ctx, path, func(shape []int) error {
		if len(shape) == 1 || len(shape) == 2 && slices.Contains(shape, 1) {
			return nil
		}
		return &invalid.Error{Field: "shape", Want: "one dimension, with one integer per sample", Got: shapeText(shape)}
	}, "<i8", "<i4")
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.file.Close() }() // nothing was written
	n, _ := numeric.Count(a.shape, math.MaxInt)
	raw := make([]byte, n*a.width)
	if err := a.readAt(raw, a.start); err != nil {
		return nil, invalid.At(path, err)
	}
	number := func(b []byte) int { return int(int64(binary.LittleEndian.Uint64(b))) }
	if a.kind == "<i4" {
		number = func(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) }
	}
	return numeric.Decode(make([]int, n), raw, a.width, number), nil
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
