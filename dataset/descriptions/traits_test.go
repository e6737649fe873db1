package descriptions

import (
	stdcmp "cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestAddTraits(t *testing.T) {
	manyLines := ""
	for i := range 30 {
		manyLines += fmt.Sprintf("wren,p%d.jpg,0\n", i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"words, without a name of the classes", ",diet,nocturnal\nbarn_owl,Meat,yes\nwren,insects; seeds,no\n", `
			diet::meat (diet) yes no
			diet::insects (diet) no yes
			diet::seeds (diet) no yes
			nocturnal (nocturnal) yes no`},
		{"samples", "Species,colour,tail\nwren,brown,1\nwren,grey,0\nwren,brown,0\nwren,,1\nbarn owl,black,0\n", `
			colour::brown (colour) no 0.666667
			colour::grey (colour) no 0.333333
			colour::black (colour) yes no
			tail (tail) no sometimes`},
		{"numbers alone, without groups", "class,long tail,crest\nWren,0.5,no\nBarn Owl,25%,yes\n", `
			long tail () 0.25 sometimes
			crest () yes no`},
		{"one letter for yes, and marks", ",colour,tail,crest\nwren,grey,Y,+\nbarn owl,brown,n,-\n", `
			colour::grey (colour) no yes
			colour::brown (colour) yes no
			tail (tail) no yes
			crest (crest) no yes`},
		{"a line per trait", "taxon,trait_name,value,unit,source\nWren,mass,9,g,A\nBarn owl,mass,0.3,kg,B\nWren,Diet,insects,,A\nWren,diet,seeds,,A\nBarn owl,diet,seeds,,B\n", `
			mass::medium (mass) no yes
			mass::large (mass) yes no
			Diet::insects (Diet) no yes
			Diet::seeds (Diet) yes yes`},
		{"a line for each trait that is there", "class,attribute\nwren,crest\nwren,tail\nbarn owl,tail\n", `
			crest () . yes
			tail () yes yes`},
		{"a column per class", "trait,wren,barn owl\ndiet,seeds,meat\n", `
			diet::seeds (diet) no yes
			diet::meat (diet) yes no`},
		{"classes behind an index, and a rank called Class", ",Class,bird,diet\n0,Aves,wren,seeds\n1,Aves,barn owl,meat\n2,Aves,barn owl,meat\n", `
			Class::aves (Class) yes yes
			diet::seeds (diet) no yes
			diet::meat (diet) yes no`},
		{"lists", "class,a,b,c\nwren,\"['x y', z]\",\"{red,blue}\",forest & garden (rarely meadow)\nbarn owl,['x y'],red/blue,forest\n", `
			a::x y (a) yes yes
			a::z (a) no yes
			b::red (b) yes yes
			b::blue (b) yes yes
			c::forest (c) yes yes
			c::garden (c) no yes
			c::meadow (c) no rarely`},
		{"numbered columns", "class,prey 1,prey 2,prey 3\nwren,flies,moths,\nbarn owl,mice,flies,moths\n", `
			prey::flies (prey) yes yes
			prey::moths (prey) yes yes
			prey::mice (prey) yes no`},
		{"words for missing", "class,diet,tail,wing\nwren,insects,.,not recorded\nbarn owl,unknown,yes,--\n", `
			diet::insects (diet) . yes
			tail (tail) yes .`},
		{"ranges, units and spreadsheets", "class,bill,egg\nwren,5.9-6.8 (8) mm,3-May\nbarn owl,2 to 3 cm,6-7\n", `
			bill::medium (bill) no yes
			bill::large (bill) yes no
			egg::medium (egg) no yes
			egg::large (egg) yes no`},
		{"parts that sum to 100", "class,diet-seed,diet-meat\nwren,90,10\nbarn owl,0,100\n", `
			diet-seed (diet) no 0.9
			diet-meat (diet) yes rarely`},
		{"polymorphic states", "class\thooks\tlobes\nwren\t0,1\t2\nbarn owl\t1\t{23}\nwren\t0\t3\nwren\t1\t2\n", `
			hooks (hooks) yes sometimes
			lobes::2 (lobes) yes 0.666667
			lobes::3 (lobes) yes 0.333333`},
		{"decimal commas", "class;tail;mass\nwren;0,5;9,5\nbarn owl;1;300\n", `
			tail (tail) yes sometimes
			mass::medium (mass) no yes
			mass::large (mass) yes no`},
		{"names of photographs", "class,photo,red\nwren,a,1\n" + manyLines, `
			red () . 0.0322581`},
		{"numbers and words", "class,mass\nwren,9\nbarn owl,heavy\n", `line 3, column mass: expected a number, as in other lines, found "heavy"`},
		{"two kinds of units", "class,size\nwren,9 g\nbarn owl,30 cm\n", `line 3, column size: expected numbers in g, as in other lines, found "30 cm"`},
		{"dates", "class,egg\nwren,3-May\nbarn owl,5-Jun\n", `line 2, column egg: expected numbers or words, found "3-May", a date`},
		{"a contradiction", "class,wing\nwren,red; red (rarely)\nbarn owl,none; blue\n", `line 2, column wing: expected each word of a cell once`},
		{"no class of the data set", "diet,class\nseeds,eagle\n", `expected a column with names of classes of the data set, found none, and "eagle" in column class. --all adds`},
		{"no header", "wren,seeds\nbarn owl,meat\n", `line 1: expected a header: "class" and the names of traits or groups, found the class "Wren"`},
		{"a line without a class", "class,diet\nwren,seeds\n,meat\n", `line 3, column class: expected the name of a class, found ""`},
		{"a column without a name", "class,diet,\nwren,seeds,1\n", `line 1, column 3: expected the name of a trait, found ""`},
		{"NEXUS", "#NEXUS\nBEGIN CHARACTERS;\n", "expected a table in CSV, found a NEXUS file"},
		{"write.table", "habit\tleaf\nwren\ta\tb\n", "expected a table in CSV, found one name fewer in the header"},
	} {
		d := &Table{}
		d.AddClasses([]string{"Barn owl", "Wren"})
		_, err := d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", c.text), false)
		if err != nil || !strings.HasPrefix(c.want, "\n") {
			testkit.WantError(t, err, "traits.csv: "+c.want)
			if !errors.As(err, new(*invalid.Error)) || len(d.Attributes) > 0 {
				t.Errorf("%s: %T, %+v", c.name, err, d)
			}
			continue
		}
		got := ""
		for m, a := range d.Attributes {
			got += "\n" + strings.Repeat("\t", 3) + a.Name + " (" + a.Group + ")"
			for z := range d.Classes {
				got += " " + stdcmp.Or(d.Cells[z][m], ".")
			}
		}
		testkit.Equal(t, c.name, got, c.want)
	}
	d := &Table{Attributes: []Attribute{{Name: "red"}}, Classes: []string{"wren"}, Cells: [][]string{{"often"}}}
	path := testkit.Write(t, t.TempDir(), "traits.csv", "class,red,blue\nwren,no,yes\n")
	testkit.Must(d.AddTraits(t.Context(), path, false))(t)
	if !slices.Equal(d.Cells[0], []string{"often", "yes"}) || d.Added.Attributes != 1 {
		t.Errorf("beside what is described: %+v", d)
	}
	_, err := d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", "class,diet\nwren,seeds\n"), false)
	testkit.WantError(t, err, "expected new columns of numbers alone, since the attributes of the data set have no groups, found words")
}

