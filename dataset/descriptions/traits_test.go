package descriptions

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestAddTraits(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"words, without a name of the classes", ",diet,nocturnal\nbarn_owl,Meat,yes\nwren,insects; seeds,no\n", `
			diet::meat (diet) yes no
			diet::insects (diet) no yes
			diet::seeds (diet) no yes
			nocturnal (nocturnal) yes no`},
		{"numbers alone, without groups", "class,long tail,crest\nWren,0.5,no\nBarn Owl,0.25,yes\n", `
			long tail () 0.25 sometimes
			crest () yes no`},
		{"one letter for yes, and marks", ",colour,tail,crest\nwren,grey,Y,x\nbarn owl,brown,n,\n", `
			colour::grey (colour) no yes
			colour::brown (colour) yes no
			tail (tail) no yes
			crest (crest) . yes`},
		{"a line per trait", "taxon,trait,value\nWren,tail,0.9\nBarn owl,tail,no\nWren,Diet,insects\nWren,diet,seeds\nBarn owl,diet,seeds\n", `
			tail (tail) no 0.9
			Diet::insects (Diet) no yes
			Diet::seeds (Diet) yes yes`},
		{"lists", "class,a,b,c\nwren,\"['x y', z]\",\"{red,blue}\",forest | garden; meadow (rarely)\nbarn owl,['x y'],\"red,blue\",forest\n", `
			a::x y (a) yes yes
			a::z (a) no yes
			b::red (b) yes yes
			b::blue (b) yes yes
			c::forest (c) yes yes
			c::garden (c) no yes
			c::meadow (c) no rarely`},
		{"separators of other scripts", "class,a\nwren,种子、昆虫；x，y・z\nbarn owl,بذور، x؛ y\n", `
			a::种子 (a) no yes
			a::昆虫 (a) no yes
			a::x (a) yes yes
			a::y (a) yes yes
			a::z (a) no yes
			a::بذور (a) yes no`},
		{"words for missing", "class,diet,tail\nwren,insects,.\nbarn owl,unknown,yes\n", `
			diet::insects (diet) . yes
			tail (tail) yes .`},
		{"decimal commas", "class;tail\nwren;0,5\nbarn owl;1\n", `
			tail () yes sometimes`},
		{"a further column of lines per trait", "class,trait,value,unit\nwren,tail,1,cm\n", `line 1: expected only the columns class, trait, value, found "class,trait,value,unit"`},
		{"a column per class", "trait,wren,barn owl\ndiet,seeds,meat\n", `line 2, column trait: expected a class of the data set in the first column, found "diet". --all adds`},
		{"another spelling", "class,diet\nWrenn,seeds\n", `line 2, column class: expected a class of the data set in the first column, found "Wrenn". Did you mean Wren? --all adds`},
		{"a measurement", "class,mass\nwren,9.5 g\nbarn owl,300 g\n", `line 2, column mass: expected words separated by semicolons, such as red; grey (often), or, in the whole column, yes and no, numbers from 0 to 1 or percentages, found "9.5 g". lago-train docs python has lines of Python`},
		{"percentages without a sign", "class,meat,seeds\nwren,10,0\nbarn owl,90,30\n", "line 2, column meat: expected " + wantProbability + `, found "10". Write % behind percentages`},
		{"a number below 1 among others", "class,meat\nwren,0.4\nbarn owl,60\n", "line 3, column meat: expected " + wantProbability + `, found "60" beside 0.4 on line 2. Divide percentages by 100`},
		{"vectors", "class,a,b\nwren,-0.5,0.5\nbarn owl,2.5,-3\n", "line 2, column a: expected " + wantProbability + `, found "-0.5". Write 0 for no, and nothing for what is not known. Of vectors, such as those of a text encoder, scale each column to 0 to 1`},
		{"more words than attributes are read", "class,a\nwren," + numbers(MaxAttributes) + "\nbarn owl,x\n", "expected at most 65536 attributes, found more"},
		{"numbers on two scales", "class,tail,crest\nwren,0.5,\nbarn owl,,25%\n", `line 3, column crest: expected numbers from 0 to 1 or percentages, one of the two in a file (0.25 is 25%), found 0.5 on line 2 and 25% on line 3`},
		{"a strength before its word", "class,diet\nwren,seeds (rarely nuts)\nbarn owl,seeds\n", `line 2, column diet: expected words separated by semicolons`},
		{"yes among words", "class,wing\nwren,yes\nbarn owl,broad\n", `line 2, column wing: expected words separated by semicolons, such as red; grey (often), or, in the whole column, yes and no, numbers from 0 to 1 or percentages, found "yes" beside "broad"`},
		{"an empty column", "class,a,b\nwren,,1\n", `line 1, column a: expected a value in a line, found none. Leave the column out.`},
		{"one column", "#NEXUS\nBEGIN CHARACTERS;\n", `expected ` + Form + `, found the columns "#NEXUS"`},
		{"one name fewer in the header", "habit\tleaf\nwren\ta\tb\n", "line 2: expected 2 cells, one for each column, found 3"},
		{"a contradiction", "class,wing\nwren,red; red (rarely)\nbarn owl,none; blue\n", `line 2, column wing: expected each word of a cell once`},
		{"no header", "wren,seeds\nbarn owl,meat\n", `line 1: expected a header: "class" and the names of traits, found the class "wren"`},
		{"a line without a class", "class,diet\nwren,seeds\n,meat\n", `line 3, column class: expected a name, found ""`},
	} {
		d := &Table{}
		d.AddClasses("Barn owl", "Wren")
		_, err := d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", c.text), false, true)
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
	other := &Table{Attributes: []Attribute{{"hue::red", "hue"}, {"hue::blue", "wing"}}, Classes: []string{"wren"}, Cells: [][]string{{"", ""}}}
	_, err := other.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", "class,hue\nwren,blue\n"), false, true)
	testkit.WantError(t, err, `expected attributes of group hue, such as red, found "blue"`)
	d := &Table{Attributes: []Attribute{{Name: "red"}}, Classes: []string{"wren"}, Cells: [][]string{{"often"}}}
	path := testkit.Write(t, t.TempDir(), "traits.csv", "class,red,blue\nwren,no,yes\n")
	testkit.Must(d.AddTraits(t.Context(), path, false, true))(t)
	testkit.Equal(t, "beside what is described", d.Cells[0], []string{"often", "yes"})
	_, err = d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "traits.csv", "class,diet\nwren,seeds\n"), false, true)
	testkit.WantError(t, err, "expected new columns of numbers alone, since the attributes of the data set have no groups, found words")
}

