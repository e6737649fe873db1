package matlab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

func TestHostile(t *testing.T) {
	w := little
	one := w.Numbers(kindDouble, 1)
	deep := w.Word("", "end")
	for range maxDepth {
		deep = w.Array("", Cell, 0, []int{1, 1}, deep)
	}
	badSum := w.Compress(w.Doubles("x", []int{1, 1}, 1))
	badSum[len(badSum)-1] ^= 1
	compressedTwice := w.Compress(w.Compress(w.Doubles("x", []int{1, 1}, 1)))
	cases := []struct {
		name    string
		element []byte
		want    string // part of the message
	}{
		{"a huge array of nothing", w.Array("x", Double, 0, []int{46340, 46340}, w.Tagged(kindDouble, 1<<31, nil)), "expected an element within"},
		{"dimensions overflow", w.Array("x", Double, 0, []int{1 << 30, 1 << 30, 1 << 30}, one), "expected at most 2147483647 elements, found dimensions 1073741824x1073741824x1073741824"},
		{"negative dimension", w.Array("x", Double, 0, []int{-1, -1}, one), "dimensions of 0 or more, found -1"},
		{"dimensions say more than the data", w.Array("x", Double, 0, []int{2, 2}, one), "4 numbers of 8 bytes (2x2), found 8 bytes"},
		{"dimensions say less than the data", w.Array("x", Double, 0, []int{0, 2}, one), "0 numbers of 8 bytes (0x2), found 8 bytes"},
		{"one dimension", w.Array("x", Double, 0, []int{1}, one), "2 to 64 dimensions"},
		{"too many dimensions", w.Array("x", Double, 0, make([]int, 65), one), "2 to 64 dimensions"},
		{"numbers that are text", w.Array("x", Double, 0, []int{1, 4}, w.Element(kindUTF8, []byte("text"))), "expected numbers, found an element of type 16"},
		{"text that is numbers", w.Array("x", Char, 0, []int{1, 1}, one), "expected text, found an element of type 9"},
		{"text too short", w.Array("x", Char, 0, []int{1, 9}, w.Element(kindUTF8, []byte("text"))), "9 characters (1x9), found 4"},
		{"half a character", w.Array("x", Char, 0, []int{1, 1}, w.Element(kindUint16, []byte("abc"))), "characters of 2 bytes, found 3 bytes"},
		{"more cells than bytes", w.Array("x", Cell, 0, []int{1 << 30, 1}, w.Word("", "a")), "at most 7 cells in the 56 bytes left"},
		{"a cell of no array", w.Array("x", Cell, 0, []int{1, 1}, one), "expected an array in a cell, found an element of type 9"},
		{"a cell larger than the array", w.Array("x", Cell, 0, []int{1, 1}, w.Tagged(kindMatrix, 1000, nil)), "found one of 1000 bytes"},
		{"cells too deep", w.Array("x", Cell, 0, []int{1, 1}, deep), "at most 16 deep"},
		{"data behind the data", w.Array("x", Double, 0, []int{1, 1}, one, one), "expected the end of the variable, found 16 more bytes"},
		{"data behind a cell's", w.Array("x", Cell, 0, []int{1, 1}, w.Array("", Char, 0, []int{0, 0}, w.Element(kindUTF8, nil), one)), "expected the end of the variable"},
		{"no data", w.Array("x", Double, 0, []int{1, 1}), "expected another element"},
		{"a small element of more than 4 bytes", w.Array("x", Double, 0, []int{1, 1}, w.Tagged(8<<16|kindDouble, 0, make([]byte, 8))), "at most 4 bytes in a small element, found 8"},
		{"flags of another type", w.Tagged(kindMatrix, 16, w.Element(kindDouble, make([]byte, 8))), "expected array flags"},
		{"an endless name", w.Array(strings.Repeat("x", maxName+1), Double, 0, []int{1, 1}, one), "expected the name of a variable, of at most 4096 bytes"},
		{"an endless text", w.Compress(w.Array("x", Char, 0, []int{1, 80 << 20}, w.Element(kindUTF8, make([]byte, 80<<20)))), "expected at most 67108864 bytes of text"},
		{"no variable", w.Element(kindDouble, make([]byte, 8)), "expected a variable, found an element of type 9"},
		{"compressed twice", compressedTwice, "expected a variable, found an element of type 15"},
		{"wrong checksum", badSum, "checksum"},
		{"not zlib", w.Tagged(kindCompressed, 8, []byte("not zlib")), "expected compressed data"},
		{"more after the compressed variable", w.Compress(append(w.Doubles("x", []int{1, 1}, 1), 0)), "expected the end of the compressed data, found more"},
		{"overstated compressed size", w.Compress(w.Array("x", Double, 0, []int{1 << 28, 1}, w.Tagged(kindDouble, 1<<31, nil))), "expected an element within"},
		{"all compressed sizes overstated", w.Compress(overstated(1 << 28)), "unexpected EOF"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var err error
			if n := allocated(func() { _, err = read(w.File(c.element), "x") }); n > 4<<20 {
				t.Errorf("%d bytes claimed 4 MB: %d", len(c.element), n)
			}
			checkError(t, err, c.want)
		})
	}
}

