package matlab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// read reads variables of a file that it writes to dir.
func read(t testkit.TB, dir string, data []byte, names ...string) (map[string]*Array, error) {
	t.Helper()
	return load(testkit.Write(t, dir, "test.mat", string(data)), names)
}

// load opens and loads variables.
func load(path string, required []string, optional ...string) (map[string]*Array, error) {
	arrays, err := Open(context.Background(), path, required, optional...)
	for _, a := range arrays {
		if err := a.Load(context.Background()); err != nil {
			return nil, err
		}
	}
	return arrays, err
}

// mustRead reads the variable x.
func mustRead(t testkit.TB, dir string, data []byte) *Array {
	t.Helper()
	return testkit.Must(read(t, dir, data, "x"))(t)["x"]
}

// MATLAB's own variable without a name and what cannot be decoded are skipped, and of two
// variables with the same name the first is read.
func TestReadChoosesByName(t *testing.T) {
	sparse := matfile.Array("s", Class(5), 0, []int{3, 5}, matfile.Numbers(kindInt32, 1, 2))
	table := slices.Concat(matfile.Numbers(kindUint32, float64(opaque), 0), matfile.Element(kindInt8, []byte("o")), matfile.Element(kindInt8, []byte("MCOS")))
	data := matfile.File(
		matfile.Array("", Class(9), 0, []int{1, 1}, matfile.Numbers(kindUint8, 1)),
		sparse,
		matfile.Doubles("x", []int{1, 1}, 1),
		matfile.Compress(matfile.Word("y", "text")),
		matfile.Array("u", Class(200), 0, []int{1, 1}),
		matfile.Doubles("x", []int{1, 1}, 2),
		matfile.Tagged(kindMatrix, uint32(len(table)), table), // without dimensions
		matfile.Compress(sparse),
	)
	want := map[string]*Array{
		"x": {Name: "x", Class: Double, Dims: []int{1, 1}, Float32: []float32{1}},
		"y": {Name: "y", Class: Char, Dims: []int{1, 4}, Strings: []string{"text"}},
	}
	testkit.Equal(t, "found", testkit.Must(read(t, t.TempDir(), data, "y", "x"))(t), want, exported)
	for name, class := range map[string]string{"s": "sparse", "u": "unknown", "o": "opaque"} {
		testkit.Fails(read(t, t.TempDir(), data, name))(t, name+", byte", "expected an array of numbers or text, found class "+class)
	}
}

func TestMissing(t *testing.T) {
	_, err := Open(t.Context(), "../xlsa17/testdata/plain/res101.mat", []string{"labels", "feature"})
	testkit.WantError(t, err, "../xlsa17/testdata/plain/res101.mat: feature: expected a variable of this name, found only features, labels, image_files. Did you mean features?")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "../xlsa17/testdata/plain/res101.mat", []string{"labels"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open after cancellation: %v", err)
	}
}

var exported = cmpopts.IgnoreUnexported(Array{})

// limits are the integers that fit both a storage type and a float32.
var limits = map[uint32]struct{ low, high int64 }{
	kindInt8: {-128, 127}, kindUint8: {0, 255},
	kindInt16: {-1 << 15, 1<<15 - 1}, kindUint16: {0, 1<<16 - 1},
	kindInt32: {-1 << 24, 1 << 24}, kindUint32: {0, 1 << 24},
	kindInt64: {-1 << 24, 1 << 24}, kindUint64: {0, 1 << 24},
	kindSingle: {-1 << 24, 1 << 24}, kindDouble: {-1 << 24, 1 << 24},
}

// Numbers of any class, stored in any type, compressed or not, are read as they were written.
func TestNumbersProperty(t *testing.T) {
	kinds, dir := slices.Sorted(maps.Keys(limits)), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "storage")
		class := Class(rapid.IntRange(int(Double), int(lastNumeric)).Draw(t, "class"))
		dims := rapid.SliceOfN(rapid.IntRange(0, 9), 2, 4).Draw(t, "dims")
		n, _ := matrix.Count(dims, maxElements)
		ints := rapid.SliceOfN(rapid.Int64Range(limits[kind].low, limits[kind].high), n, n).Draw(t, "values")
		values, want := make([]float64, n), make([]float32, n)
		for i, v := range ints {
			values[i], want[i] = float64(v), float32(v)
		}
		element := matfile.Array("x", class, 0, dims, matfile.Numbers(kind, values...))
		if rapid.Bool().Draw(t, "compressed") {
			element = matfile.Compress(element)
		}
		testkit.Equal(t, "found", mustRead(t, dir, matfile.File(element)), &Array{Name: "x", Class: class, Dims: dims, Float32: want}, exported)
	})
}