// numbers are different words.
func numbers(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	return strings.Join(words, ";")
}

// A table describes classes in any spelling, without what it does not know, and never in place of what a
// person has entered.
func TestDraftBesideEntries(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, AttributesFile, "name,group\nhas_wing::red,has_wing\nhas_wing::dark_blue,has_wing\nnocturnal,nocturnal\n")
	testkit.Write(t, dir, ClassesFile, "class,has_wing::red,has_wing::dark_blue,nocturnal\n001.Barn_owl,rarely,,\n002.Wren,,,\nemu,,,\n")
	d := complete(t, dir)
	from := func(text string) error {
		_, err := d.AddTraits(t.Context(), testkit.Write(t, t.TempDir(), "draft.csv", text), true, true)
		return err
	}
	testkit.WantError(t, from("class,wing\nWren,red; teal\n"), `draft.csv: line 2, column wing: expected attributes of group has_wing, such as red, dark_blue, found "teal" in "red; teal"`)
	testkit.NoError(t, from("class,nocturnal,wing\nbarn owl,yes,red; Dark blue (often)\nWren,,red\nemu,,none\nEmmu,,red\n"))
	testkit.Equal(t, "found", d.Cells, [][]string{{"rarely", "often", "yes"}, {"yes", "no", ""}, {"no", "no", ""}, {"yes", "no", ""}})
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

// The drafts of a clone are copied once, however many change.
func TestManyDrafts(t *testing.T) {
	d := &Table{Classes: []string{"owl"}, Cells: [][]string{{}}, Drafts: map[Draft]bool{}}
	for i := range 2000 {
		d.Drafts[Draft{Class: "owl", Group: fmt.Sprint(i)}] = true
	}
	owl, wren := Draft{Class: "owl", Group: "7"}, Draft{Class: "wren", Group: "7"}
	allocations := testing.AllocsPerRun(1, func() {
		c := d.Clone()
		c.RenameClass(0, "wren")
		testkit.Equal(t, "renamed", []bool{c.Drafts[wren], c.Drafts[owl], d.Drafts[owl]}, []bool{true, false, true})
	})
	testkit.Equal(t, "fewer allocations than drafts", allocations < 2000, true)
}

