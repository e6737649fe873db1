package matlab

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
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

	// A compressed variable may take memory of maxInflated and perByte for each compressed byte. Features
	// compress to a half or, where most are 0, to a tenth; repeated bytes to a thousandth.
	maxInflated = 32 << 20
	perByte     = 64
)

// stream reads the elements of one variable and keeps its position for errors. After the first
// error, nothing more is read, and what is returned is zero.
type stream struct {
	file, variable string
	err            error

	r          io.Reader
	pos        int64 // bytes read: of the decompressed data where the variable is compressed
	base       int64 // offset in the file of pos 0, or of the compressed data
	compressed int64 // bytes of the compressed data, 0 where they are plain
}

type element struct {
	kind      uint32
	size, pad int64
}

func (s *stream) element(end int64) (e element) {
	var tag [tagSize]byte
	s.full(tag[:4])
	first := binary.LittleEndian.Uint32(tag[:])
	switch small := int64(first >> 16); {
	case small > 4:
		s.unexpected("at most 4 bytes in a small element", "%d", small)
	case small > 0: // two bytes of size, two of type, four of data
		e = element{kind: first & 0xffff, size: small, pad: 4 - small}
	default:
		s.full(tag[4:])
		size := int64(binary.LittleEndian.Uint32(tag[4:]))
		e = element{kind: first, size: size, pad: -size & 7}
	}
	if e.size > end-s.pos {
		s.broken(fmt.Sprintf("an element within the %d bytes left", end-s.pos),
			fmt.Sprintf("one of %d bytes", e.size), io.ErrUnexpectedEOF)
	}
	if s.err != nil {
		return element{}
	}
	return e
}

func (s *stream) full(p []byte) {
	if s.err != nil {
		return
	}
	n, err := io.ReadFull(s.r, p)
	s.pos += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		s.broken(fmt.Sprintf("%d more bytes", len(p)-n), "", err)
	}
}

// skipPadding skips the bytes between an element and the next one. Some writers leave
// them out behind the last element.
func (s *stream) skipPadding(e element, end int64) {
	var pad [8]byte
	s.full(pad[:max(0, min(e.pad, end-s.pos))])
}

// bytes reads an element of one of the kinds and of low to high bytes; after an error, low zeros.
func (s *stream) bytes(end int64, want string, low, high int64, kinds ...uint32) (kind uint32, data []byte) {
	e := s.element(end)
	if !slices.Contains(kinds, e.kind) || e.size < low || e.size > high {
		s.unexpected(want, "%d bytes of type %d", e.size, e.kind)
		return 0, make([]byte, low)
	}
	data = make([]byte, e.size)
	s.full(data)
	s.skipPadding(e, end)
	return e.kind, data
}

func (s *stream) broken(want, got string, err error) {
	s.fail(&invalid.Error{
		Want: want, Got: got, Err: err, Hint: "The file is truncated or damaged: copy or download it again.",
	})
}

func (s *stream) unexpected(want, gotFormat string, args ...any) {
	s.fail(&invalid.Error{Want: want, Got: fmt.Sprintf(gotFormat, args...)})
}

func (s *stream) fail(e *invalid.Error) {
	if s.err != nil {
		return
	}
	e.Where, e.Field = s.file, fmt.Sprintf("byte %d", s.base+s.pos)
	if s.compressed > 0 {
		e.Field = fmt.Sprintf("byte %d of the compressed data at byte %d", s.pos, s.base)
	}
	if s.variable != "" {
		e.Field = s.variable + ", " + e.Field
	}
	s.err = e
}

type unread struct {
	Array
	complex bool
	end     int64 // of the array in its stream
}