// A matrix of several buffers, compressed nearly as well as deflate can.
func TestLargeCompressed(t *testing.T) {
	const rows, columns = 512, 300
	values := slices.Repeat([]float64{0.5}, rows*columns)
	compressed := matfile.Compress(matfile.Doubles("x", []int{rows, columns}, values...))
	testkit.NearAll(t, "x", mustRead(t, t.TempDir(), matfile.File(compressed, matfile.Word("y", "after"))).Float32, values, 0)
}

func TestText(t *testing.T) {
	bird := utf16.Encode([]rune("鳥🐦"))
	cell := func(dims []int, cells ...[]byte) []byte { return matfile.Array("x", Cell, 0, dims, cells...) }
	none := matfile.Tagged(kindMatrix, 0, nil)
	for name, c := range map[string]struct {
		element []byte
		want    []string
	}{
		"a small element": {matfile.Word("x", "ab"), []string{"ab"}},
		"Latin-1":         {matfile.Array("x", Char, 0, []int{1, 2}, matfile.Element(kindUint8, []byte{'a', 0xe9})), []string{"aé"}},
		"UTF-8":           {matfile.Array("x", Char, 0, []int{1, 3}, matfile.Element(kindUTF8, []byte("鳥🐦"))), []string{"鳥🐦"}},
		"UTF-16 pair":     {matfile.Char("x", []int{1, 3}, bird...), []string{"鳥🐦"}},
		"half a pair":     {matfile.Char("x", []int{1, 2}, bird[1], 'a'), []string{"\uFFFDa"}},
		"two rows":        {matfile.Char("x", []int{2, 3}, 'o', 'w', 'w', 'r', 'l', ' '), []string{"owl", "wr"}},
		"rows of nothing": {matfile.Char("x", []int{1 << 30, 0}), []string{""}},
		"cells":           {cell([]int{2, 1}, matfile.Word("", "one"), matfile.Word("", "two")), []string{"one", "two"}},
		"empty cells":     {cell([]int{1, 4}, none, matfile.Doubles("", []int{0, 0}), matfile.Word("", ""), matfile.Word("", "e")), []string{"", "", "", "e"}},
	} {
		for _, element := range [][]byte{c.element, matfile.Compress(c.element)} {
			testkit.Equal(t, name, mustRead(t, t.TempDir(), matfile.File(element)).Strings, c.want)
		}
	}
}