// What a language model answered to Prompts for 28 birds and the attributes of CUB.
func TestAnswer(t *testing.T) {
	d := &Table{}
	notes := testkit.Must(d.AddTraits(t.Context(), "testdata/answer.md", false))(t)
	if len(d.Classes) != 28 || len(d.Groups()) != 28 || len(d.Drafts) != 28*28 || len(notes.Notes) > 0 {
		t.Errorf("%d classes, %d groups, %d drafts, %v", len(d.Classes), len(d.Groups()), len(d.Drafts), notes.Notes)
	}
	m := d.Attribute("has_crown_color::red")
	testkit.WantText(t, d.Cells[slices.Index(d.Classes, "042.Vermilion_Flycatcher")][m], "often")
}

// An answer describes what the prompt asks for: classes in any spelling, without what it does not
// know, and never in place of what a person has entered.
func TestAnswerBesideEntries(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, AttributesFile, "name,group\nhas_wing::red,has_wing\nhas_wing::dark_blue,has_wing\nnocturnal,nocturnal\n")
	testkit.Write(t, dir, ClassesFile, "class,has_wing::red,has_wing::dark_blue,nocturnal\n001.Barn_owl,rarely,,\n002.Wren,,,\nemu,,,\n")
	d := complete(t, dir)
	parts := d.Prompts(d.Groups())
	testkit.WantText(t, parts[0], "\nclass,has_wing,nocturnal\n", "- has_wing: red; dark_blue\n- nocturnal: nocturnal\n", "- 001.Barn_owl\n- 002.Wren\n- emu\n")
	text := "Sure!\n```csv\nclass,nocturnal,wing\nbarn owl,yes,red; Dark blue (often)\n```\nThe rest:\n```\nclass,wing\nWren,red; teal\nclass,wing\nemu,none\nEmmu,red"
	notes := testkit.Must(d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "answer.csv", text), true))(t)
	testkit.Equal(t, "found", d.Cells, [][]string{{"rarely", "often", "yes"}, {"yes", "", ""}, {"no", "no", ""}, {"yes", "no", ""}})
	testkit.WantText(t, strings.Join(notes.Notes, "\n"), `line 9, column wing: expected attributes of this group, found "teal"`,
		`line 12: expected a class of the data set, found "Emmu", which is added. Did you mean emu?`)
	testkit.Equal(t, "notes", len(notes.Notes), 2)
	testkit.WantText(t, strings.Join(d.Prompts(d.Groups()), ""), "\n- 002.Wren\n- emu\n- Emmu\n")
	testkit.NoError(t, d.Save())
	testkit.WantText(t, testkit.Read(t, dir+"/"+DraftsFile), "class,group\n001.Barn_owl,has_wing\n001.Barn_owl,nocturnal\n002.Wren,has_wing\nEmmu,has_wing\nemu,has_wing\n")
	d = complete(t, dir)
	before := d.Clone()
	for draft := range d.Drafts {
		d.SetDraft(draft, false)
	}
	testkit.NoError(t, d.Save())
	if _, err := os.Stat(dir + "/" + DraftsFile); !errors.Is(err, os.ErrNotExist) || len(before.Drafts) != 5 {
		t.Errorf("after all are checked: %v, before %v", err, before.Drafts)
	}
}

// A million classes are added in the time of reading them.
func TestAddManyClasses(t *testing.T) {
	names := make([]string, 1_000_000)
	for i := range names {
		names[i] = strconv.Itoa(i / 2)
	}
	d := &Table{}
	testkit.Equal(t, "added, then again", []int{d.AddClasses(names), d.AddClasses(names)}, []int{len(names) / 2, 0})
}
