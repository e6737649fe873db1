package matlab

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/lago-train/lago-train/internal/invalid"
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

// stream reads the elements of one variable and keeps its position for errors.
type stream struct {
	r     io.Reader
	order binary.ByteOrder
	pos   int64 // bytes read: of the decompressed data where the variable is compressed

	file, variable string
	textSize       int64             // bytes of text read
	base           int64             // offset in the file of pos 0, or of the compressed data
	compressed     *io.SectionReader // the compressed data, nil where they are plain
}

// element is the tag of a data element: its type, and the bytes of its data and of the
// padding behind them.
type element struct {
	kind      uint32
	size, pad int64
}

// element reads the tag of an element whose data end before end.
func (s *stream) element(end int64) (element, error) {
	var word uint32
	next := func() error {
		if end-s.pos < 4 {
			return s.truncated("another element", "the end of the data")
		}
		var b [4]byte
		err := s.full(b[:])
		word = s.order.Uint32(b[:])
		return err
	}
	if err := next(); err != nil {
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
		if err := next(); err != nil {
			return e, err
		}
		e.size, e.pad = int64(word), -int64(word)&7
	}
	if e.size > end-s.pos {
		return e, s.truncated(fmt.Sprintf("an element within the %d bytes left", end-s.pos), fmt.Sprintf("one of %d bytes", e.size))
	}
	return e, nil
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

// skipPadding skips the bytes between an element and the next one. Some writers leave
// them out behind the last element.
func (s *stream) skipPadding(e element, end int64) error {
	var pad [8]byte
	return s.full(pad[:min(e.pad, end-s.pos)])
}

// Data that decompress to more than provenSize bytes and more than provenRatio times
// their size are rare enough to be decompressed twice.
const (
	provenSize  = 1 << 20
	provenRatio = 16
)

// prove returns an error if fewer than n bytes are left, before memory is allocated for
// them. Plain data were counted when the element was opened; compressed ones are
// decompressed once to count them, unless n is plausible.
func (s *stream) prove(n int64) error {
	if s.compressed == nil || n <= provenSize || n/provenRatio <= s.compressed.Size() {
		return nil
	}
	z, err := zlib.NewReader(io.NewSectionReader(s.compressed, 0, s.compressed.Size()))
	if err != nil {
		return s.broken("compressed data", err)
	}
	have, err := io.CopyN(io.Discard, z, s.pos+n)
	if have < s.pos+n {
		return s.short(s.pos+n-have, err)
	}
	return nil
}

// finish checks that the data of a variable, or of a cell, end at end.
func (s *stream) finish(end int64) error {
	if s.pos != end {
		return s.unexpected("the end of the variable", "%d more bytes", end-s.pos)
	}
	return nil
}

// finishCompressed checks that compressed data end with the variable in them, and their
// checksum.
func (s *stream) finishCompressed() error {
	if s.compressed == nil {
		return nil
	}
	n, err := io.ReadFull(s.r, make([]byte, 1))
	if n > 0 {
		return s.unexpected("the end of the compressed data", "more")
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

// truncated returns an error about sizes that exceed the data.
func (s *stream) truncated(want, got string) error {
	e := s.unexpected(want, "%s", got)
	e.Err = io.ErrUnexpectedEOF
	e.Hint = "The file is truncated or damaged: copy or download it again."
	return e
}

// broken returns an error of reading or decompressing at the current position.
func (s *stream) broken(want string, err error) *invalid.Error {
	e := s.unexpected(want, "")
	e.Err = err
	e.Hint = "The file is damaged: copy or download it again."
	return e
}

// unexpected returns an error about the content at the current position.
func (s *stream) unexpected(want, gotFormat string, args ...any) *invalid.Error {
	e := &invalid.Error{Where: s.file, Field: fmt.Sprintf("byte %d", s.base+s.pos), Want: want, Got: fmt.Sprintf(gotFormat, args...)}
	if s.compressed != nil {
		e.Field = fmt.Sprintf("byte %d of the compressed data at byte %d", s.pos, s.base)
	}
	if s.variable != "" {
		e.Field = s.variable + ", " + e.Field
	}
	return e
}
