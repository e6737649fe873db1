package matlab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"
)

const (
	maxDims  = 64
	maxName  = 4096     // MATLAB itself allows 63 letters
	maxDepth = 16       // of cell arrays within each other
	maxText  = 64 << 20 // bytes of text of a variable

	flagComplex = 0x0800
	flagLogical = 0x0200
)

// errUnsupported is the cause of an error about a variable that is valid as far as it
// was read, but of a kind that this package does not decode.
var errUnsupported = errors.New("this kind of variable is not supported")

// matrix is an array whose header has been read and whose data have not.
type matrix struct {
	Header
	complex bool
	end     int64 // of the array in its stream
}

// header reads what precedes the data of an array: flags, dimensions and name.
func (s *stream) header(end int64) (matrix, error) {
	m := matrix{end: end}
	data, err := s.part(end, "array flags in 8 bytes of type 6", 8, 8, kindUint32)
	if err != nil {
		return m, err
	}
	flags := s.order.Uint32(data)
	m.complex = flags&flagComplex != 0
	m.Class = Class(flags & 0xff)
	switch {
	case m.Class > opaque:
		m.Class = unknown
	case m.Class == Uint8 && flags&flagLogical != 0:
		m.Class = Logical
	}
	if m.Class != opaque { // these have no dimensions
		data, err := s.part(end, fmt.Sprintf("2 to %d dimensions of 4 bytes each", maxDims), 8, 4*maxDims, kindInt32, kindUint32)
		if err != nil {
			return m, err
		}
		m.Dims = make([]int, len(data)/4)
		for i := range m.Dims {
			d := int32(s.order.Uint32(data[4*i:]))
			if d < 0 {
				return m, s.unexpected("dimensions of 0 or more", "%d", d)
			}
			m.Dims[i] = int(d)
		}
	}
	name, err := s.part(end, fmt.Sprintf("the name of a variable, of at most %d bytes", maxName), 0, maxName, kindInt8, kindUint8, kindUTF8)
	m.Name = string(name)
	if s.variable == "" {
		s.variable = m.Name // arrays in its cells have no names
	}
	return m, err
}

// part reads an element of one of the kinds, of low to high bytes.
func (s *stream) part(end int64, want string, low, high int64, kinds ...uint32) ([]byte, error) {
	e, err := s.element(end)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(kinds, e.kind) || e.size < low || e.size > high {
		return nil, s.unexpected(want, "%d bytes of type %d", e.size, e.kind)
	}
	return s.bytes(e, end)
}

// count returns the number of elements that the dimensions declare.
func (s *stream) count(m matrix) (int64, error) {
	n, ok := elements(m.Dims)
	if !ok {
		return 0, s.unexpected(fmt.Sprintf("at most %d elements", maxElements), "dimensions %s", formatDims(m.Dims))
	}
	return n, nil
}

