package descriptions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

var attributes = []Attribute{
	{"has_wing_color::olive", "has_wing_color"},
	{"has_wing_color::grey", "has_wing_color"},
	{"has_bill_shape::all-purpose", "has_bill_shape"},
	{"has_bill_shape::curved_(up_or_down)", "has_bill_shape"},
	{"large", "size"},
	{"grey", "size"}, // ambiguous
}

var nan = math.NaN()

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text string
		classes    []string
		u          []float64
	}{
		{
			"wide",
			"class,has_wing_color::olive,has_bill_shape::all-purpose,size::grey\nVireo,0.5,,1\n\"Warbler, olive\", often,no,\n",
			[]string{"Vireo", "Warbler, olive"},
			[]float64{
				0.5, nan, nan, nan, nan, 1,
				0.75, nan, 0, nan, nan, nan,
			},
		},
		{
			"spelling",
			"\ufeffClass,Wing color: Olive,ALL PURPOSE,curved up or down,large,wing color grey,Size Grey\r\nVireo,yes,no,never,always,0.25,rarely\r\n",
			[]string{"Vireo"},
			[]float64{1, 0.25, 0, 0, 1, 0.1},
		},
		{
			"long",
			"class,attribute,value\nVireo,olive,0.5\nWarbler,large,yes\nVireo,size::large,\nVireo,all-purpose,1\n",
			[]string{"Vireo", "Warbler"},
			[]float64{
				0.5, nan, 1, nan, nan, nan,
				nan, nan, nan, nan, 1, nan,
			},
		},
		{
			"a table of traits",
			"species,Wing color,large\nVireo,olive (often),yes\nWarbler,grey; olive,unknown\n",
			[]string{"Vireo", "Warbler"},
			[]float64{
				0.75, 0, nan, nan, 1, nan,
				1, 1, nan, nan, nan, nan,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := testkit.Must(Read(t.Context(), testkit.Write(t, t.TempDir(), "a.csv", c.text), attributes))(t)
			testkit.Equal(t, "classes", got.Classes, c.classes)
			want := dataset.Matrix[float64]{Rows: len(c.classes), Cols: len(attributes), Data: c.u}
			testkit.Equal(t, "descriptions", got.Values(), want, cmpopts.EquateNaNs())
		})
	}
}

func TestReadReportsEveryProblem(t *testing.T) {
	const values = "expected a number from 0 to 1, a percentage, one of never, no, rarely, sometimes, often, always, yes, or nothing if it is not described, found "
	for _, c := range []struct {
		name, text string
		want       []string // lines, without the path
	}{
		{"unknown attributes", "bird,olvie,plumage,grey,large\nVireo,1,red,1,80\nOwl,1,,1,-1\nJay,1,,1,-0.5\n", []string{
			`line 1: expected the name of one attribute of the data set, found "olvie". Did you mean olive?`,
			`line 1: expected the name of one attribute of the data set, found "plumage"`,
			`line 1: expected the name of one attribute of the data set, found "grey"`,
			`line 2, column large: ` + values + `"80". Write % behind percentages, and divide values of another scale by its largest value.`,
			`line 3, column large: ` + values + `"-1". Write 0 for no, and nothing for what is not known. Of vectors, such as those of a text encoder, scale each column to 0 to 1: (x - x.min(0)) / (x.max(0) - x.min(0)).`,
		}},
		{"classes", "class,olive,large\nVireo,1,1\n,1,1\nvireo,,\nVireo,,\nA\x1b[2Jnt,1,1\n", []string{
			`line 3, column class: expected a name, found ""`,
			`line 4, column class: expected "Vireo", as before, or another name, found "vireo"`,
			`line 5, column class: expected one line per class, found a second one of "Vireo"`,
			`line 6, column class: expected a name without control characters, found "A\x1b[2Jnt"`,
		}},
		{"one attribute twice", "class,large,Size large\nVireo,1,1\n", []string{
			`line 1: expected each attribute once, found "Size large" again`,
		}},
		{"one line per value", "class,attribute,value\nVireo,olive,1\nVireo,Wing color: olive,0\nVireo,plumage,1\nOwl,plumage,1\n", []string{
			`line 2, column olive: ` + values + `"1; 0"`,
			`line 4: expected the name of one attribute of the data set, found "plumage"`,
		}},
		{"nothing described", "class,olive,large\nVireo,,\nOwl,1,\n", []string{`class "Vireo": expected at least one described attribute, found none`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := testkit.Write(t, t.TempDir(), "a.csv", c.text)
			_, err := Read(t.Context(), path, attributes)
			if !errors.As(err, new(*invalid.Error)) {
				t.Fatalf("found %v, expected an *invalid.Error", err)
			}
			var got []string
			for line := range strings.SplitSeq(err.Error(), "\n") {
				got = append(got, strings.TrimPrefix(line, path+": "))
			}
			testkit.Equal(t, "found", got, c.want)
		})
	}
}