// overstated is an array whose sizes all declare n doubles that are missing.
func overstated(n uint32) []byte {
	element := little.Array("x", Double, 0, []int{int(n), 1}, little.Tagged(kindDouble, 8*n, nil))
	binary.LittleEndian.PutUint32(element[4:], uint32(len(element)-tagSize)+8*n)
	return element
}

// checkError checks that an error is an *invalid.Error that names the file.
func checkError(t *testing.T, err error, parts ...string) {
	t.Helper()
	testkit.WantError(t, err, parts...)
	if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != "test.mat" {
		t.Errorf("%v, expected an *invalid.Error that names the file", err)
	}
}

// allocated counts the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestErrorNamesVariableAndByte(t *testing.T) {
	bad := little.Array("x", Double, 0, []int{2, 2}, little.Numbers(kindDouble, 1))
	first := little.Doubles("first", []int{1, 1}, 1)
	begin := headerSize + len(first) + tagSize
	const inside = 16 + 16 + 8 + 8 // flags, dimensions, name (a small element), tag of the data
	for _, c := range []struct {
		element []byte
		want    string
	}{
		{bad, fmt.Sprintf("x, byte %d", begin+inside)},
		{little.Compress(bad), fmt.Sprintf("x, byte %d of the compressed data at byte %d", tagSize+inside, begin)},
	} {
		_, err := read(little.File(first, c.element), "x")
		var e *invalid.Error
		if !errors.As(err, &e) || e.Field != c.want {
			t.Errorf("error %v: want %s", err, c.want)
		}
	}
}

func TestOtherFormats(t *testing.T) {
	level5 := little.File()
	hdf5 := slices.Concat(level5, []byte("\x89HDF\r\n\x1a\n"))
	hdf5[125] = 2
	noOrder := bytes.Clone(level5)
	noOrder[126] = '?'
	version3 := bytes.Clone(level5)
	version3[125] = 3
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"version 7.3":    {hdf5, "version 7.3 (HDF5). If MATLAB loads it, save it again with save(..., '-v7')."},
		"version 3":      {version3, "version 0x300"},
		"text":           {bytes.Repeat([]byte("label\n"), 50), "another format"},
		"zeros":          {make([]byte, 500), "another format"},
		"empty":          {nil, "found 0 bytes"},
		"a short header": {level5[:100], "found 100 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(c.data, "x")
			checkError(t, err, c.want)
		})
	}
}

