package matlab

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"testing"
)

// writer makes MAT-files for tests, well-formed or not.
type writer struct{ order byteOrder }

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var (
	little = writer{binary.LittleEndian}
	big    = writer{binary.BigEndian}
)

// file puts elements behind a header.
func (w writer) file(elements ...[]byte) []byte {
	head := append([]byte("MATLAB 5.0 MAT-file, made by a test"), bytes.Repeat([]byte(" "), headerSize)...)[:124]
	head = w.order.AppendUint16(head, 0x0100)
	head = w.order.AppendUint16(head, 'M'<<8|'I')
	return append(head, bytes.Join(elements, nil)...)
}

// compressed packs an element.
func (w writer) compressed(element []byte) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write(element)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return w.tagged(kindCompressed, uint32(packed.Len()), packed.Bytes())
}

// element makes a data element, a small one where the data fit.
func (w writer) element(kind uint32, data []byte) []byte {
	if n := uint32(len(data)); n > 0 && n <= 4 {
		return append(w.order.AppendUint32(nil, n<<16|kind), pad(data, 4)...)
	}
	return w.tagged(kind, uint32(len(data)), pad(data, 8))
}

// tagged puts any tag before data.
func (w writer) tagged(kind, size uint32, data []byte) []byte {
	tag := w.order.AppendUint32(w.order.AppendUint32(nil, kind), size)
	return append(tag, data...)
}

func pad(data []byte, to int) []byte {
	return append(bytes.Clone(data), make([]byte, -len(data)&(to-1))...)
}

// array makes a matrix element of data elements; flags are added to the class.
func (w writer) array(name string, class Class, flags uint32, dims []int, data ...[]byte) []byte {
	var d []byte
	for _, n := range dims {
		d = w.order.AppendUint32(d, uint32(n))
	}
	body := bytes.Join([][]byte{
		w.element(kindUint32, w.order.AppendUint32(w.order.AppendUint32(nil, flags|uint32(class)), 0)),
		w.element(kindInt32, d),
		w.element(kindInt8, []byte(name)),
		bytes.Join(data, nil),
	}, nil)
	return w.tagged(kindMatrix, uint32(len(body)), body)
}

// doubles makes a double array of values stored as such.
func (w writer) doubles(name string, dims []int, values ...float64) []byte {
	return w.array(name, Double, 0, dims, w.numbers(kindDouble, values...))
}

// numbers makes a data element of values stored in any numeric type.
func (w writer) numbers(kind uint32, values ...float64) []byte {
	var data []byte
	for _, v := range values {
		switch kind {
		case kindInt8, kindUint8:
			data = append(data, byte(int64(v)))
		case kindInt16, kindUint16:
			data = w.order.AppendUint16(data, uint16(int64(v)))
		case kindInt32, kindUint32:
			data = w.order.AppendUint32(data, uint32(int64(v)))
		case kindInt64, kindUint64:
			data = w.order.AppendUint64(data, uint64(int64(v)))
		case kindSingle:
			data = w.order.AppendUint32(data, math.Float32bits(float32(v)))
		case kindDouble:
			data = w.order.AppendUint64(data, math.Float64bits(v))
		}
	}
	return w.element(kind, data)
}

// char makes a char array of 16-bit units, as MATLAB writes them.
func (w writer) char(name string, dims []int, units ...uint16) []byte {
	var data []byte
	for _, u := range units {
		data = w.order.AppendUint16(data, u)
	}
	return w.array(name, Char, 0, dims, w.element(kindUint16, data))
}

// word makes a char array of one row of ASCII text.
func (w writer) word(name, text string) []byte {
	return w.array(name, Char, 0, []int{1, len(text)}, w.element(kindUTF8, []byte(text)))
}

// read reads variables of a file in memory.
func read(data []byte, want ...string) (map[string]*Array, error) {
	f, err := openFile(bytes.NewReader(data), int64(len(data)), "test.mat")
	if err != nil {
		return nil, err
	}
	return f.read(want)
}

// list lists the variables of a file in memory.
func list(data []byte) ([]Header, error) {
	f, err := openFile(bytes.NewReader(data), int64(len(data)), "test.mat")
	if err != nil {
		return nil, err
	}
	return f.list()
}

// mustRead reads the variable x.
func mustRead(t *testing.T, data []byte) *Array {
	t.Helper()
	arrays, err := read(data, "x")
	if err != nil {
		t.Fatal(err)
	}
	return arrays["x"]
}
