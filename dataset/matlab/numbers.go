package matlab

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// storage is how the numbers of an array lie in the file, which need not be its
// class: MATLAB stores doubles that are all small integers as such.
type storage struct {
	name    string
	width   int                             // bytes of a number
	convert func(dst []float32, src []byte) // from little-endian bytes
}

var storages = map[uint32]storage{
	kindInt8: {"int8", 1, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int8(src[i]))
		}
	}},
	kindUint8: {"uint8", 1, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(src[i])
		}
	}},
	kindInt16: {"int16", 2, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int16(binary.LittleEndian.Uint16(src[2*i:])))
		}
	}},
	kindUint16: {"uint16", 2, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(binary.LittleEndian.Uint16(src[2*i:]))
		}
	}},
	kindInt32: {"int32", 4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	}},
	kindUint32: {"uint32", 4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(binary.LittleEndian.Uint32(src[4*i:]))
		}
	}},
	kindSingle: {"single", 4, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	}},
	kindDouble: {"double", 8, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	}},
	kindInt64: {"int64", 8, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(int64(binary.LittleEndian.Uint64(src[8*i:])))
		}
	}},
	kindUint64: {"uint64", 8, func(dst []float32, src []byte) {
		for i := range dst {
			dst[i] = float32(binary.LittleEndian.Uint64(src[8*i:]))
		}
	}},
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
	st, ok := storages[e.kind]
	if !ok {
		return nil, s.unexpected("numbers", "an element of type %d", e.kind)
	}
	if e.size != n*int64(st.width) {
		return nil, s.unexpected(fmt.Sprintf("%d numbers of %d bytes (%s)", n, st.width, formatDims(m.Dims)),
			"%d bytes of %s", e.size, st.name)
	}
	if err := s.prove(e.size); err != nil {
		return nil, err
	}
	values := make([]float32, n)
	if err := s.convert(values, st); err != nil {
		return nil, err
	}
	return values, s.skipPadding(e, m.end)
}

func (s *stream) convert(values []float32, st storage) error {
	buf := make([]byte, min(len(values)*st.width, bufferSize))
	for len(values) > 0 {
		n := min(len(values), len(buf)/st.width)
		chunk := buf[:n*st.width]
		if err := s.full(chunk); err != nil {
			return err
		}
		if s.order == binary.BigEndian {
			swapBytes(chunk, st.width)
		}
		st.convert(values[:n], chunk)
		values = values[n:]
	}
	return nil
}

// swapBytes turns the byte order of numbers of the given width around.
func swapBytes(data []byte, width int) {
	for number := range slices.Chunk(data, width) {
		slices.Reverse(number)
	}
}
