package table_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
)

func ExampleWriteText() {
	t := table.New("Accuracy on birds", "method", "classes", "accuracy").Right(3)
	t.Row("LAGO", 33, format.Percent(0.625)).Row("ESZSL", 5, format.Percent(1))
	t.Note("mean over %s", format.Count(5, "seed"))
	if err := table.WriteText(os.Stdout, t, nil, table.New("Nothing is missing.")); err != nil {
		fmt.Println(err)
	}
	fmt.Print("\n", t.CSV())
	// Output:
	// Accuracy on birds
	// ┌────────┬─────────┬──────────┐
	// │ method │ classes │ accuracy │
	// ├────────┼─────────┼──────────┤
	// │ LAGO   │      33 │   62.5 % │
	// │ ESZSL  │       5 │  100.0 % │
	// └────────┴─────────┴──────────┘
	// mean over 5 seeds
	//
	// Nothing is missing.
	//
	// method,classes,accuracy
	// LAGO,33,62.5 %
	// ESZSL,5,100.0 %
}

// everything has what a table can have.
func everything() *table.Table {
	t := table.New("two\nlines", "name", "sum", "mean").Span("", "finches & co", "finches & co")
	t.Right(2, 3).Wrap(7, 1)
	t.Row("two words", "1", "-").Row("a,b").Line().Row("c").Footer("total", "10")
	return t.Note("one\ntwo")
}

func TestText(t *testing.T) {
	want := `two
lines
┌─────────┬────────────────┐
│         │  finches & co  │
│ name    │ sum   │ mean   │
├─────────┼───────┼────────┤
│ two     │     1 │      - │
│ words   │       │        │
│ a,b     │       │        │
├─────────┼───────┼────────┤
│ c       │       │        │
├─────────┼───────┼────────┤
│ total   │    10 │        │
└─────────┴───────┴────────┘
one
two
`
	if diff := cmp.Diff(want, everything().Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHTML(t *testing.T) {
	page := everything().HTML() + table.New("a < b").Note("c").HTML()
	testkit.WantText(t, page, "<caption", "two\nlines</caption>", `colspan=2>finches &amp; co</th>`, `<td>two words</td>`,
		`<td class="number">1</td>`, "<tfoot>", "</table>\n<p class=\"note\">one\ntwo</p>\n<p>a &lt; b</p>\n<p class=\"note\">c</p>\n")
	if strings.Contains(page, `align="right"`) {
		t.Errorf("an alignment is no class:\n%s", page)
	}
}

// What goes into cells comes out of the CSV, and no rendering has control characters or
// markup of its cells.
func TestCellsAreEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 2, 4).Draw(t, "header")
		of := table.New("<title>\x1b", header...).Note("<note>\x1b")
		want := [][]string{header}
		for _, row := range rapid.SliceOfN(rapid.SliceOfN(rapid.String(), len(header), len(header)), 0, 5).Draw(t, "rows") {
			cells, printed := make([]any, len(row)), make([]string, len(row))
			for i, c := range row {
				cells[i], printed[i] = "x"+c, "x"+format.Printable(c) // no row is empty
			}
			of.Row(cells...)
			want = append(want, printed)
		}
		got, err := csv.NewReader(strings.NewReader(of.CSV())).ReadAll()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("CSV: %v (-want +got):\n%s", err, diff)
		}
		of.Row("<cell>\x1b", 1, "\"'&")
		for _, s := range []string{of.Text(), of.HTML(), of.CSV()} {
			if strings.Contains(s, "\x1b") {
				t.Errorf("a control character is left in %q", s)
			}
		}
		if tag := regexp.MustCompile("<(title|note|cell)>").FindString(of.HTML()); tag != "" {
			t.Errorf("%s is left in the HTML", tag)
		}
	})
}

func TestCSV(t *testing.T) {
	if diff := cmp.Diff("name,finches & co sum,finches & co mean\ntwo words,1,-\n\"a,b\",,\nc,,\n", everything().CSV()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