func TestHostile(t *testing.T) {
	one := matfile.Numbers(kindDouble, 1)
	badSum := matfile.Compress(matfile.Doubles("x", []int{1, 1}, 1))
	badSum[len(badSum)-1] ^= 1
	cases := []struct {
		name    string
		element []byte
		want    string // part of the message
	}{
		{"a huge array of nothing", matfile.Array("x", Double, 0, []int{46340, 46340}, matfile.Tagged(kindDouble, 1<<31, nil)), "expected an element within"},
		{"dimensions overflow", matfile.Array("x", Double, 0, []int{1 << 30, 1 << 30, 1 << 30}, one), "expected at most 2147483647 elements, found dimensions 1073741824x1073741824x1073741824"},
		{"dimensions say more than the data", matfile.Array("x", Double, 0, []int{2, 2}, one), "4 numbers of 8 bytes (2x2), found 8 bytes"},
		{"one dimension", matfile.Array("x", Double, 0, []int{1}, one), "2 to 64 dimensions"},
		{"numbers that are text", matfile.Array("x", Double, 0, []int{1, 4}, matfile.Element(kindUTF8, []byte("text"))), "expected numbers, found an element of type 16"},
		{"more cells than bytes", matfile.Array("x", Cell, 0, []int{1 << 30, 1}, matfile.Word("", "a")), "at most 7 cells in the 56 bytes left"},
		{"a cell of no array", matfile.Array("x", Cell, 0, []int{1, 1}, one), "expected an array in a cell, found an element of type 9"},
		{"data behind the data", matfile.Array("x", Double, 0, []int{1, 1}, one, one), "expected the end of the variable, found 16 more bytes"},
		{"no data", matfile.Array("x", Double, 0, []int{1, 1}), "expected 4 more bytes"},
		{"a small element of more than 4 bytes", matfile.Array("x", Double, 0, []int{1, 1}, matfile.Tagged(8<<16|kindDouble, 0, make([]byte, 8))), "at most 4 bytes in a small element, found 8"},
		{"flags of another type", matfile.Tagged(kindMatrix, 16, matfile.Element(kindDouble, make([]byte, 8))), "expected array flags"},
		{"an endless name", matfile.Array(strings.Repeat("x", maxName+1), Double, 0, []int{1, 1}, one), "expected the name of a variable, of at most 4096 bytes"},
		{"an endless text", matfile.Compress(matfile.Array("x", Char, 0, []int{1, 2 << 20}, matfile.Element(kindUTF8, make([]byte, 2<<20)))), "expected text of at most 1048576 bytes"},
		{"text of two rows in a cell", matfile.Array("x", Cell, 0, []int{1, 1}, matfile.Char("", []int{2, 1}, 'a', 'b')), "expected text in a cell, found char 2x1"},
		{"fewer letters than rows", matfile.Char("x", []int{2, 2}, 'a', 'b'), "expected 4 letters (2x2), found 2"},
		{"complex numbers", matfile.Array("x", Double, flagComplex, []int{1, 1}, one, one), "expected real numbers, found complex ones"},
		{"no variable", matfile.Element(kindDouble, make([]byte, 8)), "expected a variable, found an element of type 9"},
		{"wrong checksum", badSum, "checksum"},
		{"more after the compressed variable", matfile.Compress(append(matfile.Doubles("x", []int{1, 1}, 1), 0)), "expected the end of the compressed data, found more"},
		{"an array larger than its numbers", matfile.Compress(lying()), "expected the end of the variable"},
		{"fewer numbers than declared", matfile.Compress(slices.Concat(overstated(1<<19), noise(30_000))), "more bytes"},
		{"a name that a terminal obeys", matfile.Array("\x1b[31mx", Double, 0, []int{1, 1}, one), "found only \ufffd[31mx"},
		{"all compressed sizes overstated", matfile.Compress(overstated(1 << 28)), "expected 33.6 MB of memory for 50 B of compressed data, or less, found 2.1 GB (double 268435456x1). If it is right, save it without compression"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var err error
			path := testkit.Write(t, t.TempDir(), "test.mat", string(matfile.File(c.element)))
			if n := testkit.Allocated(func() { _, err = load(path, []string{"x"}) }); n > 4<<20 {
				t.Errorf("%d bytes claimed 4 MB: %d", len(c.element), n)
			}
			checkError(t, err, c.want)
		})
	}
}

// overstated is an array whose sizes all declare n doubles that are missing.
func overstated(n uint32) []byte {
	element := matfile.Array("x", Double, 0, []int{int(n), 1}, matfile.Tagged(kindDouble, 8*n, nil))
	binary.LittleEndian.PutUint32(element[4:], uint32(len(element)-tagSize)+8*n)
	return element
}

// lying is an array of 2^22 bytes of numbers that declares eight more.
func lying() []byte {
	const n = 1 << 22
	element := matfile.Array("x", Double, 0, []int{n, 1}, matfile.Tagged(kindUint8, n, make([]byte, n)))
	binary.LittleEndian.PutUint32(element[4:], uint32(len(element)-tagSize)+8)
	return append(element, make([]byte, 8)...)
}

// noise is what deflate cannot compress.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // does not fail
	return b
}

// checkError checks that an error is an *invalid.Error that names the file.
func checkError(t *testing.T, err error, parts ...string) {
	t.Helper()
	testkit.WantError(t, err, parts...)
	if e := (*invalid.Error)(nil); !errors.As(err, &e) || filepath.Base(e.Where) != "test.mat" {
		t.Errorf("%v, expected an *invalid.Error that names the file", err)
	}
}

