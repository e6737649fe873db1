// Package matfile makes MAT-files for tests, well-formed or not, from data elements. Types
// of elements have the numbers of the format, as in package matlab.
package matfile

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"math"
)

var order = binary.LittleEndian

// Types of elements.
const (
	Int8       = 1
	Uint8      = 2
	Int32      = 5
	Uint32     = 6
	Single     = 7
	Double     = 9
	Matrix     = 14
	Compressed = 15
	UTF8       = 16

	uint16Type = 4

	doubleClass uint8 = 6 // the class of arrays of doubles
	charClass   uint8 = 4
)

// widths are the bytes of the numbers of a type, of others 8.
var widths = map[uint32]int{Int8: 1, Uint8: 1, 3: 2, uint16Type: 2, Int32: 4, Uint32: 4, Single: 4}

// File puts elements behind a header.
func File(elements ...[]byte) []byte {
	head := append([]byte("MATLAB 5.0 MAT-file, made by a test"), bytes.Repeat([]byte(" "), 128)...)[:124]
	head = order.AppendUint16(head, 0x0100)
	head = order.AppendUint16(head, 'M'<<8|'I')
	return append(head, bytes.Join(elements, nil)...)
}

// Compress packs an element.
func Compress(element []byte) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(element)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return Tagged(Compressed, uint32(packed.Len()), packed.Bytes())
}

// Element makes a data element, a small one where the data fit.
func Element(kind uint32, data []byte) []byte {
	pad := func(to int) []byte { return append(bytes.Clone(data), make([]byte, -len(data)&(to-1))...) }
	if n := uint32(len(data)); n > 0 && n <= 4 {
		return append(order.AppendUint32(nil, n<<16|kind), pad(4)...)
	}
	return Tagged(kind, uint32(len(data)), pad(8))
}

// Tagged puts any tag before data.
func Tagged(kind, size uint32, data []byte) []byte {
	tag := order.AppendUint32(order.AppendUint32(nil, kind), size)
	return append(tag, data...)
}

// Array makes a matrix element of data elements. class is a matlab.Class; flags are added to it.
func Array[Class ~uint8](name string, class Class, flags uint32, dims []int, data ...[]byte) []byte {
	var d []byte
	for _, n := range dims {
		d = order.AppendUint32(d, uint32(n))
	}
	body := bytes.Join([][]byte{
		Element(Uint32, order.AppendUint32(order.AppendUint32(nil, flags|uint32(class)), 0)),
		Element(Int32, d),
		Element(Int8, []byte(name)),
		bytes.Join(data, nil),
	}, nil)
	return Tagged(Matrix, uint32(len(body)), body)
}

// Doubles makes a double array of values stored as such.
func Doubles(name string, dims []int, values ...float64) []byte {
	return Array(name, doubleClass, 0, dims, Numbers(Double, values...))
}

// Numbers makes a data element of values stored in any numeric type.
func Numbers(kind uint32, values ...float64) []byte {
	var data []byte
	for _, v := range values {
		bits := uint64(int64(v))
		switch kind {
		case Single:
			bits = uint64(math.Float32bits(float32(v)))
		case Double:
			bits = math.Float64bits(v)
		}
		data = append(data, order.AppendUint64(nil, bits)[:cmp.Or(widths[kind], 8)]...)
	}
	return Element(kind, data)
}

// Char makes a char array of 16-bit units, as MATLAB writes them.
func Char(name string, dims []int, units ...uint16) []byte {
	var data []byte
	for _, u := range units {
		data = order.AppendUint16(data, u)
	}
	return Array(name, charClass, 0, dims, Element(uint16Type, data))
}

// Word makes a char array of one row of ASCII text.
func Word(name, text string) []byte {
	return Array(name, charClass, 0, []int{1, len(text)}, Element(UTF8, []byte(text)))
}
