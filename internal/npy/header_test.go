package npy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// array is a file with a header of version 1.
func array(header string) string {
	return npy.Magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header
}

// dict is a header in NumPy's form.
func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
}

func TestHeadersOfOtherForms(t *testing.T) {
	want := npy.Header{Type: "<f4", Shape: npy.Shape{1, 2}}
	for _, header := range []string{
		dict("'<f4'", "False", "(1, 2)"),
		dict("'<f4'", "True", "(1,2,)"),
		dict("'<f4'", "False", "(1L, 2L)"),
		"{'shape':(1,2),'fortran_order':False,'descr':'<f4'}",
		"  {\"descr\" : \"<f4\" ,\n'shape': ( 1 , 2 ), 'fortran_order': False\t}  ",
	} {
		got, err := npy.ReadHeader(strings.NewReader(array(header)+"values"), "x.npy")
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		want.Fortran = strings.Contains(header, "True")
		want.Offset = int64(len(array(header)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", header, diff)
		}
	}
}

// Of records there are only names, for the errors of those who read none.
func TestRecords(t *testing.T) {
	for _, list := range []string{
		"[]",
		"[('a', '<f4')]",
		"[('a', [('b', '<i8', (2,)), ('c', '|O')]), ('d', '<f4')]",
		`[('a]', '<f4'), ("it's [", '<f4')]`,
	} {
		h, err := npy.ReadHeader(strings.NewReader(array(dict(list+" ", "False", "(3,)"))), "x.npy")
		if err != nil || h.Type != list || !h.Records() || !cmp.Equal(h.Shape, npy.Shape{3}) {
			t.Errorf("%s is read as %+v: %v", list, h, err)
		}
	}
	h, err := npy.ReadHeader(strings.NewReader(array(dict("'<f4'", "False", "()"))), "x.npy")
	if err != nil || h.Records() || len(h.Shape) != 0 {
		t.Errorf("a number is read as %+v: %v", h, err)
	}
}

func TestDamagedHeaders(t *testing.T) {
	sound := dict("'<f4'", "False", "(2, 3)")
	long := []byte(array(sound))
	long[len(npy.Magic)] = 2 // four bytes of length, the last two from the text
	for _, c := range []struct {
		name    string
		content string
		want    string // behind the name of the file
	}{
		{"empty", "", `header: expected a NumPy array, as numpy.save writes it, found a file that begins with ""`},
		{"text", "1,2,3\n4,5,6\n", `header: expected a NumPy array, as numpy.save writes it, found a file that begins with "1,2,3\n4,"`},
		{"an archive", "PK\x03\x04----------", "header: expected one array, as numpy.save writes it, found an archive of arrays, as numpy.savez does"},
		{"magic alone", npy.Magic, "unexpected EOF"},
		{"no length", array(sound)[:8], "EOF"},
		{"half a header", array(sound)[:40], "unexpected EOF"},
		{"another version", npy.Magic + "\x09\x00", "header: expected version 1, 2 or 3 of the format, found 9"},
		{"a header of a gigabyte", string(long), "header: expected at most 65536 bytes"},
		{"no header", array(""), `header: expected "{", found ""`},
		{"no end of the header", array("{'descr': '<f4'"), `header: expected "," or "}", found ""`},
		{"no end of a string", array("{'descr"), `header: expected an end of the string "'descr", found none`},
		{"an unknown key", array("{'order': 'C'}"), `header: expected the keys descr, fortran_order and shape, found "order"`},
		{"a key twice", array("{'descr': '<f4', 'descr': '<f4'}"), "header: expected every key once, found descr again"},
		{"a key too few", array("{'descr': '<f4', 'shape': (1, 2)}"), "header: expected the keys descr, fortran_order and shape, found [descr shape]"},
		{"no end of a list", array(dict("[('a', '<f4')", "False", "(1, 2)")), `header: expected "]", found ""`},
		{"no end of a string in a list", array("{'descr': [('a)]"), `header: expected an end of the string "'a)]", found none`},
		{"text behind the header", array(strings.TrimSpace(sound) + "; import os"), `header: expected an end, found "; import os"`},
		{"code for a key", array("{f(): 1}"), `header: expected a string, found "f(): 1}"`},
		{"neither true nor false", array(dict("'<f4'", "1", "(1, 2)")), "header: expected True or False"},
		{"a negative size", array(dict("'<f4'", "False", "(-1, 2)")), `header: expected a size of the array, found "-1, 2), }"`},
		{"a size beyond all", array(dict("'<f4'", "False", "(99999999999999999999, 2)")), `header: expected a size of the array, found "99999999999999999999"...`},
		{"sizes without commas", array(dict("'<f4'", "False", "(2 3)")), `header: expected "," or ")", found "3), }"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := npy.ReadHeader(strings.NewReader(c.content), "x.npy")
			checkError(t, err, c.want)
		})
	}
}

// checkError checks that err names the file once and ends as it must.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	var e *invalid.Error
	if !errors.As(err, &e) || e.Where != "x.npy" {
		t.Fatalf("%#v is no *invalid.Error of the file", err)
	}
	if !strings.HasPrefix(err.Error(), "x.npy: "+want) {
		t.Errorf("the error is\n%v\nwant behind the file\n%s", err, want)
	}
}

// Wherever reading fails, the error is the system's and names the file once.
func TestFilesThatCannotBeRead(t *testing.T) {
	content := array(dict("'<f4'", "False", "(2, 3)"))
	cause := &fs.PathError{Op: "read", Path: "x.npy", Err: os.ErrDeadlineExceeded}
	for _, n := range []int{len(npy.Magic) + 1, len(npy.Magic) + 3, len(content) - 1} {
		_, err := npy.ReadHeader(io.MultiReader(strings.NewReader(content[:n]), iotest.ErrReader(cause)), "x.npy")
		checkError(t, err, os.ErrDeadlineExceeded.Error())
	}
}

// What NumPy would write of any type, order and shape is read again, in any version.
func TestHeaderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := npy.Header{
			Type:    rapid.StringMatching(`[<>|][a-zA-Z][0-9]{0,3}`).Draw(t, "type"),
			Fortran: rapid.Bool().Draw(t, "fortran"),
			Shape:   rapid.SliceOfN(rapid.IntMin(0), 0, 5).Draw(t, "shape"),
		}
		shape := want.Shape.String()
		if len(want.Shape) == 1 {
			shape = strings.Replace(shape, ")", ",)", 1) // a tuple in Python
		}
		text := dict("'"+want.Type+"'", map[bool]string{true: "True", false: "False"}[want.Fortran], shape)
		version := rapid.IntRange(1, 3).Draw(t, "version")
		file := append([]byte(npy.Magic), byte(version), 0)
		if version == 1 {
			file = binary.LittleEndian.AppendUint16(file, uint16(len(text)))
		} else {
			file = binary.LittleEndian.AppendUint32(file, uint32(len(text)))
		}
		file = append(file, text...)
		want.Offset = int64(len(file))
		r := bytes.NewReader(append(file, "values"...))
		got, err := npy.ReadHeader(iotest.OneByteReader(r), "x.npy")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s(-want +got):\n%s", text, diff)
		}
		if r.Len() != len("values") {
			t.Fatalf("%d bytes are left of the values", r.Len())
		}
	})
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		shape npy.Shape
		size  int64
		width int
		want  bool
	}{
		{npy.Shape{2, 3}, 24, 4, true},
		{npy.Shape{2, 3}, 20, 4, false},
		{npy.Shape{2, 3}, 25, 4, false},
		{npy.Shape{2, 3}, 0, 4, false},
		{npy.Shape{}, 8, 8, true}, // a number
		{npy.Shape{}, 16, 8, false},
		{npy.Shape{0, 3}, 0, 8, true},
		{npy.Shape{3, 0}, 0, 8, true},
		{npy.Shape{0}, 8, 8, false},
		{npy.Shape{1 << 62, 4}, 0, 4, false},
	} {
		if got := (npy.Header{Shape: c.shape}).Fits(c.size, c.width); got != c.want {
			t.Errorf("%d bytes for %v of %d: %t", c.size, c.shape, c.width, got)
		}
	}
}

// The product of numbers that have room for it says the same.
func TestFitsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.OneOf(rapid.IntRange(0, 4), rapid.SampledFrom([]int{1 << 31, 1 << 32, 1 << 62, math.MaxInt}))
		h := npy.Header{Shape: rapid.SliceOfN(sizes, 0, 4).Draw(t, "shape")}
		width := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "width")
		product := big.NewInt(int64(width))
		for _, n := range h.Shape {
			product.Mul(product, big.NewInt(int64(n)))
		}
		// Of a product that overflows, the low bits are what a careless one would be.
		low := new(big.Int).And(product, big.NewInt(math.MaxInt64)).Int64()
		size := rapid.SampledFrom([]int64{low, low, max(low, 1) - 1, max(low, 8) - 8, 0, 7, 8, 24}).Draw(t, "bytes")
		if want := product.Cmp(big.NewInt(size)) == 0; h.Fits(size, width) != want {
			t.Fatalf("%d bytes for %v of %d: %t, expected %t", size, h.Shape, width, !want, want)
		}
	})
}
