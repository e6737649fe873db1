package matlab

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
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
)

const (
	maxDims = 64
	maxName = 4096    // MATLAB itself allows 63 letters
	maxText = 1 << 20 // bytes of one text

	flagComplex = 0x0800

	// maxRatio is the largest number of bytes that deflate compresses into one.
	maxRatio = 1032
)

// stream reads the elements of one variable and keeps its position for errors.
type stream struct {
	file, variable string

	r          io.Reader
	pos        int64 // bytes read: of the decompressed data where the variable is compressed
	base       int64 // offset in the file of pos 0, or of the compressed data
	compressed int64 // bytes of the compressed data, 0 where they are plain
}

// element is the tag of a data element: its type, and the bytes of its data and of the
// padding behind them.
type element struct {
	kind      uint32
	size, pad int64
}

// element reads the tag of an element whose data end before end.
func (s *stream) element(end int64) (e element, err error) {
	var tag [tagSize]byte
	if err := s.full(tag[:4]); err != nil {
		return e, err
	}
	first := binary.LittleEndian.Uint32(tag[:])
	if small := int64(first >> 16); small > 4 {
		return e, s.unexpected("at most 4 bytes in a small element", "%d", small)
	} else if small > 0 { // two bytes of size, two of type, four of data
		e = element{kind: first & 0xffff, size: small, pad: 4 - small}
	} else {
		if err := s.full(tag[4:]); err != nil {
			return e, err
		}
		size := int64(binary.LittleEndian.Uint32(tag[4:]))
		e = element{kind: first, size: size, pad: -size & 7}
	}
	if e.size > end-s.pos {
		short := s.broken(fmt.Sprintf("an element within the %d bytes left", end-s.pos), io.ErrUnexpectedEOF)
		short.Got = fmt.Sprintf("one of %d bytes", e.size)
		return e, short
	}
	return e, nil
}

// full fills p.
func (s *stream) full(p []byte) error {
	n, err := io.ReadFull(s.r, p)
	s.pos += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return s.broken(fmt.Sprintf("%d more bytes", len(p)-n), err)
	}
	return nil
}

// skipPadding skips the bytes between an element and the next one. Some writers leave
// them out behind the last element.
func (s *stream) skipPadding(e element, end int64) error {
	var pad [8]byte
	return s.full(pad[:min(e.pad, end-s.pos)])
}

// bytes reads an element of one of the kinds and of low to high bytes.
func (s *stream) bytes(end int64, want string, low, high int64, kinds ...uint32) (kind uint32, data []byte, err error) {
	e, err := s.element(end)
	if err != nil {
		return 0, nil, err
	}
	if !slices.Contains(kinds, e.kind) || e.size < low || e.size > high {
		return 0, nil, s.unexpected(want, "%d bytes of type %d", e.size, e.kind)
	}
	data = make([]byte, e.size)
	if err = s.full(data); err == nil {
		err = s.skipPadding(e, end)
	}
	return e.kind, data, err
}

// broken returns an error of reading or decompressing at the current position.
func (s *stream) broken(want string, err error) *invalid.Error {
	e := s.unexpected(want, "")
	e.Err = err
	e.Hint = "The file is truncated or damaged: copy or download it again."
	return e
}

// unexpected returns an error about the content at the current position.
func (s *stream) unexpected(want, gotFormat string, args ...any) *invalid.Error {
	e := &invalid.Error{Where: s.file, Field: fmt.Sprintf("byte %d", s.base+s.pos), Want: want, Got: fmt.Sprintf(gotFormat, args...)}
	if s.compressed > 0 {
		e.Field = fmt.Sprintf("byte %d of the compressed data at byte %d", s.pos, s.base)
	}
	if s.variable != "" {
		e.Field = s.variable + ", " + e.Field
	}
	return e
}

// matrix is an array whose header has been read and whose data have not.
type matrix struct {
	Array
	complex bool
	n       int   // elements
	end     int64 // of the array in its stream
}

