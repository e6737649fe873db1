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
		{"samples", "Species,colour,tail\nwren,brown,1\nwren,grey,0\nwren,brown,0\nwren,,1\nEmu,black,0\n", `
			colour::brown (colour) . 0.666667 no
			colour::grey (colour) . 0.333333 no
			colour::black (colour) . no yes
			tail (tail) . sometimes no`},
		{"numbers alone, without groups", "class,long tail,crest\nWren,0.5,no\nBarn Owl,25%,yes\n", `
			long tail () 0.25 sometimes
			crest () yes no`},
		{"a column of numbers", "class,diet,mass\nwren,seeds,12\n", "line 2, column mass: expected words, or numbers from 0 to 1, found 12. Write what can be seen instead, such as small, medium or large"},
		{"numbers with units", "class,diet,mass\nwren,seeds,9 g\nbarn owl,meat,300-500 g\n", `line 1, column mass: expected words that several lines share, or numbers from 0 to 1, found "9 g". Write what`},
		{"one letter for yes", ",colour,tail\nwren,grey,Y\nbarn owl,brown,n\n", `
			colour::grey (colour) no yes
			colour::brown (colour) yes no
			tail (tail) no yes`},
		{"names of photographs", "class,photo,red\nwren,a,1\n" + manyLines, "line 1, column photo: expected words that several lines share, found 31 different ones. Leave"},
		{"no class of the data set", "diet,class\nseeds,eagle\n", "column 2: expected names of classes of the data set, found none of them"},
		{"no header", "wren,seeds\nbarn owl,meat\n", `line 1: expected a header: "class" and the names of traits or groups, found the class "Wren"`},
		{"a line without a class", "class,diet\nwren,seeds\n,meat\n", `line 3, column class: expected the name of a class, found ""`},
		{"a column without a name", "class,diet,\nwren,seeds,1\n", `line 1, column 3: expected the name of a trait, found ""`},
	} {
		d := &Table{}
		d.AddClasses([]string{"Barn owl", "Wren"})
		_, err := d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", c.text))
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
	testkit.Must(d.AddTraits(t.Context(), path))(t)
	if !slices.Equal(d.Cells[0], []string{"often", "yes"}) || d.Added.Attributes != 1 {
		t.Errorf("beside what is described: %+v", d)
	}
	_, err := d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", "class,diet\nwren,seeds\n"))
	testkit.WantError(t, err, "expected new columns of numbers alone, since the attributes of the data set have no groups, found words")
}

// What a language model answered to Prompts for 28 birds and the attributes of CUB.
func TestAnswer(t *testing.T) {
	d := &Table{}
	notes := testkit.Must(d.AddTraits(t.Context(), "testdata/answer.md"))(t)
	if len(d.Classes) != 28 || len(d.Groups()) != 28 || len(d.Drafts) != 28*28 || notes.Len() > 0 {
		t.Errorf("%d classes, %d groups, %d drafts, %v", len(d.Classes), len(d.Groups()), len(d.Drafts), notes.Err())
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
	parts := d.Prompts()
	testkit.WantText(t, parts[0], "\nclass,has_wing,nocturnal\n", "- has_wing: red; dark_blue\n- nocturnal: nocturnal\n", "- 001.Barn_owl\n- 002.Wren\n- emu\n")
	text := "Sure!\n```csv\nclass,nocturnal,wing\nbarn owl,yes,red; Dark blue (often)\n```\nThe rest:\n```\nclass,wing\nWren,red; teal\nclass,wing\nemu,none\nEmmu,red"
	notes := testkit.Must(d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "answer.csv", text)))(t)
	testkit.Equal(t, "found", d.Cells, [][]string{{"rarely", "often", "yes"}, {"yes", "", ""}, {"no", "no", ""}, {"yes", "no", ""}})
	testkit.WantError(t, notes.Err(), `line 9, column wing: expected attributes of this group, found "teal"`,
		`line 12: expected a class of the data set, found "Emmu", which is added. Did you mean emu?`)
	testkit.Equal(t, "notes", notes.Len(), 2)
	testkit.WantText(t, strings.Join(d.Prompts(), ""), "\n- 002.Wren\n- emu\n- Emmu\n")
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
