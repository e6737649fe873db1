package xlsa17

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

var compareLines = cmp.AllowUnexported(line{})

func TestReadNumbered(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []line
	}{
		{"no lines", "", []line{}},
		{"numbers and spaces", "1 a::b\n2  c d\n", []line{{1, "a::b"}, {2, "c d"}}},
		{"numbers and tabs", "   1\tant\n\n  12\tgreat  ape \n", []line{{1, "ant"}, {3, "great  ape"}}},
		{"numbers from 0", "0 a\n1 b", []line{{1, "a"}, {2, "b"}}},
		{"no numbers", "a\nb c\n", []line{{1, "a"}, {2, "b c"}}},
		{"a line without number", "1 a\nb\n", []line{{1, "1 a"}, {2, "b"}}},
		{"a line of a number alone", "1 a\n2\n", []line{{1, "1 a"}, {2, "2"}}},
		{"numbers that belong to the name", "002.Laysan\n001.Black\n", []line{{1, "002.Laysan"}, {2, "001.Black"}}},
		{"a byte order mark", "\ufeff1 a\r\n2 b\r\n", []line{{1, "a"}, {2, "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readNumbered(strings.NewReader(tt.text), "a file")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, compareLines, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadLinesStopsAtALineTooLong(t *testing.T) {
	_, err := readLines(strings.NewReader("a\n"+strings.Repeat("b", maxLine+1)), "a file")
	wantError(t, err, "a file: line 2")
	if !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("errors.Is(%v, bufio.ErrTooLong) is false", err)
	}
}

// Whatever a file holds, the readers end in what it says or in an error that
// names it, and line ends make no difference.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"", "\n", "a", "1 a\n2 b\n", "2 a\n1 b", "1 a\r\n\r\n3\tb c \r\n", "a\nb\na\n", "\ufeff-1 0.5\n1e2 nan\n", "1 2\n3\n",
		"0x1p-2 1_0\n", "inf -inf\n+1 .5", "99999999999999999999 a\n1 b", "\xff\xfe1\x00 \x00a\x00", "a\rb\rc", "\u00a0 1\u2003a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := readLines(strings.NewReader(text), "a file")
		if err != nil {
			wantFileError(t, err)
			return
		}
		windows, err := readLines(strings.NewReader(strings.ReplaceAll(text, "\n", " \r\n")+"\r\n"), "a file")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines, windows, compareLines, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("with other line ends (-want +got):\n%s", diff)
		}
		checkNames(t, text, lines)
		checkMatrix(t, text, lines)
	})
}

func wantFileError(t *testing.T, err error) {
	t.Helper()
	var e *invalid.Error
	if !errors.As(err, &e) || e.Where != "a file" {
		t.Fatalf("%#v does not name the file", err)
	}
}

// checkNames checks that names are the ends of their lines, each there once, and
// that each is found again by its spelling.
func checkNames(t *testing.T, text string, lines []line) {
	t.Helper()
	distinct, err := readDistinct(strings.NewReader(text), "a file")
	if err != nil {
		wantFileError(t, err)
		return
	}
	if len(distinct) != len(lines) {
		t.Fatalf("%d names in %d lines", len(distinct), len(lines))
	}
	names := make([]string, len(lines))
	for i, l := range distinct {
		if l.number != lines[i].number || l.text == "" || !strings.HasSuffix(lines[i].text, l.text) {
			t.Fatalf("line %v gives the name %v", lines[i], l)
		}
		names[i] = l.text
	}
	index := newClassIndex(names)
	for i, name := range names {
		if z, err := index.find(name); err != nil || z != i {
			t.Fatalf("name %d, %q, is found at %d: %v", i, name, z, err)
		}
	}
}

// checkMatrix checks that a matrix has a row for each line, and that its numbers
// written out are read as the same.
func checkMatrix(t *testing.T, text string, lines []line) {
	t.Helper()
	m, err := readMatrix(strings.NewReader(text), "a file")
	if err != nil {
		wantFileError(t, err)
		return
	}
	if m.Rows != len(lines) || len(m.Data) != m.Rows*m.Cols {
		t.Fatalf("%d lines give %d numbers for %d x %d", len(lines), len(m.Data), m.Rows, m.Cols)
	}
	var written strings.Builder
	for i := range m.Rows {
		fmt.Fprintln(&written, strings.Trim(fmt.Sprint(m.Row(i)), "[]"))
	}
	again, err := readMatrix(strings.NewReader(written.String()), "a file")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, again, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("written and read again (-want +got):\n%s", diff)
	}
	checkProbabilities(t, m)
}

func checkProbabilities(t *testing.T, m dataset.Matrix[float64]) {
	t.Helper()
	if err := toProbabilities(m, "a file", "row"); err != nil {
		wantFileError(t, err)
		return
	}
	for i, p := range m.Data {
		if !math.IsNaN(p) && (p < 0 || p > 1) {
			t.Fatalf("number %d becomes the probability %v", i, p)
		}
	}
}