func TestErrorNamesVariableAndByte(t *testing.T) {
	bad := matfile.Array("x", Double, 0, []int{2, 2}, matfile.Numbers(kindDouble, 1))
	first := matfile.Doubles("first", []int{1, 1}, 1)
	begin := headerSize + len(first) + tagSize
	const inside = 16 + 16 + 8 + 8 // flags, dimensions, name (a small element), tag of the data
	for want, element := range map[string][]byte{
		fmt.Sprintf("x, byte %d: ", begin+inside):                                            bad,
		fmt.Sprintf("x, byte %d of the compressed data at byte %d: ", tagSize+inside, begin): matfile.Compress(bad),
	} {
		testkit.Fails(read(t, t.TempDir(), matfile.File(first, element), "x"))(t, want)
	}
}

func TestOtherFormats(t *testing.T) {
	level5 := matfile.File()
	hdf5 := slices.Concat(level5, []byte("\x89HDF\r\n\x1a\n"))
	hdf5[125] = 2
	bigEndian := bytes.Clone(level5)
	copy(bigEndian[126:], "MI")
	version3 := bytes.Clone(level5)
	version3[125] = 3
	for want, data := range map[string][]byte{
		"version 7.3 (HDF5). If MATLAB loads it, save it again with save(..., '-v7').": hdf5,
		"version 0x300": version3,
		"found a git-LFS pointer. It stands for the file": []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
		"another format": bytes.Repeat([]byte("label\n"), 50),
		"expected a little-endian level 5 MAT-file": bigEndian,
		"found 0 bytes":   nil,
		"found 100 bytes": level5[:100],
	} {
		_, err := read(t, t.TempDir(), data, "x")
		checkError(t, err, want)
	}
}

// A truncated file is refused, even where the wanted variable is complete, unless it ends
// between two variables.
func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"../xlsa17/testdata/plain/att_splits.mat", "../xlsa17/testdata/compressed/att_splits.mat"} {
		whole := []byte(testkit.Read(t, path))
		ends := make(map[int]bool) // of variables
		for at := headerSize; at < len(whole); ends[at] = true {
			at += tagSize + int(binary.LittleEndian.Uint32(whole[at+4:]))
		}
		for n := headerSize + 1; n < len(whole); n += 3 {
			if ends[n] {
				continue
			}
			_, err := read(t, dir, whole[:n], "allclasses_names")
			checkError(t, err, "truncated")
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d bytes of it: %v", path, n, err)
			}
		}
	}
}

// Any bytes give arrays that agree with their headers or an *invalid.Error, and no more
// memory is allocated than they can need: deflate compresses at most 1032 bytes into
// one, a byte can be a number or a row of text, and appending reallocates.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../xlsa17/testdata/*/*.mat")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, path := range files {
		f.Add([]byte(testkit.Read(f, path)))
	}
	f.Add(matfile.File(matfile.Array("x", Cell, 0, []int{1, 1}, matfile.Word("", "one")), matfile.Doubles("y", []int{1, 2}, 1, 2)))
	f.Add(matfile.File(matfile.Compress(matfile.Char("x", []int{1, 2}, 'a', 'b'))))
	f.Add(matfile.File(matfile.Compress(overstated(1 << 28))))
	dir, names := f.TempDir(), []string{"x", "y", "features", "labels", "image_files", "allclasses_names", "original_att", "train_loc"}
	f.Fuzz(func(t *testing.T, data []byte) {
		const perByte, base = 1032 * 64, 8 << 20
		path := testkit.Write(t, dir, "test.mat", string(data))
		var arrays map[string]*Array
		var err error
		if n := testkit.Allocated(func() { arrays, err = load(path, nil, names...) }); n > base+perByte*uint64(len(data)) {
			t.Errorf("%d bytes claimed %d", len(data), n)
		}
		if err != nil {
			checkError(t, err)
		}
		for _, a := range arrays {
			n, ok := matrix.Count(a.Dims, maxElements)
			if a.Class.Numeric() != (a.Float32 != nil) || a.Class.Numeric() && (!ok || len(a.Float32) != n) {
				t.Errorf("%s %s has %d numbers", a.Name, a.Size(), len(a.Float32))
			}
		}
	})
}
