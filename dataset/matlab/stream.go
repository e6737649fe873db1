package matlab

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/lago-train/lago-train/dataset/matlab/internal/zlib"
)

// Types of data elements: table 1-1 of the format's description.
const (
	kindInt8       = 1
	kindUint8      = 2
	kindInt16      = 3
	kindUint16     = 4
	kindInt32      = 5
	kindUint32     = 6
	kindSingle     = 7
	kindDouble     = 9
	kindInt64      = 12
	kindUint64     = 13
	kindMatrix     = 14
	kindCompressed = 15
	kindUTF8       = 16
	kindUTF16      = 17
	kindUTF32      = 18
)

// stream reads the elements of one variable and knows where it is, for errors.
type stream struct {
	r     io.Reader
	order binary.ByteOrder
	pos   int64 // bytes read: of the inflated data where the variable is compressed

	file, variable string
	base           int64             // offset in the file of pos 0, or of the compressed element
	packed         *io.SectionReader // the compressed data, nil where they are plain
}

// element is the tag of a data element: its type, and the bytes of its data and of
// the padding behind them.
type element struct {
	kind      uint32
	size, pad int64
}

// inflate goes on with what the data inflate to, and returns the element in there.
func (s *stream) inflate(z *zlib.Reader, data *io.SectionReader) (element, error) {
	s.r, s.packed, s.pos = z, data, 0
	if err := z.Reset(data); err != nil {
		return element{}, s.broken("zlib data", err)
	}
	return s.element(math.MaxInt64)
}

// element reads the tag of an element whose data end before end.
func (s *stream) element(end int64) (element, error) {
	word, err := s.uint32(end)
	if err != nil {
		return element{}, err
	}
	e := element{kind: word}
	if small := int64(word >> 16); small > 0 {
		// A small element: two bytes of size, two of type, four of data.
		e = element{kind: word & 0xffff, size: small, pad: 4 - small}
		if small > 4 {
			return e, s.unexpected("at most 4 bytes in a small element", "%d", small)
		}
	} else {
		size, err := s.uint32(end)
		if err != nil {
			return e, err
		}
		e.size, e.pad = int64(size), -int64(size)&7
	}
	if e.size > end-s.pos {
		err := s.unexpected(fmt.Sprintf("an element within the %d bytes left", end-s.pos), "one of %d bytes", e.size)
		err.Err = io.ErrUnexpectedEOF
		return e, err
	}
	return e, nil
}

func (s *stream) uint32(end int64) (uint32, error) {
	if end-s.pos < 4 {
		return 0, s.unexpected("another element", "an end after %d bytes", s.pos)
	}
	var word [4]byte
	if err := s.full(word[:]); err != nil {
		return 0, err
	}
	return s.order.Uint32(word[:]), nil
}

// full fills p.
func (s *stream) full(p []byte) error {
	n, err := io.ReadFull(s.r, p)
	s.pos += int64(n)
	if err != nil {
		return s.short(int64(len(p)-n), err)
	}
	return nil
}

// bytes reads the data of an element and its padding. The memory grows as the data
// arrive.
func (s *stream) bytes(e element, end int64) ([]byte, error) {
	var data []byte
	for have := int64(0); have < e.size; have = int64(len(data)) {
		more := min(e.size-have, max(have, bufferSize))
		data = append(data, make([]byte, more)...)
		if err := s.full(data[have:]); err != nil {
			return nil, err
		}
	}
	return data, s.skipPadding(e, end)
}

// skipPadding passes the bytes between an element and the next one, which are
// missing behind the last in the files of some writers.
func (s *stream) skipPadding(e element, end int64) error {
	var pad [8]byte
	return s.full(pad[:min(e.pad, end-s.pos)])
}

// Data that inflate to more than provenSize bytes and more than provenRatio times
// their size are rare enough to be inflated twice.
const (
	provenSize  = 1 << 20
	provenRatio = 16
)

// prove returns an error if there are not n bytes left, as far as memory for them
// may be claimed: plain bytes were counted when the element was opened, compressed
// ones are where the claim is modest.
func (s *stream) prove(n int64) error {
	if s.packed == nil || n <= provenSize || n/provenRatio <= s.packed.Size() {
		return nil
	}
	again := io.NewSectionReader(s.packed, 0, s.packed.Size())
	held, err := inflatedSize(again, s.pos+n)
	if held < s.pos+n {
		return s.short(s.pos+n-held, err)
	}
	return nil
}

// inflatedSize counts the bytes to which a zlib stream inflates, as far as limit.
func inflatedSize(r io.Reader, limit int64) (int64, error) {
	var z zlib.Reader
	if err := z.Reset(r); err != nil {
		return 0, err
	}
	return io.CopyN(io.Discard, &z, limit)
}

// finish checks that a variable that has been read to end is all that there is.
func (s *stream) finish(end int64) error {
	if s.pos != end {
		return s.unexpected("the end of the variable", "%d more bytes", end-s.pos)
	}
	return nil
}

// finishInflating checks that compressed data end with the variable in them, and
// their checksum.
func (s *stream) finishInflating() error {
	if s.packed == nil {
		return nil
	}
	n, err := io.ReadFull(s.r, make([]byte, 1))
	if n > 0 {
		return s.unexpected("the end of the compressed data", "more of them")
	}
	if err != io.EOF {
		return s.broken("the end of the compressed data", err)
	}
	return nil
}

func (s *stream) short(missing int64, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return s.broken(fmt.Sprintf("%d more bytes", missing), err)
}

func (s *stream) broken(want string, err error) *Error {
	e := &Error{File: s.file, Variable: s.variable, Want: want, Err: err, Offset: s.base}
	if s.packed == nil {
		e.Offset += s.pos
	} else {
		e.Inflated = s.pos
	}
	return e
}

func (s *stream) unexpected(want, gotFormat string, args ...any) *Error {
	e := s.broken(want, nil)
	e.Got = fmt.Sprintf(gotFormat, args...)
	return e
}
