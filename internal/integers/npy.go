package integers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
)

// The format of NumPy (numpy.lib.format): the magic bytes, two of the version, the
// length of a text in two bytes (version 1) or four, the text, a dictionary in
// Python such as {'descr': '<i8', 'fortran_order': False, 'shape': (7,), }, and the
// values.
const npyMagic = "\x93NUMPY"

var (
	npyType  = regexp.MustCompile(`'descr':\s*'([<>|=])([a-z])(\d+)'`)
	npyShape = regexp.MustCompile(`'shape':\s*\(([\d, L]*)\)`)
)

// parseNPY returns the integers of an array.
func parseNPY(path string, data []byte) ([]int, error) {
	numbers, want, got := decodeNPY(data)
	if want != "" {
		return nil, &dataset.Error{File: path, Field: "array", Want: want, Got: got}
	}
	return numbers, nil
}

// decodeNPY returns what was expected where the data are none, and what was found.
func decodeNPY(data []byte) (numbers []int, want, got string) {
	header, values, want, got := splitNPY(data)
	if want != "" {
		return nil, want, got
	}
	kind := npyType.FindStringSubmatch(header)
	if kind == nil || !strings.Contains("iu", kind[2]) || !strings.Contains("1 2 4 8", kind[3]) {
		return nil, "integers (x.astype(numpy.int64) makes them so)", typeOf(header)
	}
	count, want, got := countNPY(header)
	if want != "" {
		return nil, want, got
	}
	width := int(kind[3][0] - '0')
	if count > len(values) || count*width != len(values) {
		return nil, fmt.Sprintf("%d values of %d bytes", count, width), fmt.Sprintf("%d bytes", len(values))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if kind[1] == ">" {
		order = binary.BigEndian
	}
	numbers = make([]int, count)
	for i := range numbers {
		n, fits := integer(values[i*width:(i+1)*width], order, kind[2] == "i")
		if !fits {
			return nil, "numbers up to 2^63 - 1", fmt.Sprintf("one above in place %d", i)
		}
		numbers[i] = n
	}
	return numbers, "", ""
}

// splitNPY parts the text of the header from the values.
func splitNPY(data []byte) (header string, values []byte, want, got string) {
	const prefix = len(npyMagic) + 2
	if !bytes.HasPrefix(data, []byte(npyMagic)) || len(data) < prefix+4 {
		return "", nil, "a NumPy array, as numpy.save writes it", fmt.Sprintf("a file that begins with %q", data[:min(len(data), 8)])
	}
	size, length := 2, uint64(binary.LittleEndian.Uint16(data[prefix:]))
	switch version := data[len(npyMagic)]; version {
	case 1:
	case 2, 3:
		size, length = 4, uint64(binary.LittleEndian.Uint32(data[prefix:]))
	default:
		return "", nil, "version 1, 2 or 3 of the format", fmt.Sprint(version)
	}
	rest := data[prefix+size:]
	if length > uint64(len(rest)) {
		return "", nil, fmt.Sprintf("a header of %d bytes", length), fmt.Sprintf("%d bytes", len(rest))
	}
	return string(rest[:length]), rest[length:], "", ""
}

// countNPY returns how many values an array of one dimension has. A second one may
// be 1, as in a column; then it makes no difference which of the two runs fastest.
func countNPY(header string) (count int, want, got string) {
	shape := npyShape.FindStringSubmatch(header)
	if shape == nil {
		return 0, "a shape", strconv.Quote(header)
	}
	var sizes []int
	for _, word := range strings.FieldsFunc(shape[1], func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, "a shape", "(" + shape[1] + ")"
		}
		sizes = append(sizes, n)
	}
	switch {
	case len(sizes) == 1:
		return sizes[0], "", ""
	case len(sizes) == 2 && sizes[0] == 1:
		return sizes[1], "", ""
	case len(sizes) == 2 && sizes[1] == 1:
		return sizes[0], "", ""
	}
	return 0, "an array of one dimension, a number a sample", "shape (" + shape[1] + ")"
}

// integer reads a whole number of 1, 2, 4 or 8 bytes.
func integer(b []byte, order binary.ByteOrder, signed bool) (n int, fits bool) {
	var u uint64
	switch len(b) {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(order.Uint16(b))
	case 4:
		u = uint64(order.Uint32(b))
	default:
		u = order.Uint64(b)
	}
	if !signed {
		return int(u), u <= math.MaxInt64
	}
	unused := 64 - 8*len(b)
	return int(int64(u<<unused) >> unused), true
}

// typeOf names the type of the values as the header does.
func typeOf(header string) string {
	_, after, _ := strings.Cut(header, "'descr':")
	name, _, _ := strings.Cut(strings.TrimSpace(after), "'fortran_order'")
	if name = strings.TrimRight(name, ", "); name != "" {
		return "the type " + name
	}
	return strconv.Quote(header)
}
