package table_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

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
	t := table.New("two\nlines", "name", "sum of all", "mean <")
	t.Right(2, 3)
	t.Row("two words", "1", "-").Row("a,b").Line().Row("c").Line().Row("total", "10", "2")
	return t.Note("one\ntwo")
}

func TestText(t *testing.T) {
	want := `two
lines
┌───────────┬──────┬──────┐
│ name      │ sum  │ mean │
│           │ of   │ <    │
│           │ all  │      │
├───────────┼──────┼──────┤
│ two words │    1 │    - │
│ a,b       │      │      │
├───────────┼──────┼──────┤
│ c         │      │      │
├───────────┼──────┼──────┤
│ total     │   10 │    2 │
└───────────┴──────┴──────┘
one
two
`
	testkit.Equal(t, "found", everything().Text(27, 0), want)
}

// Where a box has no room, its lines are left out first, then each row is a record.
func TestNarrowText(t *testing.T) {
	made := table.New("", "run", "note", "accuracy").Right(3).Row("birds-k-soft", "-", "62.5 %").Row("birds", "of two", "7.5 %")
	testkit.Equal(t, "without lines", made.Text(30, 0), `run           note    accuracy
──────────────────────────────
birds-k-soft  -         62.5 %
birds         of two     7.5 %
`)
	testkit.Equal(t, "records", made.Text(20, 0), `birds-k-soft
  accuracy 62.5 %
birds
  note of two;
  accuracy 7.5 %
`)
}

// A cell that is wrapped stays indented.
func TestIndentedText(t *testing.T) {
	made := table.New("", "part", "share").Row("foot").Row("  none of the group", "1.00")
	testkit.WantText(t, made.Text(21, 0), "│ foot      │       │\n│   none of │ 1.00  │\n│   the     │       │\n│   group   │       │\n")
	testkit.Equal(t, "records", made.Text(12, 0), "foot\n  none of\n    the\n    group\n    share\n    1.00\n")
}

// Cells from right to left are isolated, but not in CSV.
func TestTextIsolates(t *testing.T) {
	t1 := table.New("", "class", "share").Row("عقاب", "50 %").Row("owl", "9 %")
	testkit.WantText(t, t1.Text(80, 0), "│ \u2068عقاب\u2069  │ 50 %  │\n│ owl   │ 9 %   │\n")
	testkit.Equal(t, "CSV", t1.CSV(), "class,share\nعقاب,50 %\nowl,9 %\n")
}

// No line of a table is longer than the width, and words and, in columns, intervals stay whole.
func TestTextIsAsWideAsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		cells := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,8}){0,5}`), columns, columns)
		made := table.New("a title of several words", cells.Draw(t, "header")...).Right(columns)
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row := make([]any, columns)
			for i, c := range cells.Draw(t, "row") {
				row[i] = c
			}
			row[columns-1] = "58.1 to 81.7" // is not wrapped
			made.Row(row...)
		}
		width := rapid.IntRange(40, 140).Draw(t, "width")
		text := made.Note("%s\n  %[1]s\n  lago-train %[2]s", strings.Repeat("word ", 40), strings.Repeat("x", 150)).Text(width, width)
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > width && !strings.Contains(line, "lago-train x") {
				t.Errorf("a line has %d characters, expected at most %d:\n%s", n, width, text)
			}
		}
		for _, r := range made.Rows {
			for _, c := range r[:columns-1] {
				for _, word := range strings.Fields(c.(string)) {
					if !regexp.MustCompile(`\b` + word + `\b`).MatchString(text) {
						t.Errorf("%q is broken:\n%s", word, text)
					}
				}
			}
		}
		if width > 11*columns+5 && !strings.Contains(text, " 58.1 to 81.7 ") {
			t.Errorf("an interval is broken:\n%s", text)
		}
	})
}

func TestHTML(t *testing.T) {
	page := everything().HTML() + table.New("a < b").Note("c").HTML() + table.New("", "", "x").Row("y", 1).HTML()
	testkit.WantText(t, page, "<caption", "two\nlines</caption>", `mean &lt;</th>`, `<td>two words</td>`,
		`<td class="number">1</td>`, "<td>total</td>", "</table>\n<p class=\"note\">one\ntwo</p>\n<p>a &lt; b</p>\n<p class=\"note\">c</p>\n")
	testkit.WantNoText(t, page, `align="right"`, "<th>&nbsp;</th>") // but a class, and no header without a text
}

// What goes into cells comes out of the CSV, and no rendering has control characters or markup of its cells.
func TestCellsAreEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 2, 4).Draw(t, "header")
		made := table.New("<title>\x1b", header...).Note("<note>\x1b")
		want := [][]string{header}
		for _, row := range rapid.SliceOfN(rapid.SliceOfN(rapid.String(), len(header), len(header)), 0, 5).Draw(t, "rows") {
			cells, printed := make([]any, len(row)), make([]string, len(row))
			for i, c := range row {
				cells[i], printed[i] = "x"+c, "x"+format.Printable(c) // no row is empty
			}
			made.Row(cells...)
			want = append(want, printed)
		}
		got := testkit.Must(csv.NewReader(strings.NewReader(made.CSV())).ReadAll())(t)
		testkit.Equal(t, "CSV", got, want)
		made.Row("<cell>\x1b", 1, "\"'&")
		for _, s := range []string{made.Text(20, 0), made.HTML(), made.CSV()} {
			testkit.WantNoText(t, s, "\x1b")
		}
		if tag := regexp.MustCompile("<(title|note|cell)>").FindString(made.HTML()); tag != "" {
			t.Errorf("%s is left in the HTML", tag)
		}
	})
}

// A column without a value in any row is shown only in CSV, which programs read.
func TestEmptyColumns(t *testing.T) {
	for cell, shown := range map[string]bool{format.Missing: false, "": false, "1": true} {
		made := table.New("", "a", "b", "c").Right(3).Row("x", cell, "2").Row("y")
		testkit.Equal(t, cell, made.CSV(), "a,b,c\nx,"+cell+",2\ny,,\n")
		for _, text := range []string{made.Text(80, 0), made.HTML()} {
			testkit.Equal(t, text, strings.Contains(text, "│ b ") || strings.Contains(text, "<th>b<"), shown)
		}
		testkit.WantText(t, made.HTML(), `<td class="number">2</td>`)
	}
}