// A table of traits is refused, or the descriptions with it can be written and read again: any, and 1,000 that a
// few changes make of these.
func FuzzAddTraits(f *testing.F) {
	texts := []string{
		",diet,wings,nocturnal\nbarn owl,meat,broad (often),yes\nwren,insects; seeds,,no\n",
		"class,diet\nowl,\"me\nat; \x1b[2J\"\n", "class,wings\nowl,\u2028\n",
		"class,diet\nowl,\ufeffmeat|\u202ex\n", "class,class\nowl,1\n", "species;size\nowl;0,5\nwren;1\n",
		"class,a\u00a0b,a b\nowl,1,0\n", "class,none\nowl,none; x\n", "class,x::y\nowl,50%\n",
		"species\ttrait\tvalue\nowl\tmass\t0,5\nowl\thue\tred\nowl\thue\tblue\n",
		"class,mood\nclass,mood\n", "class,\"a;b;c\"\nowl,yes\n", "class,a,b\nowl,0.4,0.6\nwren,60,40\n",
		"class," + strings.Repeat("g", 900) + "\nowl," + strings.Repeat("w", 200) + "\n",
	}
	for _, text := range texts {
		f.Add([]byte(text))
	}
	draw := rand.New(rand.NewPCG(66, 1))
	part := regexp.MustCompile(`[\pL\d.]+|.|\n`)
	for range 1000 {
		parts := part.FindAllString(texts[draw.IntN(len(texts))], -1)
		for range 1 + draw.IntN(4) {
			other := part.FindAllString(texts[draw.IntN(len(texts))], -1)
			i, j := draw.IntN(len(parts)), draw.IntN(len(other))
			parts = slices.Replace(parts, i, min(i+draw.IntN(3), len(parts)), other[j:min(j+draw.IntN(3), len(other))]...)
			parts = append(parts, "\n")
		}
		f.Add([]byte(strings.Join(parts, "")))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		folders := []string{"name,group\n", "name,group\ndiet::meat,diet\ndiet::seeds,diet\n", "name\nflies\n"}
		dir := t.TempDir()
		testkit.Write(t, dir, AttributesFile, folders[len(text)%len(folders)])
		testkit.Write(t, dir, ClassesFile, "class\nowl\n")
		addAndReadAgain(t, dir, text)
	})
}

// addAndReadAgain adds a table of traits to the folder dir. If it is accepted, the folder is
// read again as it was written.
func addAndReadAgain(t testkit.TB, dir string, text []byte) (accepted bool) {
	d := complete(t, dir)
	path := testkit.Write(t, dir, "traits.csv", string(text))
	if _, err := d.AddTraits(context.Background(), path, true, true); err != nil || d.Check() != nil {
		return false
	}
	testkit.NoError(t, d.Save())
	var problems invalid.List
	ReadFolder(context.Background(), dir, len(d.Attributes) == 0, &problems) // as dataset check does
	testkit.NoError(t, problems.Err())
	again := complete(t, dir)
	testkit.Equal(t, "attributes", again.Attributes, d.Attributes)
	testkit.Equal(t, "classes", again.Classes, d.Classes)
	testkit.Equal(t, "drafts", again.Drafts, d.Drafts, cmpopts.EquateEmpty())
	testkit.Equal(t, "cells", again.Cells, d.Cells, cmpopts.EquateEmpty())
	return true
}

// Names of any characters, of classes, groups, words and attributes, are refused or written so that they can
// be read again.
func TestNamesAreReadAgain(t *testing.T) {
	dir, accepted := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`\pL{1,6}`)
		name := rapid.OneOf(letters, letters, letters, rapid.String(), rapid.StringMatching(`[\PM\pM '"()\[{:;/,|=-]{1,6}`),
			rapid.SampledFrom([]string{"class", "name", "none", "unknown", strings.Repeat("x", 1001), "e\u0301", "\u00e9"}))
		var b bytes.Buffer
		_ = csv.NewWriter(&b).WriteAll([][]string{ // into memory
			{"class", name.Draw(t, "group"), name.Draw(t, "attribute")},
			{name.Draw(t, "class"), name.Draw(t, "word"), "1"},
			{name.Draw(t, "class"), name.Draw(t, "word"), "0"},
		})
		for _, file := range []string{AttributesFile, ClassesFile, DraftsFile} {
			_ = os.Remove(filepath.Join(dir, file))
		}
		if addAndReadAgain(t, dir, b.Bytes()) {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("accepted no table")
	}
}
