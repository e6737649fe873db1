package matlab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

const (
	maxDims = 64
	maxName = 4096 // MATLAB itself allows 63 letters

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

// widths are the bytes of a number of each type. The type need not be the class of the
// array: MATLAB stores doubles that are all small integers as such.
var widths = map[uint32]int{
	kindInt8: 1, kindUint8: 1, kindInt16: 2, kindUint16: 2, kindInt32: 4, kindUint32: 4,
	kindSingle: 4, kindDouble: 8, kindInt64: 8, kindUint64: 8,
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
	width, ok := widths[e.kind]
	if !ok {
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

// convert decodes numbers of a type.
func (s *stream) convert(dst []float32, src []byte, kind uint32) {
	little := s.order == binary.LittleEndian
	switch {
	case kind == kindDouble && little: // features: worth a fast loop
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case kind == kindSingle && little:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	default:
		width := widths[kind]
		for i := range dst {
			dst[i] = s.number(src[i*width:], kind)
		}
	}
}

func (s *stream) number(b []byte, kind uint32) float32 {
	switch kind {
	case kindInt8:
		return float32(int8(b[0]))
	case kindUint8:
		return float32(b[0])
	case kindInt16:
		return float32(int16(s.order.Uint16(b)))
	case kindUint16:
		return float32(s.order.Uint16(b))
	case kindInt32:
		return float32(int32(s.order.Uint32(b)))
	case kindUint32:
		return float32(s.order.Uint32(b))
	case kindSingle:
		return math.Float32frombits(s.order.Uint32(b))
	case kindInt64:
		return float32(int64(s.order.Uint64(b)))
	case kindUint64:
		return float32(s.order.Uint64(b))
	}
	return float32(math.Float64frombits(s.order.Uint64(b)))
}
