package matlab

import "fmt"

const (
	maxDims = 64
	maxName = 4096 // MATLAB itself has 63 letters at most

	flagComplex = 0x0800
	flagLogical = 0x0200
)

// matrix is an array of which the header has been read, and the data not.
type matrix struct {
	Header
	complex bool
	end     int64 // where it ends in its stream
}

// header reads what comes before the data of every array: flags, dimensions and
// name.
func (s *stream) header(end int64) (matrix, error) {
	m := matrix{end: end}
	if err := s.flags(&m); err != nil {
		return m, err
	}
	if m.Class != Opaque { // these have no dimensions
		if err := s.dims(&m); err != nil {
			return m, err
		}
	}
	e, err := s.element(end)
	if err != nil {
		return m, err
	}
	if e.kind != kindInt8 && e.kind != kindUint8 && e.kind != kindUTF8 || e.size > maxName {
		return m, s.unexpected("the name of a variable", "%d bytes of type %d", e.size, e.kind)
	}
	name, err := s.bytes(e, end)
	m.Name = string(name)
	if s.variable == "" {
		s.variable = m.Name // for the arrays in its cells as well, which have no names
	}
	return m, err
}

func (s *stream) flags(m *matrix) error {
	e, err := s.element(m.end)
	if err != nil {
		return err
	}
	if e.kind != kindUint32 || e.size != 8 {
		return s.unexpected("array flags in 8 bytes of type 6", "%d bytes of type %d", e.size, e.kind)
	}
	data, err := s.bytes(e, m.end)
	if err != nil {
		return err
	}
	flags := s.order.Uint32(data)
	m.Class = Class(flags & 0xff)
	if m.Class > Opaque {
		m.Class = Unknown
	}
	if m.Class == Uint8 && flags&flagLogical != 0 {
		m.Class = Logical
	}
	m.complex = flags&flagComplex != 0
	return nil
}

func (s *stream) dims(m *matrix) error {
	e, err := s.element(m.end)
	if err != nil {
		return err
	}
	if e.kind != kindInt32 && e.kind != kindUint32 || e.size%4 != 0 || e.size < 8 || e.size > 4*maxDims {
		return s.unexpected(fmt.Sprintf("2 to %d dimensions of 4 bytes each", maxDims), "%d bytes of type %d", e.size, e.kind)
	}
	data, err := s.bytes(e, m.end)
	if err != nil {
		return err
	}
	m.Dims = make([]int, e.size/4)
	for i := range m.Dims {
		d := int32(s.order.Uint32(data[4*i:]))
		if d < 0 {
			return s.unexpected("dimensions of 0 or more", "%d", d)
		}
		m.Dims[i] = int(d)
	}
	return nil
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
	a := &Array{Name: v.Name, Dims: v.Dims, Class: v.Class}
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
		err = v.finishInflating()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (s *stream) unsupported(want, got string) *Error {
	e := s.unexpected(want, "%s", got)
	e.Err = ErrUnsupported
	return e
}