func TestFind(t *testing.T) {
	var attributes []Attribute
	for _, name := range strings.Fields("has_wing_color::blue has_bill_color::blue has_wing_shape::long has::blue_wing stripes long_neck a::ear b::ear c::ear d::ear e::ear f::ear g::ear twin twin") {
		attributes = append(attributes, Attribute{Name: name})
	}
	v := newVocabulary(attributes)
	for _, c := range []struct {
		name string
		want int
	}{
		{"wing color blue", 0},
		{"long", 2},
		{"blue wing", 3},
		{"Longneck", 5},
	} {
		testkit.Equal(t, c.name, v.find(c.name), []int{c.want})
	}
	testkit.Equal(t, "ambiguous", []int{len(v.find("twin")), len(v.find("ear")), len(v.find("blue"))}, []int{2, 7, 2})
}

// What distinguishes names is kept of all spellings: signs, what is between digits, and vowels of any script.
func TestSpellings(t *testing.T) {
	for _, c := range []struct {
		same  bool
		names string
	}{
		{true, "001.Barn_Owl;Barn-owl;barn owl's;BARN - OWL"},
		{false, "1.2;12;1-2;1_2;1, 2;v1.2;v12"},
		{false, "C;C+;C-;-C;covid-19;covid19;x-1;x1"},
		{false, "หมู;หมี;हल;फल;फूल"},
		{false, "20_speed limit;speed;1.5 litres;5 litres"},
	} {
		names := strings.Split(strings.ReplaceAll(c.names, "'s", ""), ";")
		for z, name := range names {
			x := (&Table{Classes: names[:1]}).Index()
			testkit.Equal(t, name+" is "+names[0], x.Find(name) == 0, c.same || z == 0)
			x = (&Table{Classes: names}).Index()
			testkit.Equal(t, name, x.Find(name), z)
		}
	}
	owls := (&Table{Classes: []string{"Owl", "owl", "1. wren", "2. wren"}}).Index()
	testkit.Equal(t, "ambiguous", []int{owls.Find("OWL"), owls.Find("wren"), owls.Find("owl")}, []int{-1, -1, 1})
}

// Cells are in the scale of the others.
func TestCell(t *testing.T) {
	for other, want := range map[string][]string{"": {"no", "rarely", "yes", ""}, "often": {"no", "rarely", "yes", ""}, "0.5": {"0", "0.2", "1", ""}} {
		d := &Table{Cells: [][]string{{other}}}
		for i, p := range []float64{0, 0.2, 1, math.NaN()} {
			testkit.Equal(t, fmt.Sprintf("%g beside %q", p, other), d.Scale()(p), want[i])
		}
	}
}

// states are what a page saves one after the other, by order: an attribute is added, described as a draft
// and taken back, also the first one, and classes are renamed, checked and deleted.
func states(d *Table) (list []*Table, order []int) {
	for _, change := range []func(*Table){
		func(d *Table) { d.AddClasses("owl") },
		func(d *Table) { d.AddAttributes(Attribute{Name: "flies"}) },
		func(d *Table) { d.Set(0, 0, "yes"); d.SetDraft(Draft{Class: "owl"}, true) },
		func(d *Table) { d.AddAttributes(Attribute{Name: "swims"}) },
		func(d *Table) { d.RenameClass(0, "barn owl") },
		func(d *Table) {
			d.AddClasses("wren")
			d.Set(1, 1, "no")
			d.SetDraft(Draft{Class: "wren"}, true)
		},
		func(d *Table) { d.SetDraft(Draft{Class: "wren"}, false) },
		func(d *Table) { d.RenameClass(0, "") },
	} {
		d = d.Clone()
		change(d)
		list = append(list, d)
	}
	return list, []int{0, 1, 0, 1, 2, 3, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 6, 5, 4, 3, 2, 1}
}

