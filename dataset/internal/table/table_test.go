package table

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func ofText(text io.Reader, problems *invalid.List) *Table {
	return parse(NewReader("classes.csv", text), problems)
}

func TestProblems(t *testing.T) {
	const form = "expected " + dataset.FormOfTables + ", found "
	const names = `Names of rows? Write the file without: to_csv(index=False), or row.names = FALSE in R.`
	const write = `Save a spreadsheet as "CSV UTF-8"; in pandas, to_csv("table.csv", index=False)`
	for text, want := range map[string]string{
		"":                        "expected a header with the names of the columns, and at least one line below it, found 0 lines",
		"name,id\n":               "expected a header with the names of the columns, and at least one line below it, found 1 line",
		"PK\x03\x04":              form + "a ZIP archive, such as a PyTorch checkpoint (.pt, .pth), .npz or .xlsx. " + write,
		"\xff\xfen\x00":           form + "text in UTF-16. In Excel",
		"name\nb\n\xe9\n":         "line 3: " + form + "another encoding. " + write,
		"name\tn\n4\" x 6\"\t1\n": "line 2: " + form + "a quote within a cell. Text between tabs without quoting, as GBIF exports it, becomes CSV in pandas: read_csv(",
		"name\n1\n2\"\n":          "line 3: " + form + `a quote within a cell. Write "" for it, and quotes around the cell. ` + write,
		"name;id\n0,5;62.000\n":   "line 2: " + form + "0,5 and 62.000. " + write,
		"name,id\n\n1,2\n3\n":     "line 4: expected 2 cells, one for each column, found 1",
		"name,id\n1,2,3\n":        "line 2: expected 2 cells, one for each column, found 3. " + names,
		"name,id\na,1\nb,1\n":     "<nil>",
		"id|name\n1|a\n":          `line 1: expected a column name, found "id|name"`,
		"name,id,id\na,1,1\n":     `line 1: expected each column once, found "id" twice`,
		"name,idd\na,1\n":         `line 1: expected only the columns name, id, found "idd". Did you mean id?`,
		",name\n1,a\n":            `line 1: expected only the columns name, id, found an empty cell. ` + names,
		"ID,Name\na,b\nc,\n":      "line 3, column name: expected a name, found an empty cell",
		"name\na\n\na\n":          `line 4, column name: expected a different name on each line, found "a", which is also on line 2`,
		"name\na\x1b[31m\n":       `line 2, column name: expected a name without control characters, found "a\x1b[31m"`,
	} {
		var problems invalid.List
		if table := ofText(strings.NewReader(text), &problems); table != nil && table.HasColumns([]string{"name"}, "id") {
			table.Names("name")
		}
		if got := fmt.Sprint(problems.Err()); !strings.HasPrefix(strings.TrimPrefix(got, "classes.csv: "), want) {
			t.Errorf("%q:\nfound    %s\nexpected %s", text, got, want)
		}
	}
}

// What spreadsheets write is read as the same table.
func TestFormsOfSpreadsheets(t *testing.T) {
	const text = "class,legs,flies\nJosé's jay,0.5,1\nowl,,-2.5e3\n"
	want := [][]string{{"class", "legs", "flies"}, {"José's jay", "0.5", "1"}, {"owl", "", "-2.5e3"}}
	german := strings.NewReplacer(",", ";", ".", ",").Replace(text)
	for name, text := range map[string]string{
		"as it is":                   text,
		"semicolons, decimal commas": german,
		"tabs":                       strings.ReplaceAll(german, ";", "\t"),
		"quotes":                     `"class";"legs";"flies"` + "\n\"José's jay\";\"0,5\";\"1\"\nowl;;-2,5e3\n",
		"empty columns and lines":    "\n" + strings.ReplaceAll(text, "\n", ",,\n,,,,\n  \n , \n"),
		"letters in two parts":       strings.ReplaceAll(text, "é", "e\u0301"),
		"spaces that do not break":   strings.NewReplacer(" ", "\u00a0", "owl", "\u00a0owl\u202f").Replace(text),
	} {
		var problems invalid.List
		table := ofText(iotest.OneByteReader(strings.NewReader(text)), &problems)
		testkit.NoError(t, problems.Err())
		got := [][]string{table.Columns}
		for _, row := range table.Rows {
			got = append(got, row.Cells)
		}
		testkit.Equal(t, name, got, want)
	}
	for line, want := range map[string]rune{
		"a": ',', "0,5;1,25;3": ';', `"a;b;c",d`: ',', "a; b,c,d": ',', "1\t2,5": '\t', "Klasse;Flügel, lang;Beine": ';', "a, b, c;d": ',', "1,2": ',',
	} {
		testkit.Equal(t, "separator of "+line, separatorOf(line), want)
	}
	path := testkit.Write(t, t.TempDir(), "list.csv", "path\theight\tdepth\na.jpg\t1,5\t12.345\n")
	testkit.Equal(t, "a list of photographs", ReadText(t.Context(), path, &invalid.List{}).Rows[0].Cells[1], "1,5")
}

// Near names are looked for only where they are shown.
func TestManyUnknownNames(t *testing.T) {
	known := make([]string, 20_000)
	for i := range known {
		known[i] = fmt.Sprintf("attribute number %d", i)
	}
	var problems invalid.List
	table := ofText(strings.NewReader("a\n1\n"), &problems)
	for i, name := range known {
		table.ReportUnknown("unknown", 1, "", "an attribute", fmt.Sprint(name, i), known)
	}
	testkit.Equal(t, "problems", problems.Len(), invalid.MaxOfKind+1)
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func TestEndlessRecordsAreRefused(t *testing.T) {
	for start, text := range map[string]endless{"a,b\n": "\x00", "a,b\n\"": "a\n", "": "a,"} {
		r := NewReader("t", io.MultiReader(strings.NewReader(start), text))
		var err error
		for err == nil {
			_, err = r.Read()
		}
		testkit.WantError(t, err, "lines of at most 4.2 MB, found a longer one")
	}
}