// header reads what precedes the data of an array: flags, dimensions and name.
func (s *stream) header(end int64) (m matrix, err error) {
	m.end = end
	_, data, err := s.bytes(end, "array flags in 8 bytes of type 6", 8, 8, kindUint32)
	if err != nil {
		return m, err
	}
	flags := binary.LittleEndian.Uint32(data)
	m.complex = flags&flagComplex != 0
	if m.Class = Class(flags); m.Class > opaque {
		m.Class = 0
	}
	if m.Class != opaque { // these have no dimensions
		_, data, err := s.bytes(end, fmt.Sprintf("2 to %d dimensions of 4 bytes each", maxDims), 8, 4*maxDims, kindInt32, kindUint32)
		if err != nil {
			return m, err
		}
		m.Dims = make([]int, len(data)/4)
		for i := range m.Dims {
			m.Dims[i] = int(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
		var ok bool
		if m.n, ok = numeric.Count(m.Dims, maxElements); !ok {
			return m, s.unexpected(fmt.Sprintf("at most %d elements", maxElements), "dimensions %s", formatDims(m.Dims))
		}
	}
	_, name, err := s.bytes(end, fmt.Sprintf("the name of a variable, of at most %d bytes", maxName), 0, maxName, kindInt8, kindUint8, kindUTF8)
	m.Name = string(name)
	if s.variable == "" {
		s.variable = m.Name // arrays in its cells have no names
	}
	return m, err
}

// decode reads the data of a variable.
func (s *stream) decode(m matrix) (*Array, error) {
	a := &m.Array
	var err error
	switch {
	case m.complex:
		return nil, s.unexpected("real numbers", "complex ones")
	case m.Class.numeric():
		a.Float32, err = s.numbers(m)
	case m.Class == Char:
		a.Strings = make([]string, 1)
		a.Strings[0], err = s.text(m)
	case m.Class == Cell:
		a.Strings, err = s.cells(m)
	default:
		return nil, s.unexpected("an array of numbers or text", "class %s", m.Class)
	}
	if err == nil {
		err = s.finish(m.end)
	}
	if err == nil && s.compressed > 0 { // the checksum is behind the data
		if n, end := io.ReadFull(s.r, make([]byte, 1)); n > 0 {
			err = s.unexpected("the end of the compressed data", "more")
		} else if end != io.EOF {
			err = s.broken("the end of the compressed data", end)
		}
	}
	return a, err
}

// finish checks that the data of a variable, or of a cell, end at end.
func (s *stream) finish(end int64) error {
	if s.pos != end {
		return s.unexpected("the end of the variable", "%d more bytes", end-s.pos)
	}
	return nil
}

// numberTypes are the numeric types: their widths in bytes, and how they are read. The type
// need not be the class of the array: MATLAB stores doubles that are all small integers as
// such.
var numberTypes = map[uint32]struct {
	width int
	read  func(b []byte) float32
}{
	kindInt8:   {1, func(b []byte) float32 { return float32(int8(b[0])) }},
	kindUint8:  {1, func(b []byte) float32 { return float32(b[0]) }},
	kindInt16:  {2, func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) }},
	kindUint16: {2, func(b []byte) float32 { return float32(binary.LittleEndian.Uint16(b)) }},
	kindInt32:  {4, func(b []byte) float32 { return float32(int32(binary.LittleEndian.Uint32(b))) }},
	kindUint32: {4, func(b []byte) float32 { return float32(binary.LittleEndian.Uint32(b)) }},
	kindSingle: {4, numeric.Float32},
	kindDouble: {8, func(b []byte) float32 { return float32(numeric.Float64(b)) }},
	kindInt64:  {8, func(b []byte) float32 { return float32(int64(binary.LittleEndian.Uint64(b))) }},
	kindUint64: {8, func(b []byte) float32 { return float32(binary.LittleEndian.Uint64(b)) }},
}

// numbers reads the data of a real numeric array.
func (s *stream) numbers(m matrix) ([]float32, error) {
	e, err := s.element(m.end)
	if err != nil {
		return nil, err
	}
	number, ok := numberTypes[e.kind]
	if !ok {
		return nil, s.unexpected("numbers", "an element of type %d", e.kind)
	}
	if e.size != int64(m.n)*int64(number.width) {
		return nil, s.unexpected(fmt.Sprintf("%d numbers of %d bytes (%s)", m.n, number.width, formatDims(m.Dims)), "%d bytes", e.size)
	}
	// Plain data were counted when the element was opened.
	if s.compressed > 0 && e.size > maxRatio*s.compressed {
		return nil, s.unexpected(fmt.Sprintf("%d bytes of numbers", e.size), "%d compressed bytes, which hold fewer", s.compressed)
	}
	values := make([]float32, m.n)
	buffer := make([]byte, min(e.size, bufferSize))
	for rest := values; len(rest) > 0; {
		k := min(len(rest), len(buffer)/number.width)
		raw := buffer[:k*number.width]
		if err := s.full(raw); err != nil {
			return nil, err
		}
		numeric.Decode(rest[:k], raw, number.width, number.read)
		rest = rest[k:]
	}
	return values, s.skipPadding(e, m.end)
}

// text reads the data of a char array of one row.
func (s *stream) text(m matrix) (string, error) {
	if m.n > 0 && m.n != m.Dims[1] {
		return "", s.unexpected("text of one row", "%s", m.Size())
	}
	want := fmt.Sprintf("text of at most %d bytes", maxText)
	kind, data, err := s.bytes(m.end, want, 0, maxText, kindInt8, kindUint8, kindUint16, kindUTF8, kindUTF16)
	if err != nil || kind == kindUTF8 {
		return string(data), err
	}
	width, unit := 1, func(b []byte) uint16 { return uint16(b[0]) }
	if kind == kindUint16 || kind == kindUTF16 {
		width, unit = 2, binary.LittleEndian.Uint16
	}
	units := numeric.Decode(make([]uint16, len(data)/width), data, width, unit)
	return string(utf16.Decode(units)), nil
}

// cells reads the texts in a cell array.
func (s *stream) cells(m matrix) ([]string, error) {
	if left := m.end - s.pos; int64(m.n) > left/tagSize {
		return nil, s.unexpected(fmt.Sprintf("at most %d cells in the %d bytes left", left/tagSize, left), "%d (%s)", m.n, formatDims(m.Dims))
	}
	var texts []string
	for range m.n {
		e, err := s.element(m.end)
		if err != nil {
			return nil, err
		}
		if e.kind != kindMatrix {
			return nil, s.unexpected("an array in a cell", "an element of type %d", e.kind)
		}
		var text string
		if e.size > 0 {
			if text, err = s.cell(s.pos + e.size); err != nil {
				return nil, err
			}
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// cell reads the text in a cell that ends at end. An empty array of numbers is no text.
func (s *stream) cell(end int64) (text string, err error) {
	m, err := s.header(end)
	switch {
	case err != nil:
		return "", err
	case m.Class == Char:
		text, err = s.text(m)
	case m.Class.numeric() && m.n == 0:
		_, err = s.numbers(m)
	default:
		return "", s.unexpected("text in a cell", "%s", m.Size())
	}
	if err == nil {
		err = s.finish(end)
	}
	return text, err
}