func complete(t testkit.TB, dir string) *Table {
	var problems invalid.List
	d := ReadFolder(context.Background(), dir, true, &problems)
	testkit.NoError(t, problems.Err())
	return d
}

// A kill while descriptions are saved leaves those that were saved last or the next, which can be
// read. LAGO_KILLS is their number.
func TestKilledWhileSaving(t *testing.T) {
	const folder = "LAGO_TEST_FOLDER" // of the child
	if dir := os.Getenv(folder); dir != "" {
		list, order := states(complete(t, dir))
		for i := 0; ; i++ {
			testkit.NoError(t, list[order[i%len(order)]].Save())
			fmt.Println("saved", i)
		}
	}
	kills, err := strconv.Atoi(os.Getenv("LAGO_KILLS"))
	if err != nil {
		kills = 8
	}
	list, order := states(complete(t, t.TempDir()))
	for kill := range kills {
		dir := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run=^TestKilledWhileSaving$")
		c.Env = append(os.Environ(), folder+"="+dir)
		out := testkit.Must(c.StdoutPipe())(t)
		testkit.NoError(t, c.Start())
		r, last := bufio.NewReader(out), -1
		for last < kill%len(order) { // at each of the changes
			testkit.Must(fmt.Fscanf(r, "saved %d\n", &last))(t)
		}
		time.Sleep(time.Duration(kill*37%23) * 100 * time.Microsecond)
		testkit.NoError(t, c.Process.Kill())
		for { // saved before the kill
			if _, err := fmt.Fscanf(r, "saved %d\n", &last); err != nil {
				break
			}
		}
		_ = c.Wait() // killed
		got := complete(t, dir)
		saved, next := list[order[last%len(order)]], list[order[(last+1)%len(order)]]
		is := func(d *Table) bool { // there are never fewer drafts
			for draft := range d.Drafts {
				if !got.Drafts[draft] {
					return false
				}
			}
			return fmt.Sprint(d.Attributes, d.Classes, d.Cells) == fmt.Sprint(got.Attributes, got.Classes, got.Cells)
		}
		if !is(saved) && !is(next) {
			t.Errorf("after change %d: found %v, expected %v or %v", last, *got, *saved, *next)
		}
		if len(got.Attributes) > 0 {
			var problems invalid.List
			ReadFolder(t.Context(), dir, false, &problems)
			testkit.NoError(t, problems.Err())
		}
	}
}

func TestProbability(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "1": 1, "0.25": 0.25, " 1e-3 ": 0.001, ".5": 0.5, "1.0": 1,
		"yes": 1, "Always": 1, "OFTEN": 0.75, "sometimes": 0.5, "rarely": 0.1, "no": 0, "never ": 0,
		"TRUE": 1, "x": 1, "✓": 1, "False": 0, "": math.NaN(), "  ": math.NaN(), "NA": math.NaN(), "nd": math.NaN(), "n/a": math.NaN(), "NaN": math.NaN(), "null": math.NaN(), "?": math.NaN(), "#N/A": math.NaN(), "<NA>": math.NaN(), "12.5 %": 0.125, "100%": 1, "0%": 0,
	} {
		testkit.Near(t, text, value(text), want, 0)
	}
	const below = ". Write 0 for no, and nothing for what is not known. Of vectors, such as those of a text encoder, scale each column to 0 to 1: (x - x.min(0)) / (x.max(0) - x.min(0))."
	const above = ". Write % behind percentages, and divide values of another scale by its largest value."
	for text, hint := range map[string]string{
		"2": above, "101 %": above, "-1%": below, "-1": below, "0_1": "", "0x1p-1": "", "0,5": "", "None": "", "inf": above, "nan%": "", "maybe": "", "０．７５": ". Write digits from 0 to 9.",
	} {
		_, wrong := new(scale).probability(text)
		testkit.Equal(t, text, fmt.Sprint(wrong), fmt.Sprintf("expected %s, found %q%s", wantProbability, text, hint))
	}
}

// Numbers and percentages do not mix in a file; words and 0 go with both.
func TestScale(t *testing.T) {
	for text, mixed := range map[string]bool{"0.5,1,yes,0,": false, "50%,0,often,100 %": false, "50%,0,1": true, "0.5,,5%": true} {
		var s scale
		found := false
		for cell := range strings.SplitSeq(text, ",") {
			_, wrong := s.probability(cell)
			found = found || wrong != nil
		}
		testkit.Equal(t, text, found, mixed)
	}
}
