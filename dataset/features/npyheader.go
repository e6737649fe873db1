package features

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
)

// npyHeader says what the values of an array are.
type npyHeader struct {
	values  npyValues
	fortran bool // the first index runs fastest
	shape   []int
}

// A file begins with the magic bytes, two of the version, the length of a text in
// two bytes (version 1) or four (2 and 3), and the text: a dictionary in Python.
const (
	npyMagic = "\x93NUMPY"
	// maxNPYHeader is far above any header of plain numbers; NumPy refuses more
	// than 10000 bytes.
	maxNPYHeader = 1 << 16
)

// readNPYHeader returns the header and where the values begin.
func readNPYHeader(r io.Reader, file string) (h npyHeader, offset int64, err error) {
	bad := func(want, got string) error {
		return &dataset.Error{File: file, Field: "header", Want: want, Got: got}
	}
	prefix := make([]byte, len(npyMagic)+2)
	n, err := io.ReadFull(r, prefix)
	switch {
	case bytes.HasPrefix(prefix, []byte("PK\x03\x04")):
		return h, 0, bad("one array, as numpy.save writes it", "an archive of arrays, as numpy.savez does")
	case !bytes.HasPrefix(prefix, []byte(npyMagic)):
		return h, 0, bad("a NumPy array, as numpy.save writes it", fmt.Sprintf("a file that begins with %q", prefix[:n]))
	case err != nil:
		return h, 0, fileError(file, err)
	}
	size := make([]byte, 4)
	switch version := prefix[len(npyMagic)]; version {
	case 1:
		size = size[:2]
	case 2, 3:
	default:
		return h, 0, bad("version 1, 2 or 3 of the format", fmt.Sprint(version))
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return h, 0, fileError(file, err)
	}
	length := binary.LittleEndian.Uint32(append(size, 0, 0)[:4])
	if length > maxNPYHeader {
		return h, 0, bad(fmt.Sprintf("at most %d bytes", maxNPYHeader), fmt.Sprint(length))
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, fileError(file, err)
	}
	h, want, got := parseNPYHeader(string(text))
	if want != "" {
		return h, 0, bad(want, got)
	}
	return h, int64(len(prefix) + len(size) + len(text)), nil
}

// fits checks that the file has just the values that the header promises, of at
// least one sample; size is what comes behind the header.
func (h npyHeader) fits(size int64, file string) error {
	e := &dataset.Error{File: file, Field: "shape", Got: formatShape(h.shape)}
	if len(h.shape) != 2 {
		e.Want = "samples x D (of more dimensions, x.reshape(len(x), -1) makes two)"
		return e
	}
	rows, cols := int64(h.shape[0]), int64(h.shape[1])
	if rows < 1 || cols < 1 {
		e.Want = "at least one sample and one value"
		return e
	}
	// By divisions, since a product may overflow.
	width := int64(h.values.width)
	if values := size / width; size%width == 0 && values%cols == 0 && values/cols == rows {
		return nil
	}
	return &dataset.Error{
		File: file, Field: "size", Want: fmt.Sprintf("%s values of %d bytes behind the header", formatShape(h.shape), width),
		Got: fmt.Sprintf("%d bytes", size),
	}
}

func formatShape(shape []int) string {
	s := make([]string, len(shape))
	for i, n := range shape {
		s[i] = strconv.Itoa(n)
	}
	return "(" + strings.Join(s, ", ") + ")"
}