// A truncated file is refused, even where the wanted variable is complete, unless it ends
// between two variables.
func TestTruncated(t *testing.T) {
	for _, path := range []string{"testdata/plain/att_splits.mat", "testdata/compressed/att_splits.mat"} {
		whole := []byte(testkit.Read(t, path))
		ends := make(map[int]bool) // of variables
		for at := headerSize; at < len(whole); ends[at] = true {
			at += tagSize + int(binary.LittleEndian.Uint32(whole[at+4:]))
		}
		for n := headerSize + 1; n < len(whole); n += 3 {
			if ends[n] {
				continue
			}
			_, err := read(whole[:n], "allclasses_names")
			checkError(t, err, "truncated")
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d bytes of it: %v", path, n, err)
			}
		}
	}
}

// brokenDisk fails from an offset on.
type brokenDisk struct {
	*bytes.Reader
	from int64
}

var errDisk = errors.New("the disk is broken")

func (d brokenDisk) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > d.from {
		return 0, errDisk
	}
	return d.Reader.ReadAt(p, off)
}

func TestReadErrorIsTheCause(t *testing.T) {
	data := little.File(little.Doubles("x", []int{1, 1}, 1))
	for _, from := range []int64{0, headerSize, headerSize + 8, headerSize + 40} {
		f := open(data)
		f.r = brokenDisk{bytes.NewReader(data), from}
		_, err := f.read([]string{"x"})
		checkError(t, err)
		if !errors.Is(err, errDisk) {
			t.Errorf("from byte %d: %v", from, err)
		}
	}
}

// Any bytes give arrays that agree with their headers or an *invalid.Error, and no more
// memory is allocated than they can need: deflate compresses at most 1032 bytes into
// one, a byte can be a number or a row of text, and appending reallocates.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.mat")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, path := range files {
		f.Add([]byte(testkit.Read(f, path)))
	}
	for _, w := range []matfile.Writer{little, big} {
		nested := w.Array("x", Cell, 0, []int{1, 1}, w.Array("", Cell, 0, []int{1, 1}, w.Word("", "deep")))
		f.Add(w.File(nested, w.Doubles("y", []int{1, 2}, 1, 2)))
		f.Add(w.File(w.Compress(w.Char("x", []int{2, 1}, 'a', 'b'))))
	}
	f.Add(little.File(little.Compress(overstated(1 << 28))))
	f.Fuzz(func(t *testing.T, data []byte) {
		const perByte, base = 1032 * 64, 8 << 20
		headers, err := open(data).list()
		if err != nil {
			checkError(t, err)
			return
		}
		for _, h := range headers {
			var arrays map[string]*Array
			var err error
			if n := allocated(func() { arrays, err = read(data, h.Name) }); n > base+perByte*uint64(len(data)) {
				t.Errorf("%d bytes claimed %d", len(data), n)
			}
			if err != nil {
				checkError(t, err)
				continue
			}
			checkArray(t, arrays[h.Name])
		}
	})
}

func checkArray(t *testing.T, a *Array) {
	t.Helper()
	n, ok := elements(a.Dims)
	if a.Class.numeric() != (a.Float32 != nil) || a.Class.numeric() && (!ok || int64(len(a.Float32)) != n) {
		t.Errorf("%v has %d numbers", a.Header, len(a.Float32))
	}
}

// BenchmarkRead reads features like those of a pooled ReLU: a quarter are zero, and
// the rest have the digits of a float32 in a double. MB/s are of doubles.
func BenchmarkRead(b *testing.B) {
	const dim, samples = 2048, 1000
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, dim*samples)
	for i := range values {
		values[i] = float64(float32(max(0, math.Abs(random.NormFloat64())-0.32)))
	}
	plain := little.Doubles("x", []int{dim, samples}, values...)
	for name, element := range map[string][]byte{"plain": plain, "compressed": little.Compress(plain)} {
		b.Run(name, func(b *testing.B) {
			data := little.File(element)
			b.SetBytes(8 * dim * samples)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(data, "x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
