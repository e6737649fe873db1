package matlab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
)

func TestHostile(t *testing.T) {
	w := little
	one := w.numbers(kindDouble, 1)
	deep := w.word("", "end")
	for range maxDepth {
		deep = w.array("", Cell, 0, []int{1, 1}, deep)
	}
	badSum := w.compressed(w.doubles("x", []int{1, 1}, 1))
	badSum[len(badSum)-1] ^= 1
	compressedTwice := w.compressed(w.compressed(w.doubles("x", []int{1, 1}, 1)))
	cases := []struct {
		name    string
		element []byte
		want    string // part of the message
	}{
		{"a huge array of nothing", w.array("x", Double, 0, []int{46340, 46340}, w.tagged(kindDouble, 1<<31, nil)), "expected an element within"},
		{"dimensions overflow", w.array("x", Double, 0, []int{1 << 30, 1 << 30, 1 << 30}, one), "expected at most 2147483647 elements, found dimensions 1073741824x1073741824x1073741824"},
		{"negative dimension", w.array("x", Double, 0, []int{-1, -1}, one), "dimensions of 0 or more, found -1"},
		{"dimensions say more than the data", w.array("x", Double, 0, []int{2, 2}, one), "4 numbers of 8 bytes (2x2), found 8 bytes"},
		{"dimensions say less than the data", w.array("x", Double, 0, []int{0, 2}, one), "0 numbers of 8 bytes (0x2), found 8 bytes"},
		{"one dimension", w.array("x", Double, 0, []int{1}, one), "2 to 64 dimensions"},
		{"too many dimensions", w.array("x", Double, 0, make([]int, 65), one), "2 to 64 dimensions"},
		{"numbers that are text", w.array("x", Double, 0, []int{1, 4}, w.element(kindUTF8, []byte("text"))), "expected numbers, found an element of type 16"},
		{"text that is numbers", w.array("x", Char, 0, []int{1, 1}, one), "expected text, found an element of type 9"},
		{"text too short", w.array("x", Char, 0, []int{1, 9}, w.element(kindUTF8, []byte("text"))), "9 characters (1x9), found 4"},
		{"half a character", w.array("x", Char, 0, []int{1, 1}, w.element(kindUint16, []byte("abc"))), "characters of 2 bytes, found 3 bytes"},
		{"more cells than bytes", w.array("x", Cell, 0, []int{1 << 30, 1}, w.word("", "a")), "at most 7 cells in the 56 bytes left"},
		{"a cell of no array", w.array("x", Cell, 0, []int{1, 1}, one), "expected an array in a cell, found an element of type 9"},
		{"a cell larger than the array", w.array("x", Cell, 0, []int{1, 1}, w.tagged(kindMatrix, 1000, nil)), "found one of 1000 bytes"},
		{"cells too deep", w.array("x", Cell, 0, []int{1, 1}, deep), "at most 16 deep"},
		{"data behind the data", w.array("x", Double, 0, []int{1, 1}, one, one), "expected the end of the variable, found 16 more bytes"},
		{"data behind a cell's", w.array("x", Cell, 0, []int{1, 1}, w.array("", Char, 0, []int{0, 0}, w.element(kindUTF8, nil), one)), "expected the end of the variable"},
		{"no data", w.array("x", Double, 0, []int{1, 1}), "expected another element"},
		{"a small element of more than 4 bytes", w.array("x", Double, 0, []int{1, 1}, w.tagged(8<<16|kindDouble, 0, make([]byte, 8))), "at most 4 bytes in a small element, found 8"},
		{"flags of another type", w.tagged(kindMatrix, 16, w.element(kindDouble, make([]byte, 8))), "expected array flags"},
		{"an endless name", w.array(strings.Repeat("x", maxName+1), Double, 0, []int{1, 1}, one), "expected the name of a variable, of at most 4096 bytes"},
		{"an endless text", w.compressed(w.array("x", Char, 0, []int{1, 80 << 20}, w.element(kindUTF8, make([]byte, 80<<20)))), "expected at most 67108864 bytes of text"},
		{"no variable", w.element(kindDouble, make([]byte, 8)), "expected a variable, found an element of type 9"},
		{"compressed twice", compressedTwice, "expected a variable, found an element of type 15"},
		{"wrong checksum", badSum, "checksum"},
		{"not zlib", w.tagged(kindCompressed, 8, []byte("not zlib")), "expected compressed data"},
		{"more after the compressed variable", w.compressed(append(w.doubles("x", []int{1, 1}, 1), 0)), "expected the end of the compressed data, found more"},
		{"overstated compressed size", w.compressed(w.array("x", Double, 0, []int{1 << 28, 1}, w.tagged(kindDouble, 1<<31, nil))), "expected an element within"},
		{"all compressed sizes overstated", w.compressed(overstated(1 << 28)), "unexpected EOF"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var err error
			if n := allocated(func() { _, err = read(w.file(c.element), "x") }); n > 4<<20 {
				t.Errorf("%d bytes claimed 4 MB: %d", len(c.element), n)
			}
			checkError(t, err)
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

// overstated is an array whose sizes all declare n doubles that are missing.
func overstated(n uint32) []byte {
	element := little.array("x", Double, 0, []int{int(n), 1}, little.tagged(kindDouble, 8*n, nil))
	binary.LittleEndian.PutUint32(element[4:], uint32(len(element)-tagSize)+8*n)
	return element
}

// checkError checks that an error is an *invalid.Error that names the file.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *invalid.Error
	if !errors.As(err, &e) {
		t.Fatalf("want an *invalid.Error, got %v", err)
	}
	if e.Where != "test.mat" {
		t.Errorf("the error names the file %q", e.Where)
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
	bad := little.array("x", Double, 0, []int{2, 2}, little.numbers(kindDouble, 1))
	first := little.doubles("first", []int{1, 1}, 1)
	begin := headerSize + len(first) + tagSize
	const inside = 16 + 16 + 8 + 8 // flags, dimensions, name (a small element), tag of the data
	for _, c := range []struct {
		element []byte
		want    string
	}{
		{bad, fmt.Sprintf("x, byte %d", begin+inside)},
		{little.compressed(bad), fmt.Sprintf("x, byte %d of the compressed data at byte %d", tagSize+inside, begin)},
	} {
		_, err := read(little.file(first, c.element), "x")
		var e *invalid.Error
		if !errors.As(err, &e) || e.Field != c.want {
			t.Errorf("error %v: want %s", err, c.want)
		}
	}
}

func TestOtherFormats(t *testing.T) {
	level5 := little.file()
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
			checkError(t, err)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

// A truncated file is refused, even where the wanted variable is complete.
func TestTruncated(t *testing.T) {
	for _, path := range []string{"testdata/plain/att_splits.mat", "testdata/compressed/att_splits.mat"} {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := list(whole)
		if err != nil {
			t.Fatal(err)
		}
		ends := make(map[int]bool) // of variables: a cut there cannot be seen
		f, err := openFile(bytes.NewReader(whole), int64(len(whole)), "test.mat")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.elements {
			ends[int(e.offset+e.size)] = true
		}
		for n := headerSize + 1; n < len(whole); n += 3 {
			if ends[n] {
				continue
			}
			_, err := read(whole[:n], all[0].Name)
			checkError(t, err)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "truncated") {
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
	data := little.file(little.doubles("x", []int{1, 1}, 1))
	for _, from := range []int64{0, headerSize, headerSize + 8, headerSize + 40} {
		f, err := openFile(brokenDisk{bytes.NewReader(data), from}, int64(len(data)), "test.mat")
		if err == nil {
			_, err = f.read([]string{"x"})
		}
		checkError(t, err)
		if !errors.Is(err, errDisk) {
			t.Errorf("from byte %d: %v", from, err)
		}
	}
}
