package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Header says what the values of an array are, and where they begin.
type Header struct {
	// Type is NumPy's name (descr): the byte order, the kind and the bytes of a
	// value, as in "<f4". Of records it is the list of their fields in Python.
	Type    string
	Fortran bool // the first index runs fastest
	Shape   Shape
	Offset  int64 // of the first value, in bytes
}

// Records says whether a value is a record of several fields.
func (h Header) Records() bool { return strings.HasPrefix(h.Type, "[") }

// Fits says whether size bytes are just the values that the shape promises, of
// width bytes each.
func (h Header) Fits(size int64, width int) bool {
	if size%int64(width) != 0 {
		return false
	}
	// By divisions, since a product may overflow.
	values := size / int64(width)
	for _, n := range h.Shape {
		if n == 0 {
			return values == 0
		}
		if values%int64(n) != 0 {
			return false
		}
		values /= int64(n)
	}
	return values == 1
}

// Shape is how many values there are along each dimension; none is below 0.
type Shape []int

// String gives the sizes in parentheses.
func (s Shape) String() string {
	words := make([]string, len(s))
	for i, n := range s {
		words[i] = strconv.Itoa(n)
	}
	return "(" + strings.Join(words, ", ") + ")"
}

// Magic is what a file begins with. Behind it come two bytes of the version, the
// length of a text in two bytes (version 1) or four (2 and 3), and the text: a
// dictionary in Python.
const Magic = "\x93NUMPY"

// maxHeader is far above any header of plain numbers; NumPy refuses more than 10000
// bytes.
const maxHeader = 1 << 16

// ReadHeader reads up to the first value. Errors are of type *invalid.Error; file is
// what they name as the file.
func ReadHeader(r io.Reader, file string) (Header, error) {
	bad := func(want, got string) (Header, error) {
		return Header{}, &invalid.Error{Where: file, Field: "header", Want: want, Got: got}
	}
	prefix := make([]byte, len(Magic)+2)
	n, err := io.ReadFull(r, prefix)
	switch {
	case bytes.HasPrefix(prefix, []byte("PK\x03\x04")):
		return bad("one array, as numpy.save writes it", "an archive of arrays, as numpy.savez does")
	case !bytes.HasPrefix(prefix, []byte(Magic)):
		return bad("a NumPy array, as numpy.save writes it", fmt.Sprintf("a file that begins with %q", prefix[:n]))
	case err != nil:
		return Header{}, readError(file, err)
	}
	size := make([]byte, 4)
	switch version := prefix[len(Magic)]; version {
	case 1:
		size = size[:2]
	case 2, 3:
	default:
		return bad("version 1, 2 or 3 of the format", fmt.Sprint(version))
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return Header{}, readError(file, err)
	}
	length := binary.LittleEndian.Uint32(append(size, 0, 0)[:4])
	if length > maxHeader {
		return bad(fmt.Sprintf("at most %d bytes", maxHeader), fmt.Sprint(length))
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return Header{}, readError(file, err)
	}
	h, want, got := parse(string(text))
	if want != "" {
		return bad(want, got)
	}
	h.Offset = int64(len(prefix) + len(size) + len(text))
	return h, nil
}

// readError says that the file could not be read; the system's error need not name
// it a second time.
func readError(file string, err error) error {
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		err = system.Err
	}
	return &invalid.Error{Where: file, Err: err}
}
