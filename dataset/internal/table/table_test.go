package table

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func Example() {
	var problems invalid.List
	t := Parse("classes.csv", strings.NewReader("class,barks\ncat,never\ndog,90\n"), &problems)
	if t.HasColumns([]string{"class"}, Any) {
		for i, name := range t.Names("class") {
			fmt.Println(name, t.Probability(t.Rows[i], t.Column("barks")))
		}
	}
	fmt.Println(problems.Err())
	// Output:
	// cat 0
	// dog 0
	// classes.csv: line 3, column barks: expected a number from 0 to 1, a percentage, one of never, no, rarely, sometimes, often, always, yes, or nothing if it is not described, found "90", which is above 1: write % behind percentages, and divide values of another scale by its largest value
}

func TestProblems(t *testing.T) {
	const form = dataset.FormOfTables
	const quote = `: expected cells that are quoted whole or not at all, found another quote. Write "" for a quote inside a cell, and commas between cells. In R, write.csv does; in pandas, read_csv(FILE, sep="\t", quoting=3).to_csv(NEW, index=False) of a text with tabs.`
	for text, want := range map[string]string{
		"":                        "t: expected a header with the names of the columns, found an empty file",
		"PK\x03\x04":              "t: expected " + form + ", found a ZIP archive, such as a PyTorch checkpoint (.pt, .pth), .npz or .xlsx. Save a spreadsheet as CSV; in Python, pandas reads other tables",
		"name,id\n":               "t: expected at least one line below the header, found none",
		"name,id\n\n1,2\n3\n":     "t: line 4: expected 2 cells, one for each column, found 1",
		"name,id\n1,2,3\n":        "t: line 2: expected 2 cells, one for each column, found 3. Names of rows? In R, row.names = FALSE",
		"name\nb\n\xe9\n":         "t: line 3: expected " + form + ", found another encoding. In Excel, save it as \"CSV UTF-8\".",
		"name\n1\n2\"\n":          "t: line 3, character 2" + quote,
		"name,id\n1,2\n\"a\"x":    "t: line 3, character 3" + quote,
		"name,id\na,1\nb,1\n":     "<nil>",
		"id\n1\n":                 `t: line 1: expected a column name, found "id"`,
		"name,id,id\na,1,1\n":     `t: line 1: expected each column once, found "id" twice`,
		"name,idd\na,1\n":         `t: line 1: expected only the columns name, id, found "idd". Did you mean id?`,
		",name\n1,a\n":            `t: line 1: expected only the columns name, id, found an empty cell. Numbers of rows? Write the file without: to_csv(index=False), or row.names = FALSE in R.`,
		"Table 1\nid,name\n1,a\n": `t: line 1: expected the names of the columns, found "Table 1" alone, as in a title. Remove what is above the names, and name each column.`,
		"T,,,\nid,name,x\n1,a,\n": `t: line 1: expected the names of the columns, found "T" alone`,
		"ID,Name\na,b\nc,\n":      "t: line 3, column name: expected a name, found an empty cell",
		"id|name\n1|a\n":          `t: line 1: expected a column name, found "id|name". Write commas between cells.`,
		"name;id\n0,5;62.000\n":   "t: line 2: expected numbers with one decimal sign, found 0,5 and 62.000. Write them without separators of thousands.",
		"name,id\n０．７５ %,1\n":     "t: line 2: expected digits from 0 to 9, found \"０．７５ %\", digits of another script. In Python: \"\".join(str(unicodedata.decimal(c, c)) for c in unicodedata.normalize(\"NFKC\", text)).replace(\"٫\", \".\").",
		"name,id\na３,٠٫٧٥\n":      "t: line 2: expected digits from 0 to 9, found \"٠٫٧٥\", digits of another script",
		"\xff\xfen\x00":           "t: expected " + form + ", found text in UTF-16. In Excel",
		",id\na,1\n":              `t: line 1: expected a column name, found ",id". If the first column, which has no name, is that one, name it name.`,
		"name,id\ra,1\r":          `t: expected ` + form + `, found lines that end in CR alone, as of old Macs. In Excel, save it as "CSV UTF-8".`,
		"sep=;\nname;id\n1\n":     "t: expected " + form + `, found a line "sep=;". Delete it.`,
		"name\na\n\na\n":          `t: line 4, column name: expected a different name on each line, found "a", which is also on line 2`,
		"name\n\"['a', 'b']\"\n":  `t: line 2, column name: expected one name, not a list of them, found "['a', 'b']"`,
		"name\na\x1b[31m\n":       `t: line 2, column name: expected a name without control characters, found "a\x1b[31m"`,
	} {
		var problems invalid.List
		if table := Parse("t", strings.NewReader(text), &problems); table != nil && table.HasColumns([]string{"name"}, "id") {
			table.Names("name")
		}
		if got := fmt.Sprint(problems.Err()); !strings.HasPrefix(got, want) {
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
		table := Parse("t", iotest.OneByteReader(strings.NewReader(text)), &problems)
		if problems.Err() != nil {
			t.Errorf("%s: %v", name, problems.Err())
			continue
		}
		got := [][]string{table.Columns}
		for _, row := range table.Rows {
			got = append(got, row.Cells)
		}
		testkit.Equal(t, name, got, want)
	}
	for line, want := range map[string]byte{
		"a": ',', "0,5;1,25;3": ';', `"a;b;c",d`: ',', "a; b,c,d": ',', "1\t2,5": '\t', "Klasse;Flügel, lang;Beine": ';', "a, b, c;d": ',', "1,2": ',',
	} {
		testkit.Equal(t, "separator of "+line, separatorOf(line), want)
	}
	path := testkit.Write(t, t.TempDir(), "list.csv", "path\theight\tdepth\na.jpg\t1,5\t12.345\n")
	if list := ReadText(t.Context(), path, &invalid.List{}); list == nil || list.Rows[0].Cells[1] != "1,5" {
		t.Errorf("a list of photographs: %+v", list)
	}
	sheet := testkit.Write(t, t.TempDir(), "classes.xlsx", "PK")
	var problems invalid.List
	Read(t.Context(), strings.TrimSuffix(sheet, "xlsx")+"csv", &problems, nil)
	testkit.WantError(t, problems.Err(), "classes.csv: no such file or directory. Save classes.xlsx as CSV.")
}

// Near names are looked for only where they are shown.
func TestManyUnknownNames(t *testing.T) {
	known := make([]string, 20_000)
	for i := range known {
		known[i] = fmt.Sprintf("attribute number %d", i)
	}
	var problems invalid.List
	table := Parse("t", strings.NewReader("a\n1\n"), &problems)
	for i, name := range known {
		table.ReportUnknown("unknown", 1, "", "an attribute", fmt.Sprint(name, i), known)
	}
	if problems.Len() != invalid.MaxOfKind+1 || !strings.Contains(problems.Err().Error(), "found 19995 more") {
		t.Errorf("found %v", problems.Err())
	}
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
		testkit.WantError(t, err, "lines of at most 16.8 MB and 1048576 cells, found a longer one")
	}
}

