package matlab

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf16"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

// Write writes a MAT-file, uncompressed, of arrays such as [Read] returns: of
// numbers of any class, or of strings in the cells of a column or row. What is read
// of the file is what was written. The file appears whole or not at all. An array of
// another class, of dimensions that are not those of its data, or of a number that
// its class does not have, is an error; so is one of 2^31 bytes or more, for which
// the format has no room.
func Write(path string, arrays ...*Array) error {
	return atomicfile.Write(path, func(w io.Writer) error { return WriteTo(w, arrays...) })
}

// WriteTo is [Write] into w.
func WriteTo(w io.Writer, arrays ...*Array) error {
	head := fmt.Appendf(nil, "%-116s%8s", "MATLAB 5.0 MAT-file, written by lago-train", "")
	head = binary.LittleEndian.AppendUint16(head, 0x0100)
	if _, err := w.Write(append(head, "IM"...)); err != nil {
		return err
	}
	for _, a := range arrays {
		if err := a.write(w); err != nil {
			return fmt.Errorf("variable %s: %w", a.Name, err)
		}
	}
	return nil
}

// encoding is how the numbers of a class are stored.
type encoding struct {
	kind   uint32
	width  int64
	append func(b []byte, v float32) (more []byte, exact bool)
}

var encodings = map[Class]encoding{
	Double: {kindDouble, 8, func(b []byte, v float32) ([]byte, bool) {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v))), true
	}},
	Single: {kindSingle, 4, func(b []byte, v float32) ([]byte, bool) {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v)), true
	}},
	Int8:   {kindInt8, 1, appendInteger[int8]},
	Uint8:  {kindUint8, 1, appendInteger[uint8]},
	Int16:  {kindInt16, 2, appendInteger[int16]},
	Uint16: {kindUint16, 2, appendInteger[uint16]},
	Int32:  {kindInt32, 4, appendInteger[int32]},
	Uint32: {kindUint32, 4, appendInteger[uint32]},
	Int64:  {kindInt64, 8, appendInteger[int64]},
	Uint64: {kindUint64, 8, appendInteger[uint64]},
}

func appendInteger[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](b []byte, v float32) ([]byte, bool) {
	n := T(v)
	b, err := binary.Append(b, binary.LittleEndian, n)
	return b, err == nil && float32(n) == v
}

// write writes an array as an element of the file.
func (a *Array) write(w io.Writer) error {
	n, ok := elements(a.Dims)
	if a.Class == Cell {
		if len(a.Dims) < 2 || !ok || n != int64(len(a.Strings)) {
			return fmt.Errorf("%d strings in dimensions %s", len(a.Strings), formatDims(a.Dims))
		}
		var cells []byte
		for _, s := range a.Strings {
			cells = appendText(cells, s)
		}
		return a.writeMatrix(w, int64(len(cells)), func() error {
			_, err := w.Write(cells)
			return err
		})
	}
	e, known := encodings[a.Class]
	if !known {
		return fmt.Errorf("%w: numbers and cells of text can be written, not class %v", ErrUnsupported, a.Class)
	}
	if len(a.Dims) < 2 || !ok || n != int64(len(a.Float32)) {
		return fmt.Errorf("%d numbers in dimensions %s", len(a.Float32), formatDims(a.Dims))
	}
	size := n * e.width
	return a.writeMatrix(w, tagSize+size+padding(size), func() error { return a.writeNumbers(w, e, size) })
}

// writeMatrix writes the element of an array around size bytes of data.
func (a *Array) writeMatrix(w io.Writer, size int64, data func() error) error {
	header := appendHeader(nil, a.Class, a.Dims, a.Name)
	size += int64(len(header))
	if size > math.MaxInt32 {
		return fmt.Errorf("%d bytes, more than a variable of this format has", size)
	}
	if _, err := w.Write(append(appendTag(nil, kindMatrix, size), header...)); err != nil {
		return err
	}
	return data()
}

func (a *Array) writeNumbers(w io.Writer, e encoding, size int64) error {
	b := make([]byte, 0, bufferSize+tagSize)
	b = appendTag(b, e.kind, size)
	for i, v := range a.Float32 {
		var exact bool
		if b, exact = e.append(b, v); !exact {
			return fmt.Errorf("number %d is %v, which is none of class %v", i, v, a.Class)
		}
		if len(b) >= bufferSize {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(append(b, make([]byte, padding(size))...))
	return err
}

// appendHeader appends what comes before the data of an array: flags, dimensions
// and name.
func appendHeader(b []byte, class Class, dims []int, name string) []byte {
	flags := binary.LittleEndian.AppendUint32(nil, uint32(class))
	b = appendElement(b, kindUint32, binary.LittleEndian.AppendUint32(flags, 0))
	var sizes []byte
	for _, n := range dims {
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(n))
	}
	b = appendElement(b, kindInt32, sizes)
	return appendElement(b, kindInt8, []byte(name))
}

// appendText appends a char array of one row, which is what a cell holds.
func appendText(b []byte, s string) []byte {
	units := utf16.Encode([]rune(s))
	var text []byte
	for _, u := range units {
		text = binary.LittleEndian.AppendUint16(text, u)
	}
	return appendElement(b, kindMatrix, appendElement(appendHeader(nil, Char, []int{1, len(units)}, ""), kindUint16, text))
}

// appendElement appends a tag, data and what fills them up to 8 bytes.
func appendElement(b []byte, kind uint32, data []byte) []byte {
	size := int64(len(data))
	return append(append(appendTag(b, kind, size), data...), make([]byte, padding(size))...)
}

func appendTag(b []byte, kind uint32, size int64) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, kind), uint32(size))
}

// padding is how many bytes fill data up to 8.
func padding(size int64) int64 { return -size & 7 }
