package integers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// array makes a file of a header and values.
func array(header string, values ...any) []byte {
	b := []byte(npy.Magic + "\x01\x00")
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

func head(kind, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }      \n", kind, shape)
}

// write writes a file and returns its path.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	version2 := []byte(npy.Magic + "\x02\x00")
	version2 = binary.LittleEndian.AppendUint32(version2, uint32(len(head("|u1", "(2,)"))))
	version2 = append(append(version2, head("|u1", "(2,)")...), 3, 4)
	for _, c := range []struct {
		name string
		file string
		data []byte
		want []int
	}{
		{"int64", "a.npy", array(head("<i8", "(3,)"), []int64{5, -1, 1 << 40}), []int{5, -1, 1 << 40}},
		{"int32", "a.NPY", array(head("<i4", "(2,)"), []int32{7, -2}), []int{7, -2}},
		{"int16", "a.npy", array(head("<i2", "(2,)"), []int16{7, -300}), []int{7, -300}},
		{"int8", "a.npy", array(head("|i1", "(2,)"), []int8{7, -2}), []int{7, -2}},
		{"uint8", "a.npy", array(head("|u1", "(2,)"), []uint8{7, 255}), []int{7, 255}},
		{"uint16", "a.npy", array(head("<u2", "(1,)"), uint16(65535)), []int{65535}},
		{"uint32", "a.npy", array(head("<u4", "(1,)"), uint32(1<<32-1)), []int{1<<32 - 1}},
		{"uint64", "a.npy", array(head("<u8", "(1,)"), uint64(9)), []int{9}},
		{"big endian", "a.npy", array(head(">i2", "(2,)"), []byte{1, 0, 0, 2}), []int{256, 2}},
		{"column", "a.npy", array(head("<i8", "(2, 1)"), []int64{5, 6}), []int{5, 6}},
		{"row", "a.npy", array(head("<i8", "(1L, 2L)"), []int64{5, 6}), []int{5, 6}},
		{"version 2", "a.npy", version2, []int{3, 4}},
		{"lines", "a.txt", []byte("3\n0\r\n-2\n"), []int{3, 0, -2}},
		{"commas", "a.csv", []byte("3,0, 2"), []int{3, 0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(t.Context(), write(t, c.file, c.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	good := array(head("<i8", "(2,)"), []int64{5, 6})
	for _, c := range []struct {
		name  string
		file  string
		data  []byte
		parts []string
	}{
		{"floats", "a.npy", array(head("<f4", "(1,)"), float32(1)), []string{"integers", "astype", "'<f4'"}},
		{"text of Python", "a.npy", array(head("<U5", "(1,)"), make([]byte, 20)), []string{"integers", "'<U5'"}},
		{"records", "a.npy", array("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,), }", int64(1)), []string{"integers", "[('a', '<i8')]"}},
		{"a matrix", "a.npy", array(head("<i8", "(2, 2)"), make([]int64, 4)), []string{"one dimension", "(2, 2)"}},
		{"a number", "a.npy", array(head("<i8", "()"), int64(1)), []string{"one dimension", "()"}},
		{"too short", "a.npy", good[:len(good)-1], []string{"2 values of 8 bytes", "found 15 bytes"}},
		{"too long", "a.npy", append(good, 0), []string{"found 17 bytes"}},
		{"beyond the file", "a.npy", array(head("<i8", "(9223372036854775807,)")), []string{"9223372036854775807 values"}},
		{"no size", "a.npy", array(head("<i8", "(99999999999999999999,)")), []string{"header", "a size of the array", `"99999999999999999999"`}},
		{"no shape", "a.npy", array("{'descr': '<i8'}", int64(1)), []string{"header", "shape", "found [descr]"}},
		{"nothing in the header", "a.npy", array("", int64(1)), []string{"header", `"{"`, `""`}},
		{"cut in the header", "a.npy", good[:20], []string{"unexpected EOF"}},
		{"another version", "a.npy", append([]byte(npy.Magic+"\x09\x00"), good...), []string{"version 1, 2 or 3", "found 9"}},
		{"no array", "a.npy", []byte("1\n2\n"), []string{"numpy.save", `"1\n2\n"`}},
		{"too large", "a.npy", array(head("<u8", "(2,)"), []uint64{1, 1 << 63}), []string{"2^63", "place 1"}},
		{"none", "a.npy", array(head("<i8", "(0,)")), []string{"at least one", "found none"}},
		{"no text", "a.txt", nil, []string{"at least one", "found none"}},
		{"words", "a.txt", []byte("1\n2 wren"), []string{"line 2", "whole numbers", `"wren"`}},
		{"halves", "a.csv", []byte("1,2.5"), []string{"line 1", `"2.5"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.file, c.data)
			_, err := Read(t.Context(), path)
			var e *invalid.Error
			if !errors.As(err, &e) {
				t.Fatalf("expected a *invalid.Error, found %v", err)
			}
			for _, part := range append(c.parts, path+": ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error doesn't say %q: %v", part, err)
				}
			}
		})
	}
	if _, err := Read(t.Context(), filepath.Join(t.TempDir(), "none.npy")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found %v for a file that isn't there", err)
	}
}

// What is written as text is read again, however it is parted.
func TestParseReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Int(), 1, 9).Draw(t, "numbers")
		var text strings.Builder
		for _, n := range want {
			fmt.Fprint(&text, n, rapid.SampledFrom([]string{",", ", ", " ", "\n", "\r\n", "\t"}).Draw(t, "sign"))
		}
		got, err := Parse("text", text.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// No bytes end in a panic, or in more numbers than there are bytes.
func FuzzNPY(f *testing.F) {
	f.Add(array(head("<i8", "(2,)"), []int64{5, 6}))
	f.Add(array(head(">u2", "(2, 1)"), []uint16{5, 6}))
	f.Add(array(head("<f4", "()"), float32(5)))
	f.Fuzz(func(t *testing.T, data []byte) {
		numbers, err := parseNPY("a.npy", data)
		if err == nil && len(numbers) > len(data) {
			t.Errorf("%d numbers of %d bytes", len(numbers), len(data))
		}
		if e := (*invalid.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Errorf("expected a *invalid.Error, found %T", err)
		}
	})
}
