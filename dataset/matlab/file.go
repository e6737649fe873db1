package matlab

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/lago-train/lago-train/dataset/matlab/internal/zlib"
)

const (
	headerSize = 128
	tagSize    = 8
	bufferSize = 64 << 10
)

// resave tells the owner of a file of another format what to do.
const resave = "load it in MATLAB and save it again with save(..., '-v7')"

// file walks over the top-level elements of a MAT-file.
type file struct {
	r     io.ReaderAt
	size  int64
	name  string
	order binary.ByteOrder

	// Of the element at hand, whichever it needs.
	plain    *bufio.Reader
	inflated zlib.Reader
}

// variable is one variable of a file, its header read and its data not.
type variable struct {
	matrix
	*stream
}

func openFile(r io.ReaderAt, size int64, name string) (*file, error) {
	head := make([]byte, headerSize)
	n, err := r.ReadAt(head[:min(size, headerSize)], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &Error{File: name, Want: "a MAT-file header", Err: err}
	}
	order, err := checkHeader(head[:n], name)
	if err != nil {
		return nil, err
	}
	return &file{r: r, size: size, name: name, order: order, plain: bufio.NewReaderSize(nil, bufferSize)}, nil
}

// checkHeader returns the byte order that the first bytes of a level 5 MAT-file
// give: a text, a version and the letters MI as a 16-bit number.
func checkHeader(head []byte, name string) (binary.ByteOrder, error) {
	bad := func(got string) error {
		return &Error{File: name, Want: "a level 5 MAT-file", Got: got}
	}
	const version73 = "one of version 7.3 (HDF5); " + resave
	switch {
	case bytes.HasPrefix(head, []byte("\x89HDF")):
		return nil, bad(version73)
	case isLevel4(head):
		return nil, bad("one of level 4; " + resave)
	case len(head) < headerSize:
		return nil, bad(fmt.Sprintf("%d bytes, fewer than its header has", len(head)))
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch mark := string(head[126:128]); mark {
	case "IM":
	case "MI":
		order = binary.BigEndian
	default:
		return nil, bad(fmt.Sprintf("%q where the header marks the byte order", mark))
	}
	switch version := order.Uint16(head[124:126]); version >> 8 {
	case 1:
		return order, nil
	case 2:
		return nil, bad(version73)
	default:
		return nil, bad(fmt.Sprintf("version %#x; %s", version, resave))
	}
}

// isLevel4 reports whether a file begins as one of level 4 does: with five numbers,
// the first of which is of decimal digits MOPT, which say the machine (0 to 4),
// nothing (0), the type (0 to 5) and the kind of matrix (0 to 2); the fourth is 1 for
// complex numbers and the fifth is the size of a name. Level 5 begins with text.
func isLevel4(head []byte) bool {
	if len(head) < 20 {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		mopt, complex, nameSize := order.Uint32(head), order.Uint32(head[12:]), order.Uint32(head[16:])
		if mopt/1000 <= 4 && mopt/100%10 == 0 && mopt/10%10 <= 5 && mopt%10 <= 2 && complex <= 1 && nameSize > 0 {
			return true
		}
	}
	return false
}

// variables yields the named variables in the order of the file. A variable is
// good until the next is asked for; an error is the last that is yielded.
func (f *file) variables() iter.Seq2[*variable, error] {
	return func(yield func(*variable, error) bool) {
		for offset := int64(headerSize); offset < f.size; {
			v, next, err := f.variable(offset)
			// MATLAB keeps what function handles and objects refer to in a variable
			// without a name.
			more := err == nil && v.Name == "" || yield(v, err)
			if err != nil || !more {
				return
			}
			offset = next
		}
	}
}

// variable opens the element at the offset and says where the next one is.
func (f *file) variable(offset int64) (v *variable, next int64, err error) {
	s := &stream{file: f.name, base: offset, order: f.order}
	s.r = io.NewSectionReader(f.r, offset, f.size-offset)
	e, err := s.element(f.size - offset)
	if err != nil {
		return nil, 0, err
	}
	next = offset + tagSize + e.size
	data := io.NewSectionReader(f.r, offset+tagSize, e.size)
	if e.kind == kindCompressed {
		if e, err = s.inflate(&f.inflated, data); err != nil {
			return nil, 0, err
		}
	} else {
		f.plain.Reset(data)
		s.r = f.plain
	}
	if e.kind != kindMatrix {
		return nil, 0, s.unexpected("a variable", "an element of type %d", e.kind)
	}
	m, err := s.header(s.pos + e.size)
	if err != nil {
		return nil, 0, err
	}
	return &variable{matrix: m, stream: s}, next, nil
}