// decode reads the data of a variable.
func (v *variable) decode() (*Array, error) {
	a := &Array{Header: v.Header}
	var err error
	switch {
	case v.complex:
		return nil, v.unsupported("real numbers", "complex ones")
	case v.Class.numeric():
		a.Float32, err = v.numbers(v.matrix)
	case v.Class == Char:
		a.Strings, err = v.text(v.matrix)
	case v.Class == Cell:
		a.Strings, err = v.cells(v.matrix, nil, 1)
	default:
		return nil, v.unsupported("an array of numbers or text", "class "+v.Class.String())
	}
	if err == nil {
		err = v.finish(v.end)
	}
	if err == nil {
		err = v.finishCompressed()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (s *stream) unsupported(want, got string) error {
	e := s.unexpected(want, "%s", got)
	e.Err = errUnsupported
	return e
}

// numberTypes are the numeric types: their widths in bytes, and how they are read. The type
// need not be the class of the array: MATLAB stores doubles that are all small integers as
// such.
var numberTypes = map[uint32]struct {
	width int
	read  func(o binary.ByteOrder, b []byte) float32
}{
	kindInt8:   {1, func(_ binary.ByteOrder, b []byte) float32 { return float32(int8(b[0])) }},
	kindUint8:  {1, func(_ binary.ByteOrder, b []byte) float32 { return float32(b[0]) }},
	kindInt16:  {2, func(o binary.ByteOrder, b []byte) float32 { return float32(int16(o.Uint16(b))) }},
	kindUint16: {2, func(o binary.ByteOrder, b []byte) float32 { return float32(o.Uint16(b)) }},
	kindInt32:  {4, func(o binary.ByteOrder, b []byte) float32 { return float32(int32(o.Uint32(b))) }},
	kindUint32: {4, func(o binary.ByteOrder, b []byte) float32 { return float32(o.Uint32(b)) }},
	kindSingle: {4, func(o binary.ByteOrder, b []byte) float32 { return math.Float32frombits(o.Uint32(b)) }},
	kindDouble: {8, func(o binary.ByteOrder, b []byte) float32 { return float32(math.Float64frombits(o.Uint64(b))) }},
	kindInt64:  {8, func(o binary.ByteOrder, b []byte) float32 { return float32(int64(o.Uint64(b))) }},
	kindUint64: {8, func(o binary.ByteOrder, b []byte) float32 { return float32(o.Uint64(b)) }},
}

// numbers reads the data of a real numeric array.
func (s *stream) numbers(m matrix) ([]float32, error) {
	n, err := s.count(m)
	if err != nil {
		return nil, err
	}
	e, err := s.element(m.end)
	if err != nil {
		return nil, err
	}
	width := numberTypes[e.kind].width
	if width == 0 {
		return nil, s.unexpected("numbers", "an element of type %d", e.kind)
	}
	if e.size != n*int64(width) {
		return nil, s.unexpected(fmt.Sprintf("%d numbers of %d bytes (%s)", n, width, formatDims(m.Dims)), "%d bytes", e.size)
	}
	if err := s.prove(e.size); err != nil {
		return nil, err
	}
	values := make([]float32, n)
	buffer := make([]byte, min(len(values)*width, bufferSize))
	for rest := values; len(rest) > 0; {
		k := min(len(rest), len(buffer)/width)
		if err := s.full(buffer[:k*width]); err != nil {
			return nil, err
		}
		s.convert(rest[:k], buffer, e.kind)
		rest = rest[k:]
	}
	return values, s.skipPadding(e, m.end)
}

// convert decodes numbers of a type. Features of little-endian files are worth fast loops.
func (s *stream) convert(dst []float32, src []byte, kind uint32) {
	little := s.order == binary.LittleEndian
	switch {
	case kind == kindDouble && little:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case kind == kindSingle && little:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	default:
		t := numberTypes[kind]
		for i := range dst {
			dst[i] = t.read(s.order, src[i*t.width:])
		}
	}
}

// text reads the data of a char array, one string per row. An empty array is one empty
// string.
func (s *stream) text(m matrix) ([]string, error) {
	n, err := s.count(m)
	if err != nil {
		return nil, err
	}
	if len(m.Dims) != 2 {
		return nil, s.unsupported("text of two dimensions", formatDims(m.Dims))
	}
	e, err := s.element(m.end)
	if err != nil {
		return nil, err
	}
	if s.textSize += e.size; s.textSize > maxText {
		return nil, s.unexpected(fmt.Sprintf("at most %d bytes of text", maxText), "more")
	}
	data, err := s.bytes(e, m.end)
	if err != nil {
		return nil, err
	}
	chars, err := s.chars(e.kind, data)
	if err != nil {
		return nil, err
	}
	if int64(len(chars)) != n {
		units := utf16.Encode(chars) // MATLAB counts a character beyond the first 65536 as two
		chars = chars[:0]
		for _, u := range units {
			chars = append(chars, rune(u))
		}
	}
	if int64(len(chars)) != n {
		return nil, s.unexpected(fmt.Sprintf("%d characters (%s)", n, formatDims(m.Dims)), "%d", len(chars))
	}
	if n == 0 {
		return []string{""}, nil
	}
	rows := make([]string, m.Dims[0])
	for i := range rows {
		units := make([]uint16, 0, m.Dims[1])
		for j := i; j < len(chars); j += len(rows) {
			if utf16.IsSurrogate(chars[j]) { // half of a pair
				units = append(units, uint16(chars[j]))
			} else {
				units = utf16.AppendRune(units, chars[j])
			}
		}
		rows[i] = string(utf16.Decode(units))
	}
	return rows, nil
}

// chars decodes the characters of an element. Of those stored in 16-bit units, a
// surrogate pair stays two runes.
func (s *stream) chars(kind uint32, data []byte) ([]rune, error) {
	width := map[uint32]int{kindInt8: 1, kindUint8: 1, kindUint16: 2, kindUTF16: 2, kindUTF32: 4}[kind]
	switch {
	case kind == kindUTF8:
		return []rune(string(data)), nil
	case width == 0:
		return nil, s.unexpected("text", "an element of type %d", kind)
	case len(data)%width != 0:
		return nil, s.unexpected(fmt.Sprintf("characters of %d bytes", width), "%d bytes", len(data))
	}
	chars := make([]rune, len(data)/width)
	for i := range chars {
		switch c := data[i*width:]; width {
		case 1:
			chars[i] = rune(c[0])
		case 2:
			chars[i] = rune(s.order.Uint16(c))
		case 4:
			chars[i] = rune(s.order.Uint32(c))
		}
	}
	return chars, nil
}

// cells appends the strings in a cell array.
func (s *stream) cells(m matrix, strings []string, depth int) ([]string, error) {
	if depth > maxDepth {
		return nil, s.unexpected(fmt.Sprintf("cell arrays at most %d deep", maxDepth), "a deeper one")
	}
	n, err := s.count(m)
	if err != nil {
		return nil, err
	}
	if left := m.end - s.pos; n > left/tagSize {
		return nil, s.unexpected(fmt.Sprintf("at most %d cells in the %d bytes left", left/tagSize, left), "%d (%s)", n, formatDims(m.Dims))
	}
	for range n {
		e, err := s.element(m.end)
		if err != nil {
			return nil, err
		}
		if e.kind != kindMatrix {
			return nil, s.unexpected("an array in a cell", "an element of type %d", e.kind)
		}
		if e.size == 0 {
			strings = append(strings, "")
			continue
		}
		if strings, err = s.cell(s.pos+e.size, strings, depth); err != nil {
			return nil, err
		}
	}
	return strings, nil
}

// cell appends the strings in a cell that ends at end.
func (s *stream) cell(end int64, strings []string, depth int) ([]string, error) {
	m, err := s.header(end)
	if err != nil {
		return nil, err
	}
	n, _ := elements(m.Dims)
	switch {
	case m.Class == Char:
		var rows []string
		rows, err = s.text(m)
		strings = append(strings, rows...)
	case m.Class == Cell:
		strings, err = s.cells(m, strings, depth+1)
		if n == 0 {
			strings = append(strings, "")
		}
	case m.Class.numeric() && !m.complex && n == 0:
		_, err = s.numbers(m)
		strings = append(strings, "")
	default:
		return nil, s.unsupported("text in a cell", m.Header.String())
	}
	if err == nil {
		err = s.finish(end)
	}
	return strings, err
}
