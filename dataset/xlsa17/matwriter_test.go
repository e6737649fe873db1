package xlsa17

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/lago-train/lago-train/dataset/matlab"
)

func doubles(name string, rows, cols int, numbers ...float64) *matlab.Array {
	a := &matlab.Array{Header: matlab.Header{Name: name, Class: matlab.Double, Dims: []int{rows, cols}}}
	for _, v := range numbers {
		a.Float32 = append(a.Float32, float32(v))
	}
	return a
}

func column(name string, numbers ...float64) *matlab.Array {
	return doubles(name, len(numbers), 1, numbers...)
}

func cells(name string, strings ...string) *matlab.Array {
	return &matlab.Array{Header: matlab.Header{Name: name, Class: matlab.Cell, Dims: []int{len(strings), 1}}, Strings: strings}
}

// writeMat writes a MAT-file of numbers, stored as float32, and cells of ASCII text.
func writeMat(t testing.TB, path string, vars ...*matlab.Array) {
	t.Helper()
	const int8s, int32s, uint32s, singles, matrix, utf8s = 1, 5, 6, 7, 14, 16 // types of elements
	element := func(kind uint32, parts ...[]byte) []byte {
		data := bytes.Join(parts, nil)
		b := binary.LittleEndian.AppendUint32(nil, kind)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
		return append(b, make([]byte, -len(data)&7)...)
	}
	array := func(h matlab.Header, data ...[]byte) []byte {
		var dims []byte
		for _, n := range h.Dims {
			dims = binary.LittleEndian.AppendUint32(dims, uint32(n))
		}
		flags := element(uint32s, []byte{byte(h.Class), 0, 0, 0, 0, 0, 0, 0})
		return element(matrix, flags, element(int32s, dims), element(int8s, []byte(h.Name)), bytes.Join(data, nil))
	}
	content := append(make([]byte, 124), 0, 1, 'I', 'M')
	copy(content, "MATLAB 5.0 MAT-file, made by a test")
	for _, v := range vars {
		var data []byte
		if v.Class == matlab.Cell {
			for _, s := range v.Strings {
				data = append(data, array(matlab.Header{Class: matlab.Char, Dims: []int{1, len(s)}}, element(utf8s, []byte(s)))...)
			}
		} else {
			var numbers []byte
			for _, x := range v.Float32 {
				numbers = binary.LittleEndian.AppendUint32(numbers, math.Float32bits(x))
			}
			data = element(singles, numbers)
		}
		content = append(content, array(v.Header, data)...)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}