func (s *stream) header(end int64) (m unread) {
	m.end = end
	_, data := s.bytes(end, "array flags in 8 bytes of type 6", 8, 8, kindUint32)
	flags := binary.LittleEndian.Uint32(data)
	m.complex = flags&flagComplex != 0
	if m.Class = Class(flags); m.Class > opaque {
		m.Class = 0
	}
	if m.Class != opaque { // these have no dimensions
		_, data := s.bytes(end, fmt.Sprintf("2 to %d dimensions of 4 bytes each", maxDims), 8, 4*maxDims,
			kindInt32, kindUint32)
		m.Dims = make([]int, len(data)/4)
		for i := range m.Dims {
			m.Dims[i] = int(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
		if _, ok := matrix.Count(m.Dims, maxElements); !ok {
			s.unexpected(fmt.Sprintf("at most %d elements", maxElements), "dimensions %s", formatDims(m.Dims))
		}
	}
	_, name := s.bytes(end, fmt.Sprintf("the name of a variable, of at most %d bytes", maxName), 0, maxName,
		kindInt8, kindUint8, kindUTF8)
	m.Name = format.Printable(string(name)) // errors show it
	if s.variable == "" {
		s.variable = m.Name // arrays in its cells have no names
	}
	return m
}

func (s *stream) decode(m *unread) {
	memory := max(m.end-s.pos, 4*int64(m.Count()))
	switch {
	case s.compressed > 0 && memory > maxInflated+perByte*s.compressed:
		s.fail(&invalid.Error{
			Want: format.Bytes(maxInflated+perByte*s.compressed) + " of memory for " +
				format.Bytes(s.compressed) + " of compressed data, or less",
			Got: format.Bytes(memory) + " (" + m.Size() + ")",
			Hint: "If it is right, save it without compression: -v6 in MATLAB, do_compression=False in " +
				"SciPy.",
		})
	case m.complex:
		s.unexpected("real numbers", "complex ones")
	case m.Class.Numeric():
		m.Float32 = s.numbers(*m)
	case m.Class == Char:
		m.Strings = s.rows(*m)
	case m.Class == Cell:
		m.Strings = s.cells(*m)
	default:
		s.unexpected("an array of numbers or text", "class %s", m.Class)
	}
	s.finish(m.end)
	if s.err == nil && s.compressed > 0 { // the checksum is behind the data
		if n, err := io.ReadFull(s.r, make([]byte, 1)); n > 0 {
			s.unexpected("the end of the compressed data", "more")
		} else if err != io.EOF {
			s.broken("the end of the compressed data", "", err)
		}
	}
}

func (s *stream) finish(end int64) {
	if s.pos != end {
		s.unexpected("the end of the variable", "%d more bytes", end-s.pos)
	}
}

// numberTypes are the keys in matrix.Types of the numeric types. The type need not be the class of
// the array: MATLAB stores doubles that are all small integers as such.
var numberTypes = map[uint32]string{
	kindInt8: "i1", kindUint8: "u1", kindInt16: "i2", kindUint16: "u2", kindInt32: "i4", kindUint32: "u4",
	kindSingle: "f4", kindDouble: "f8", kindInt64: "i8", kindUint64: "u8",
}

func (s *stream) numbers(m unread) []float32 {
	e := s.element(m.end)
	number, ok := matrix.Types[numberTypes[e.kind]]
	switch {
	case !ok:
		s.unexpected("numbers", "an element of type %d", e.kind)
	case e.size != int64(m.Count())*int64(number.Width):
		s.unexpected(fmt.Sprintf("%d numbers of %d bytes (%s)", m.Count(), number.Width, formatDims(m.Dims)),
			"%d bytes", e.size)
	case s.pos+e.size != m.end && s.pos+e.size+e.pad != m.end: // before memory is allocated for them
		s.unexpected("the end of the variable", "%d more bytes", m.end-s.pos-e.size-e.pad)
	}
	if s.err != nil {
		return nil
	}
	values := make([]float32, m.Count()) // where the file lies, the memory is not touched
	raw := make([]byte, min(e.size, bufferSize))
	for left := values; len(left) > 0 && s.err == nil; {
		part := left[:min(len(left), len(raw)/number.Width)]
		left, raw = left[len(part):], raw[:len(part)*number.Width]
		s.full(raw)
		if matrix.LittleEndian && e.kind == kindSingle {
			copy(matrix.Memory(part), raw)
		} else {
			matrix.Decode(part, raw, number.Width, func(b []byte) float32 {
				return float32(number.Number(b))
			})
		}
	}
	if s.err != nil {
		return nil
	}
	s.skipPadding(e, m.end)
	return values
}

func (s *stream) rows(m unread) []string {
	n := m.Dims[0]
	letters := []rune(s.text(m))
	if m.Count() == 0 || n == 1 {
		return []string{string(letters)}
	}
	if len(letters) != m.Count() {
		s.unexpected(fmt.Sprintf("%d letters (%s)", m.Count(), formatDims(m.Dims)), "%d", len(letters))
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		row := make([]rune, 0, len(letters)/n)
		for at := i; at < len(letters); at += n {
			row = append(row, letters[at])
		}
		texts[i] = strings.TrimRight(string(row), " \x00")
	}
	return texts
}

func (s *stream) text(m unread) string {
	want := fmt.Sprintf("text of at most %d bytes", maxText)
	kind, data := s.bytes(m.end, want, 0, maxText, kindInt8, kindUint8, kindUint16, kindUTF8, kindUTF16)
	width, unit := 1, func(b []byte) uint16 { return uint16(b[0]) }
	switch kind {
	case kindUTF8:
		return string(data)
	case kindUint16, kindUTF16:
		width, unit = 2, binary.LittleEndian.Uint16
	}
	return string(utf16.Decode(matrix.Decode(make([]uint16, len(data)/width), data, width, unit)))
}

func (s *stream) cells(m unread) (texts []string) {
	if left := m.end - s.pos; int64(m.Count()) > left/tagSize {
		s.unexpected(fmt.Sprintf("at most %d cells in the %d bytes left", left/tagSize, left), "%d (%s)",
			m.Count(), formatDims(m.Dims))
	}
	for len(texts) < m.Count() && s.err == nil {
		e := s.element(m.end)
		if e.kind != kindMatrix {
			s.unexpected("an array in a cell", "an element of type %d", e.kind)
		}
		text := ""
		if e.size > 0 {
			text = s.cell(s.pos + e.size)
		}
		texts = append(texts, text)
	}
	return texts
}

// cell reads the text in a cell that ends at end. An empty array of numbers is no text.
func (s *stream) cell(end int64) (text string) {
	switch m := s.header(end); {
	case m.Class == Char && (m.Count() == 0 || m.Count() == m.Dims[1]):
		text = s.text(m)
	case m.Class.Numeric() && m.Count() == 0:
		s.numbers(m)
	default:
		s.unexpected("text in a cell", "%s", m.Size())
	}
	s.finish(end)
	return text
}
