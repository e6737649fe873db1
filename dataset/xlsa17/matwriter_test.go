package xlsa17

import (
	"bytes"
	"os"
	"testing"

	"github.com/lago-train/lago-train/dataset/matlab"
)

func doubles(name string, rows, cols int, numbers ...float64) *matlab.Array {
	a := &matlab.Array{Name: name, Class: matlab.Double, Dims: []int{rows, cols}, Float32: make([]float32, len(numbers))}
	for i, v := range numbers {
		a.Float32[i] = float32(v)
	}
	return a
}

func column(name string, numbers ...float64) *matlab.Array {
	return doubles(name, len(numbers), 1, numbers...)
}

func cells(name string, strings ...string) *matlab.Array {
	return &matlab.Array{Name: name, Class: matlab.Cell, Dims: []int{len(strings), 1}, Strings: strings}
}

func writeMat(t testing.TB, path string, vars ...*matlab.Array) {
	t.Helper()
	var content bytes.Buffer
	if err := matlab.WriteTo(&content, vars...); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// declare changes the class of a variable in a MAT-file, and not its data.
func declare(t testing.TB, path, variable string, class matlab.Class) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Before the name are, with a tag of 8 bytes each, the class and other flags in
	// 8 bytes, two dimensions in 8, and the tag of the name.
	content[bytes.Index(content, []byte(variable))-8-16-8] = byte(class)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}
