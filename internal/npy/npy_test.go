package npy

import (
	"bytes"
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
	"github.com/lago-train/lago-train/internal/testkit"
)

func ExampleOpen() {
	m, err := Open(context.Background(), "testdata/f2.npy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = m.Close() }()
	row := make([]float32, m.Cols)
	fmt.Println(m.ReadRows(1, row), m.Rows, "x", m.Cols, "with row 1", row)
	// Output: <nil> 5 x 3 with row 1 [3.25 4 5]
}

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
	return m.Rows, m.Cols, values, m.ReadRows(0, values)
}

// fiveByThree is the array that testdata/make.py stores.
var fiveByThree = []float32{0, 1, -2.5, 3.25, 4, 5, 6, -7.125, 8, 9, 10, 11.5, 0.5, -0.25, 2048}

// The files were written by NumPy 1.24.
func TestReadFilesOfNumPy(t *testing.T) {
	for _, name := range []string{"f2", "f4", "f8", "version-2", "version-3"} {
		rows, cols, values, err := readAll(t.Context(), filepath.Join("testdata", name+".npy"))
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

// What Write writes is read again.
func TestWriteProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 300).Draw(t, "rows"), rapid.IntRange(1, 300).Draw(t, "cols")
		want := make([]float32, rows*cols)
		for i := range want {
			want[i] = float32(i) / 3
		}
		var b bytes.Buffer
		testkit.NoError(t, Write(&b, rows, cols, want))
		if start := b.Len() - 4*len(want); start%64 != 0 {
			t.Fatalf("the values begin at byte %d", start)
		}
		gotRows, gotCols, got, err := readAll(context.Background(), write(t, dir, "x.npy", b.Bytes()))
		if err != nil || gotRows != rows || gotCols != cols || !slices.Equal(got, want) {
			t.Fatalf("%d x %d are read as %d x %d: %v", rows, cols, gotRows, gotCols, err)
		}
	})
}

func TestReadIntegers(t *testing.T) {
	for _, c := range []struct {
		file string
		data []byte
		want []int
	}{
		{"int64.npy", arrayOf(dict("<i8", "(3,)"), []int64{5, -1, 1 << 40}), []int{5, -1, 1 << 40}},
		{"int32.NPY", arrayOf(dict("<i4", "(2,)"), []int32{7, -2}), []int{7, -2}},
		{"column.npy", arrayOf(dict("<i8", "(2, 1)"), []int64{5, 6}), []int{5, 6}},
		{"row.npy", arrayOf(dict("<i8", "(1, 2)"), []int64{5, 6}), []int{5, 6}},
		{"lines.txt", []byte("3\n0\r\n-2\n"), []int{3, 0, -2}},
		{"separators.csv", []byte("3,0; 2\t7"), []int{3, 0, 2, 7}},
	} {
		got, err := ReadIntegers(t.Context(), write(t, t.TempDir(), c.file, c.data))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v: %v", c.file, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	six := []float32{1, 2, 3, 4, 5, 6}
	sound := arrayOf(dict("<f4", "(2, 3)"), six)
	long := bytes.Clone(sound)
	long[len(magic)] = 2 // a length of four bytes, the last two from the text
	const again = "np.save(FILE, np.ascontiguousarray(x).astype('<f4'))"
	for _, c := range []struct {
		name    string // with an extension: integers
		content []byte
		want    string
	}{
		{"empty", nil, `header: expected a NumPy array, as numpy.save writes it, found a file that begins with ""`},
		{"archive", []byte("PK\x03\x04----------"), "expected one array, as numpy.save writes it, found an archive"},
		{"version", []byte(magic + "\x09\x00\x00\x00\x00\x00"), "header: expected version 1, 2 or 3 of the format, found 9"},
		{"header of a gigabyte", long, "header: expected at most 65536 bytes"},
		{"no shape", arrayOf("{'descr': '<f4', 'fortran_order': False}", six), "expected the entries descr, fortran_order and shape"},
		{"text before the dictionary", arrayOf("x"+dict("<f4", "(2, 3)"), six), "each once, and nothing else"},
		{"text behind the dictionary", arrayOf(dict("<f4", "(2, 3)")+"x", six), "each once, and nothing else"},
		{"a key twice", arrayOf("{'shape': (1, 6), "+dict("<f4", "(2, 3)")[1:], six), "each once, and nothing else"},
		{"another key", arrayOf("{'x': (1, 6), "+dict("<f4", "(2, 3)")[1:], six), "each once, and nothing else"},
		{"size beyond 64 bits", arrayOf(dict("<f4", "(99999999999999999999, 2)"), six), "expected a size below 2^63 in the shape, found 99999999999999999999"},
		{"big-endian", arrayOf(dict(">f4", "(1, 2)")), "found >f4. Save it again: " + again},
		{"records", arrayOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }"), "expected the entries descr, fortran_order and shape of a NumPy array of numbers"},
		{"Fortran order", arrayOf("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", six), "expected an array in C order, found Fortran order. Save it again: " + again},
		{"no samples", arrayOf(dict("<f4", "(0, 3)")), "size: expected at least one value, and 4 bytes for each of shape (0, 3), found 0 bytes"},
		{"one dimension", arrayOf(dict("<f4", "(6,)"), six), "found (6). x.reshape(len(x), -1) makes two dimensions"},
		{"too few values", sound[:len(sound)-4], "and 4 bytes for each of shape (2, 3), found 20 bytes"},
		// 2^62 x 4 values of 4 bytes are 0 bytes modulo 2^64.
		{"overflow", arrayOf(dict("<f4", "(4611686018427387904, 4)")), "for each of shape (4611686018427387904, 4), found 0 bytes"},
		{"floats.npy", arrayOf(dict("<f4", "(1,)"), float32(1)), "expected values of type <i8, <i4, found <f4. Save it again: np.save(FILE, np.ascontiguousarray(x).astype('<i8'))"},
		{"matrix.npy", arrayOf(dict("<i8", "(2, 2)"), make([]int64, 4)), "shape: expected one dimension, with one integer per sample, found (2, 2)"},
		{"no text.txt", nil, "expected at least one integer, found none"},
		{"words.txt", []byte("1\n2 wren"), `line 2: expected integers, found "wren"`},
	} {
		name := c.name
		if filepath.Ext(name) == "" {
			name += ".npy"
		}
		path := write(t, t.TempDir(), name, c.content)
		_, err := Open(t.Context(), path)
		if name == c.name {
			_, err = ReadIntegers(t.Context(), path)
		}
		if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != path || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %#v is no *invalid.Error that names the file once", name, err)
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
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := write(t, dir, "x.npy", data)
		_, _, values, err := readAll(t.Context(), path)
		if err == nil && 2*len(values) > len(data) {
			t.Errorf("%d values of %d bytes", len(values), len(data))
		}
		numbers, intErr := ReadIntegers(t.Context(), path)
		if intErr == nil && 4*len(numbers) > len(data) {
			t.Errorf("%d integers of %d bytes", len(numbers), len(data))
		}
		for _, err := range []error{err, intErr} {
			if e := (*invalid.Error)(nil); err != nil && (!errors.As(err, &e) || e.Where != path) {
				t.Errorf("%#v does not name the file", err)
			}
		}
	})
}
