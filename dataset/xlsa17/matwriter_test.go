package xlsa17

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
)

// A mat variable is what a test writes into a MAT-file: numbers of a storage
// type, or a cell array of strings.
type matVar struct {
	name       string
	rows, cols int
	class      byte // mx class, as in matDouble
	storage    byte // mi type, as in miDouble
	numbers    []float64
	strings    []string
}

// Codes of the MAT-file format, level 5.
const (
	miInt8, miUint8, miInt16, miUint16, miInt32, miUint32 byte = 1, 2, 3, 4, 5, 6
	miSingle, miDouble, miInt64, miUint64, miMatrix       byte = 7, 9, 12, 13, 14

	matCell, matChar, matSparse              byte = 1, 4, 5
	matDouble, matSingle                     byte = 6, 7
	matInt8, matUint8, matInt16, matUint16   byte = 8, 9, 10, 11
	matInt32, matUint32, matInt64, matUint64 byte = 12, 13, 14, 15
)

func doubles(name string, rows, cols int, numbers ...float64) matVar {
	return matVar{name: name, rows: rows, cols: cols, class: matDouble, storage: miDouble, numbers: numbers}
}

func column(name string, numbers ...float64) matVar {
	return doubles(name, len(numbers), 1, numbers...)
}

func cells(name string, strings ...string) matVar {
	return matVar{name: name, rows: len(strings), cols: 1, class: matCell, strings: strings}
}

func writeMat(t testing.TB, path string, vars ...matVar) {
	t.Helper()
	head := make([]byte, 128)
	copy(head, "MATLAB 5.0 MAT-file, written by a test")
	binary.LittleEndian.PutUint16(head[124:], 0x0100)
	copy(head[126:], "IM")
	for _, v := range vars {
		head = append(head, element(miMatrix, v.encode())...)
	}
	if err := os.WriteFile(path, head, 0o666); err != nil {
		t.Fatal(err)
	}
}

func (v matVar) encode() []byte {
	b := element(miUint32, encodeNumbers(miUint32, float64(v.class), 0))
	b = append(b, element(miInt32, encodeNumbers(miInt32, float64(v.rows), float64(v.cols)))...)
	b = append(b, element(miInt8, []byte(v.name))...)
	if v.class != matCell {
		return append(b, element(v.storage, encodeNumbers(v.storage, v.numbers...))...)
	}
	for _, s := range v.strings {
		text := matVar{rows: 1, cols: len(s), class: matChar, storage: miUint16}
		for _, c := range []byte(s) {
			text.numbers = append(text.numbers, float64(c))
		}
		b = append(b, element(miMatrix, text.encode())...)
	}
	return b
}

// element is a tag and data, padded to 8 bytes.
func element(code byte, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(code))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, (8-len(data)%8)%8)...)
}

func encodeNumbers(code byte, numbers ...float64) []byte {
	var b bytes.Buffer
	for _, x := range numbers {
		var v any
		switch code {
		case miInt8:
			v = int8(x)
		case miUint8:
			v = uint8(x)
		case miInt16:
			v = int16(x)
		case miUint16:
			v = uint16(x)
		case miInt32:
			v = int32(x)
		case miUint32:
			v = uint32(x)
		case miInt64:
			v = int64(x)
		case miUint64:
			v = uint64(x)
		case miSingle:
			v = float32(x)
		case miDouble:
			v = x
		}
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}
