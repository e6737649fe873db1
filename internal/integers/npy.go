package integers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// parseNPY returns the integers of an array.
func parseNPY(path string, data []byte) ([]int, error) {
	h, err := npy.ReadHeader(bytes.NewReader(data), path)
	if err != nil {
		return nil, err
	}
	numbers, want, got := decode(h, data[h.Offset:])
	if want != "" {
		return nil, &invalid.Error{Where: path, Field: "array", Want: want, Got: got}
	}
	return numbers, nil
}

// decode returns what was expected where the values are none, and what was found.
func decode(h npy.Header, values []byte) (numbers []int, want, got string) {
	kind, known := parseType(h.Type)
	if !known {
		return nil, "integers (x.astype(numpy.int64) makes them so)", typeOf(h)
	}
	count, want, got := countOf(h.Shape)
	if want != "" {
		return nil, want, got
	}
	if !h.Fits(int64(len(values)), kind.width) {
		return nil, fmt.Sprintf("%d values of %d bytes", count, kind.width), fmt.Sprintf("%d bytes", len(values))
	}
	numbers = make([]int, count)
	for i := range numbers {
		n, fits := kind.integer(values[i*kind.width:])
		if !fits {
			return nil, "numbers up to 2^63 - 1", fmt.Sprintf("one above in place %d", i)
		}
		numbers[i] = n
	}
	return numbers, "", ""
}

// integerType is how an integer is stored.
type integerType struct {
	width  int // bytes: 1, 2, 4 or 8
	order  binary.ByteOrder
	signed bool
}

// parseType reads NumPy's name of a type of integers: the byte order, which is | for
// single bytes, i or u, and the width.
func parseType(name string) (t integerType, known bool) {
	if len(name) != 3 || !strings.Contains("<>|=", name[:1]) || !strings.Contains("iu", name[1:2]) || !strings.Contains("1248", name[2:]) {
		return t, false
	}
	t = integerType{width: int(name[2] - '0'), order: binary.LittleEndian, signed: name[1] == 'i'}
	if name[0] == '>' {
		t.order = binary.BigEndian
	}
	return t, true
}

// integer reads the number at the beginning of b.
func (t integerType) integer(b []byte) (n int, fits bool) {
	var u uint64
	switch t.width {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(t.order.Uint16(b))
	case 4:
		u = uint64(t.order.Uint32(b))
	default:
		u = t.order.Uint64(b)
	}
	if !t.signed {
		return int(u), u <= math.MaxInt64
	}
	unused := 64 - 8*t.width
	return int(int64(u<<unused) >> unused), true
}

// countOf returns how many values an array of one dimension has. A second one may
// be 1, as in a column; then it makes no difference which of the two runs fastest.
func countOf(s npy.Shape) (count int, want, got string) {
	switch {
	case len(s) == 1:
		return s[0], "", ""
	case len(s) == 2 && s[0] == 1:
		return s[1], "", ""
	case len(s) == 2 && s[1] == 1:
		return s[0], "", ""
	}
	return 0, "an array of one dimension, a number a sample", "shape " + s.String()
}

// typeOf names the type of the values as the header does.
func typeOf(h npy.Header) string {
	if h.Records() {
		return "the type " + h.Type
	}
	return "the type '" + h.Type + "'"
}
