package features

import (
	order "cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/npy"
)

// fiveByThree is what testdata/make.py stores.
var fiveByThree = dataset.Matrix[float32]{Rows: 5, Cols: 3, Data: []float32{
	0, 1, -2.5, 3.25, 4, 5, 6, -7.125, 8, 9, 10, 11.5, 0.5, -0.25, 2048,
}}

// The files were written by NumPy 1.24.
func TestArraysOfNumPy(t *testing.T) {
	files, err := filepath.Glob("testdata/*.npy")
	if err != nil || len(files) != 14 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			x, err := ReadAll(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fiveByThree, x); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for rows := 1; rows <= 6; rows++ {
				if diff := cmp.Diff(fiveByThree, readBy(t, file, rows)); diff != "" {
					t.Errorf("by %d rows (-want +got):\n%s", rows, diff)
				}
			}
		})
	}
}

// array is a .npy file with a header of version 1 and values.
func array(header string, values ...byte) []byte {
	b := append([]byte(npy.Magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	return append(append(b, header...), values...)
}

// dict is a header in NumPy's form.
func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
}

func floats(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDamagedArrays(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	sound := dict("'<f4'", "False", "(2, 3)")
	six := floats(1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		name    string
		content []byte
		want    string // behind the name of the file
	}{
		{"empty", nil, `header: expected a NumPy array, as numpy.save writes it, found a file that begins with ""`},
		{"text", []byte("1,2,3\n4,5,6\n"), `header: expected a NumPy array, as numpy.save writes it, found a file that begins with "1,2,3\n4,"`},
		{"an archive", []byte("PK\x03\x04----------"), "header: expected one array, as numpy.save writes it, found an archive of arrays, as numpy.savez does"},
		{"half a header", array(sound)[:40], "unexpected EOF"},
		{"whole numbers", array(dict("'<i8'", "False", "(1, 2)")), `header: expected values of float16, float32 or float64 (x.astype(numpy.float32) makes them so), found "<i8"`},
		{"pickled objects", array(dict("'|O'", "False", "(1, 2)")), `found "|O"`},
		{"records", array(dict("[('a', '<f4')]", "False", "(1, 2)")), "found records of several fields"},
		{"no samples", array(dict("'<f4'", "False", "(0, 3)")), "shape: expected at least one sample and one value, found (0, 3)"},
		{"samples without values", array(dict("'<f4'", "False", "(3, 0)")), "shape: expected at least one sample and one value, found (3, 0)"},
		{"one dimension", array(dict("'<f4'", "False", "(6,)"), six...), "shape: expected samples x D (of more dimensions, x.reshape(len(x), -1) makes two), found (6)"},
		{"four dimensions", array(dict("'<f4'", "False", "(2, 3, 1, 1)"), six...), "found (2, 3, 1, 1)"},
		{"a value too few", array(sound, six[:20]...), "size: expected (2, 3) values of 4 bytes behind the header, found 20 bytes"},
		{"a byte too many", array(sound, append(six, 0)...), "size: expected (2, 3) values of 4 bytes behind the header, found 25 bytes"},
		{"more values than there is memory", array(dict("'<f4'", "False", "(1000000000000, 3)"), six...), "size: expected (1000000000000, 3) values of 4 bytes behind the header, found 24 bytes"},
		// 2^62 x 4 values of 4 bytes are 0 bytes in 64 bits, and so are 2^32 x 2^32.
		{"a product that overflows", array(dict("'<f4'", "False", "(4611686018427387904, 4)")), "size: expected (4611686018427387904, 4) values"},
		{"another one", array(dict("'<f4'", "True", "(4294967296, 4294967296)")), "size: expected (4294967296, 4294967296) values"},
		{"a NaN", array(sound, floats(1, 2, 3, 4, nan, 6)...), "row 1, column 1 (from 0): expected a finite number in the range of float32, found NaN"},
		{"infinite values", array(sound, floats(1, inf, inf, 4, 5, 6)...), "row 0, column 1 (from 0): expected a finite number in the range of float32, found -Inf, and 1 more such in this row"},
		{"a double beyond float32", array(dict("'<f8'", "False", "(1, 1)"), binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e39))...), "row 0, column 0 (from 0): expected a finite number in the range of float32, found +Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "x.npy", c.content)
			_, err := ReadAll(t.Context(), path)
			checkError(t, err, path, c.want)
		})
	}
}

// Whatever the numbers and the order, tiles and buffers end where they may.
func TestNPYProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 2*tileRows+1).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "cols")
		kind := rapid.SampledFrom([]string{"<f2", "<f4", ">f4", "<f8", ">f8"}).Draw(t, "type")
		fortran := rapid.Bool().Draw(t, "fortran")
		want := dataset.NewMatrix[float32](rows, cols)
		for i := range want.Data {
			want.Data[i] = float32(i % 2048) // exact in float16
		}
		header := dict("'"+kind+"'", map[bool]string{true: "True", false: "False"}[fortran], fmt.Sprintf("(%d, %d)", rows, cols))
		var values []byte
		for at := range want.Data {
			i, j := at/cols, at%cols
			if fortran {
				i, j = at%rows, at/rows
			}
			values = appendValue(values, kind, want.Row(i)[j])
		}
		path := filepath.Join(dir, "x.npy")
		if err := os.WriteFile(path, array(header, values...), 0o666); err != nil {
			t.Fatal(err)
		}
		got := readBy(t, path, rapid.IntRange(1, rows+1).Draw(t, "rows of a block"))
		if !slices.Equal(want.Data, got.Data) || want.Rows != got.Rows {
			t.Fatalf("read as %v", got)
		}
	})
}

func appendValue(b []byte, kind string, v float32) []byte {
	switch kind {
	case "<f2": // by search, which needs no second way of rounding
		bits, found := sort.Find(0x7c00, func(bits int) int { return order.Compare(v, fromHalf(uint16(bits))) })
		if !found {
			panic(fmt.Sprintf("%v is no float16", v))
		}
		return binary.LittleEndian.AppendUint16(b, uint16(bits))
	case "<f4":
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	case ">f4":
		return binary.BigEndian.AppendUint32(b, math.Float32bits(v))
	case "<f8":
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(v)))
	}
	return binary.BigEndian.AppendUint64(b, math.Float64bits(float64(v)))
}

// Every one of the 65536 numbers, against the definition: a fraction of 11 bits
// times a power of 2, with the highest bit implied but for the smallest exponent.
func TestFromHalf(t *testing.T) {
	for bits := range 1 << 16 {
		sign, exponent, fraction := bits>>15, bits>>10&0x1f, bits&0x3ff
		want := math.Ldexp(float64(fraction+1024), exponent-25)
		switch {
		case exponent == 0:
			want = math.Ldexp(float64(fraction), -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if sign == 1 {
			want = -want
		}
		got := float64(fromHalf(uint16(bits)))
		same := got == want && math.Signbit(got) == math.Signbit(want)
		if !same && !(math.IsNaN(want) && math.IsNaN(got)) {
			t.Fatalf("%#04x is %v, want %v", bits, got, want)
		}
	}
}
