package format_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/format"
)

func ExampleTable() {
	t := format.NewTable("method", "classes", "accuracy")
	t.Right(3)
	t.Row("LAGO", 33, format.Percent(0.625))
	t.Row("ESZSL", 5, format.Percent(1))
	fmt.Print(t)
	fmt.Println(format.Count(1, "class"), format.Count(2, "class"), format.Bytes(1_500_000))
	// Output:
	// ┌────────┬─────────┬──────────┐
	// │ method │ classes │ accuracy │
	// ├────────┼─────────┼──────────┤
	// │ LAGO   │      33 │   62.5 % │
	// │ ESZSL  │       5 │  100.0 % │
	// └────────┴─────────┴──────────┘
	// 1 class 2 classes 1.5 MB
}

func TestPercent(t *testing.T) {
	for f, want := range map[float64]string{0: "0.0 %", 0.6254: "62.5 %", 1: "100.0 %"} {
		if got := format.Percent(f); got != want {
			t.Errorf("%g: found %q, expected %q", f, got, want)
		}
	}
	if got := format.Percent(math.NaN()); got != "-" {
		t.Errorf("NaN: found %q, expected a dash", got)
	}
}

func TestPoints(t *testing.T) {
	for d, want := range map[float64]string{0: "+0.0", 0.0154: "+1.5", -0.2: "-20.0"} {
		if got := format.Points(d); got != want {
			t.Errorf("%g: found %q, expected %q", d, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := format.List(words, "or"); got != want {
			t.Errorf("%v: found %q, expected %q", words, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for noun, want := range map[string]string{
		"trial": "2 trials", "class": "2 classes", "epoch": "2 epochs",
	} {
		if got := format.Count(2, noun); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for name, want := range map[string]string{"wing: olive": "wing: olive", "été": "été", "a\x1b[31mb\n\u200ec": "a\uFFFD[31mb\uFFFD\uFFFDc"} {
		if got := format.Printable(name); got != want {
			t.Errorf("%q: found %q, expected %q", name, got, want)
		}
	}
	table := format.NewTable("a\x1b[2J")
	table.Row("b\x1b[2J")
	if strings.Contains(table.String(), "\x1b") {
		t.Errorf("a control character is printed:\n%q", table)
	}
}

func TestTableWrapsAndEndsInAFooter(t *testing.T) {
	table := format.NewTable("name", "sum")
	table.Right(2)
	table.Wrap(7, 1)
	table.Row("two words", "1")
	table.Footer("total", "10")
	want := `┌─────────┬─────┐
│ name    │ sum │
├─────────┼─────┤
│ two     │   1 │
│ words   │     │
├─────────┼─────┤
│ total   │  10 │
└─────────┴─────┘
`
	if got := table.String(); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB",
		123_456_789: "123.5 MB", math.MaxInt64: "9.2 EB",
	} {
		if got := format.Bytes(n); got != want {
			t.Errorf("%d: found %q, expected %q", n, got, want)
		}
	}
}
