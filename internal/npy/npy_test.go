package npy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
)

// arrayOf is a file with a header of version 1, and values.
func arrayOf(header string, values ...any) []byte {
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b
}

// dict is a header as NumPy writes it.
func dict(kind, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }     \n", kind, shape)
}

// readAll returns shape and values of a matrix.
func readAll(ctx context.Context, path string) (rows, cols int, values []float32, err error) {
	m, err := Open(ctx, path)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = m.Close() }()
	values = make([]float32, m.Rows*m.Cols)
	return m.Rows, m.Cols, values, m.Read(values)
}

// fiveByThree is the array that testdata/make.py stores.
var fiveByThree = []float32{0, 1, -2.5, 3.25, 4, 5, 6, -7.125, 8, 9, 10, 11.5, 0.5, -0.25, 2048}

// The files were written by NumPy 1.24.
func TestReadFilesOfNumPy(t *testing.T) {
	for _, name := range []string{"f2.npy", "f4.npy", "f8.npy", "version-2.npy", "version-3.npy", "big-endian-fortran.npy"} {
		rows, cols, values, err := readAll(t.Context(), filepath.Join("testdata", name))
		if err != nil || rows != 5 || cols != 3 || !slices.Equal(values, fiveByThree) {
			t.Errorf("%s: %d x %d, %v: %v", name, rows, cols, values, err)
		}
	}
}

func write(t testkit.TB, dir, name string, content []byte) string {
	return testkit.Write(t, dir, name, string(content))
}

func TestHeadersOfOtherWriters(t *testing.T) {
	for _, header := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (1L, 2L)}",
		"{'shape':(1,2),'fortran_order':False,'descr':'<f4'}",
		"  {\"descr\" : \"<f4\" ,\n'shape': ( 1 , 2, ), 'fortran_order': False\t}  ",
	} {
		rows, cols, values, err := readAll(t.Context(), write(t, t.TempDir(), "x.npy", arrayOf(header, float32(5), float32(6))))
		if err != nil || rows != 1 || cols != 2 || !slices.Equal(values, []float32{5, 6}) {
			t.Errorf("%s: %d x %d, %v: %v", header, rows, cols, values, err)
		}
	}
}

// What WriteHeader and matrix.Write write is read again.
func TestWriteProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.IntRange(1, 300).Draw(t, "cols")
		want := make([]float32, rows*cols)
		for i := range want {
			want[i] = float32(i) / 3
		}
		var b bytes.Buffer
		testkit.NoError(t, cmp.Or(WriteHeader(&b, rows, cols), matrix.Write(&b, want)))
		if start := b.Len() - 4*len(want); start%64 != 0 {
			t.Fatalf("the values begin at byte %d", start)
		}
		gotRows, gotCols, got, err := readAll(context.Background(), write(t, dir, "x.npy", b.Bytes()))
		if err != nil || gotRows != rows || gotCols != cols || !slices.Equal(got, want) {
			t.Fatalf("%d x %d are read as %d x %d: %v", rows, cols, gotRows, gotCols, err)
		}
	})
}

func TestErrors(t *testing.T) {
	six := []float32{1, 2, 3, 4, 5, 6}
	sound := arrayOf(dict("<f4", "(2, 3)"), six)
	long := bytes.Clone(sound)
	long[len(magic)] = 2 // a length of four bytes, the last two from the text
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, `header: expected a NumPy array, as numpy.save writes it, found an empty file`},
		{"archive", []byte("PK\x03\x04----------"), "header: expected a NumPy array, as numpy.save writes it, found a ZIP archive"},
		{"version", []byte(magic + "\x09\x00\x00\x00\x00\x00"), "header: expected version 1, 2 or 3 of the format, found 9"},
		{"header of a gigabyte", long, "header: expected at most 65536 bytes"},
		{"no shape", arrayOf("{'descr': '<f4', 'fortran_order': False}", six), "expected the entries descr, fortran_order and shape"},
		{"a key twice", arrayOf("{'shape': (1, 6), "+dict("<f4", "(2, 3)")[1:], six), "each once, and nothing else"},
		{"size beyond 64 bits", arrayOf(dict("<f4", "(99999999999999999999, 2)"), six), "expected a size below 2^63 in the shape, found 99999999999999999999"},
		{"no samples", arrayOf(dict("<f4", "(0, 3)")), "size: expected at least one value, and 4 bytes for each of shape (0, 3), found 0 bytes"},
		{"three dimensions", arrayOf(dict("<f4", "(1, 2, 3)"), six), "shape: expected two dimensions, found (1, 2, 3). x.reshape(len(x), -1) makes two dimensions."},
		{"too few values", sound[:len(sound)-4], "and 4 bytes for each of shape (2, 3), found 20 bytes"},
		// 2^62 x 4 values of 4 bytes are 0 bytes modulo 2^64.
		{"overflow", arrayOf(dict("<f4", "(4611686018427387904, 4)")), "for each of shape (4611686018427387904, 4), found 0 bytes"},
		{"complex", arrayOf(dict("<c8", "(1, 1)"), 1i), `expected values that are floats, integers or booleans, found "<c8"`},
	} {
		path := write(t, t.TempDir(), "x.npy", c.content)
		_, err := Open(t.Context(), path)
		if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != path || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %#v is no *invalid.Error that names the file once", c.name, err)
		}
		testkit.WantError(t, err, c.want)
	}
}

// Any bytes give values that fit the file, or an *invalid.Error.
func FuzzRead(f *testing.F) {
	f.Add(arrayOf(dict("<i8", "(2,)"), []int64{5, 6}))
	f.Add(arrayOf(dict("<f8", "(1, 2)"), []float64{5, 6}))
	f.Add(arrayOf(dict("<f2", "(1, 1)"), uint16(0x7c00)))
	f.Add(arrayOf(dict("<f4", "(4294967296, 4294967296)")))
	f.Add([]byte(testkit.Read(f, "testdata/big-endian-fortran.npy")))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := write(t, dir, "x.npy", data)
		_, _, values, err := readAll(t.Context(), path)
		if err == nil && len(values) > len(data) {
			t.Errorf("%d values of %d bytes", len(values), len(data))
		}
		if e := (*invalid.Error)(nil); err != nil && (!errors.As(err, &e) || e.Where != path) {
			t.Errorf("%#v does not name the file", err)
		}
	})
}