func TestProbability(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "1": 1, "0.25": 0.25, " 1e-3 ": 0.001, ".5": 0.5, "1.0": 1,
		"yes": 1, "Always": 1, "OFTEN": 0.75, "sometimes": 0.5, "rarely": 0.1, "no": 0, "never ": 0,
		"TRUE": 1, "False": 0, "": math.NaN(), "  ": math.NaN(), "NA": math.NaN(), "nd": math.NaN(), "n/a": math.NaN(), "NaN": math.NaN(), "null": math.NaN(), "?": math.NaN(), "#N/A": math.NaN(), "<NA>": math.NaN(), "12.5 %": 0.125, "100%": 1, "0%": 0,
	} {
		testkit.Near(t, text, testkit.Must(Probability(text))(t), want, 0)
	}
	const below = ", which is below 0: write 0 for no, and leave the cell empty if it is not known; scale vectors, such as those of a text encoder, as (x - x.min(0)) / (x.max(0) - x.min(0))"
	const above = ", which is above 1: write % behind percentages, and divide values of another scale by its largest value"
	for text, found := range map[string]string{
		"2": `"2"` + above, "101": `"101"` + above, "101 %": `"101 %", which is above 100`, "-1%": `"-1%"` + below,
		"-1": `"-1"` + below, "0_1": `"0_1"`, "0x1p-1": `"0x1p-1"`, "0,5": `"0,5". Write a decimal point.`, "None": `"None". Leave the cell empty if it is not known, and write no if the class does not have it.`, "inf": `"inf"`, "maybe": `"maybe"`,
	} {
		_, err := Probability(text)
		testkit.Equal(t, text, fmt.Sprint(err), "expected "+wantProbability+", found "+found)
	}
}

// Numbers and percentages do not mix in a file; words and 0 go with both.
func TestScale(t *testing.T) {
	for text, want := range map[string]string{
		"0.5,1,yes,0,": "", "50%,0,often,100 %": "", "50%,0,1": "50%", "0.5,,5%": "0.5",
	} {
		var s Scale
		var err error
		for cell := range strings.SplitSeq(text, ",") {
			if _, err = s.Probability(cell); err != nil {
				break
			}
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "one of the two in a file, found") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
