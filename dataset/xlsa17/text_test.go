package xlsa17

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"numbers and spaces", "1 a::b\n2  c d\n", []string{"a::b", "c d"}},
		{"numbers and tabs", "   1\tant\n\n  12\tgreat  ape \n", []string{"ant", "great  ape"}},
		{"no numbers", "a\nb c\n", []string{"a", "b c"}},
		{"a line without number", "1 a\nb\n", []string{"1 a", "b"}},
		{"numbers that belong to the name", "002.Laysan\n001.Black\n", []string{"002.Laysan", "001.Black"}},
		{"line ends of Windows", "1 a\r\n2 b\r\n", []string{"a", "b"}},
	} {
		got := testkit.Must(namesOf("a file", splitLines(tt.text)))(t)
		testkit.Equal(t, tt.name, got, tt.want)
	}
}

// Any text gives a result or an error that names the file, and line ends make no difference.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"", "\n", "a", "1 a\n2 b\n", "2 a\n1 b", "1 a\r\n\r\n3\tb c \r\n", "a\nb\na\n", "\ufeff-1 0.5\n1e2 nan\n", "1 2\n3\n",
		"0x1p-2 1_0\n", "inf -inf\n+1 .5", "99999999999999999999 a\n1 b", "\xff\xfe1\x00 \x00a\x00", "a\rb\rc", "\u00a0 1\u2003a", "\x95\x0f\xf6\u0344",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := splitLines(text)
		windows := splitLines(strings.ReplaceAll(text, "\n", " \r\n") + "\r\n")
		testkit.Equal(t, "with other line ends", windows, lines, cmp.AllowUnexported(line{}), cmpopts.EquateEmpty())
		wantNames(t, lines)
		checkMatrix(t, lines)
	})
}

func wantFileError(t *testing.T, err error) {
	t.Helper()
	if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != "a file" {
		t.Fatalf("%#v does not name the file", err)
	}
}

// wantNames checks that names are ends of their lines.
func wantNames(t *testing.T, lines []line) {
	t.Helper()
	names, err := namesOf("a file", lines)
	if err != nil {
		wantFileError(t, err)
		return
	}
	if len(names) != len(lines) {
		t.Fatalf("%d names in %d lines", len(names), len(lines))
	}
	for i, name := range names {
		if name == "" || !strings.HasSuffix(lines[i].text, name) {
			t.Fatalf("line %v gives the name %q", lines[i], name)
		}
	}
}

// checkMatrix checks that a matrix has a row for each line, and that its probabilities are.
func checkMatrix(t *testing.T, lines []line) {
	t.Helper()
	m, err := parseMatrix("a file", lines)
	if err != nil {
		wantFileError(t, err)
		return
	}
	if m.Rows != len(lines) || len(m.Data) != m.Rows*m.Cols {
		t.Fatalf("%d lines give %d numbers for %d x %d", len(lines), len(m.Data), m.Rows, m.Cols)
	}
	if err := toProbabilities(m, "a file", ""); err != nil {
		wantFileError(t, err)
		return
	}
	for i, p := range m.Data {
		if !math.IsNaN(p) && (p < 0 || p > 1) {
			t.Fatalf("number %d becomes the probability %v", i, p)
		}
	}
}
