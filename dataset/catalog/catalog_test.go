package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

const fixtures = "../xlsa17/testdata"

func below(dir string) Options { return Options{DataDir: dir} }

// open opens a data set with one of its splits.
func open(t *testing.T, name, dir string, split int) *dataset.Dataset {
	t.Helper()
	o := below(dir)
	o.DevSplit = split
	return testkit.Must(Open(t.Context(), name, o))(t)
}

// copied makes a copy of the small data set in the xlsa17 layout.
func copied(t *testing.T, dir string) string {
	t.Helper()
	testkit.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, "plain"))))
	return dir
}

// written makes a folder of the small data set in the open layout, with three splits,
// held-out samples and a description that needs all of its digits.
func written(t *testing.T, dir string) string {
	t.Helper()
	d := open(t, "plain", fixtures, 1)
	d.TestSeen = d.SamplesOf(d.Split.Train[:2])[:5]
	d.Descriptions.Data = slices.Clone(d.Descriptions.Data)
	d.Descriptions.Data[3] = 0.1 + 0.2
	s := d.Split
	second := dataset.Split{Train: slices.Sorted(slices.Values(append(s.Val[1:], s.Train[:4]...))), Val: slices.Sorted(slices.Values(append([]int{s.Val[0]}, s.Train[4:]...))), Test: s.Test}
	testkit.NoError(t, tiny.Write(dir, d, second, dataset.Split{Train: s.Val, Val: s.Train, Test: s.Test}))
	return dir
}

func edit(t *testing.T, dir, name, old, changed string) {
	t.Helper()
	text := testkit.Read(t, filepath.Join(dir, name))
	testkit.WantText(t, text, old)
	testkit.Write(t, dir, name, strings.Replace(text, old, changed, 1))
}

func TestOpenFindsAFolderInAnyCase(t *testing.T) {
	root := t.TempDir()
	t.Setenv(EnvDataDir, root)
	copied(t, filepath.Join(root, "Mini"))
	testkit.Equal(t, "name", open(t, "mINI", "", 1).Name, "mini")
	testkit.Equal(t, "names by path", []string{open(t, filepath.Join(root, "Mini"), "", 1).Name, NameOf(root + "/Mini/")}, []string{"mini", "mini"})
	folder := open(t, copied(t, filepath.Join(root, "glyphs")), "", 1)
	testkit.Equal(t, "picture of a folder named glyphs", testkit.Must(Picture(t.Context(), folder, 0, 48))(t), nil)
	copied(t, filepath.Join(root, "MINI"))
	testkit.Equal(t, "folder of MINI", filepath.Base(open(t, "MINI", root, 1).Source), "MINI")
	testkit.Fails(Open(t.Context(), "mini", Options{}))(t, root+`: expected one folder "mini", found MINI and Mini`)
}

func TestUnknownNames(t *testing.T) {
	root, here := t.TempDir(), t.TempDir()
	testkit.NoError(t, errors.Join(os.Mkdir(filepath.Join(root, "SUN"), 0o755), os.Mkdir(filepath.Join(root, "pets"), 0o755)))
	t.Setenv(EnvDataDir, here)
	const generated = "expected glyphs, a folder of this name in "
	for _, c := range []struct{ name, dir, want string }{
		{"pest", root, `data set "pest": ` + generated + root + ", or the path of a folder, found none. Did you mean pets?"},
		{"zoo", root + "/none", "found none. The command dataset list shows what is there, and dataset fetch downloads cub, awa2 and sun; --data-dir or $LAGO_DATA names another folder."},
	} {
		_, err := Open(t.Context(), c.name, Options{DataDir: c.dir})
		if !errors.As(err, new(*invalid.Error)) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", c.name, err, c.want)
		}
	}
	testkit.Fails(Open(t.Context(), "Glyphs", Options{DevSplit: 2}))(t, `data set "Glyphs": dev_split: expected 1, since data that the program generates have one split, found 2`)
}

func TestFolderAtFindsTheLayout(t *testing.T) {
	for _, c := range []struct{ files, want, err string }{
		{"labels.csv features.npy", openLayout, ""},
		{"classes.csv splits.csv", openLayout, ""},
		{"att_splits.mat res101.mat", matLayout, ""},
		{"googlenet.MAT", matLayout, ""},
		{"labels.csv att_splits.mat", "", "expected one data set, found labels.csv of the open layout and att_splits.mat of the xlsa17 layout. Move one of the two elsewhere."},
		{"README.md", "", "expected features and labels of samples, or the .mat files of the xlsa17 layout: found none of their files"},
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(c.files) {
			testkit.Write(t, dir, name, "")
		}
		f, err := folderAt(dir)
		if c.err != "" {
			testkit.WantError(t, err, dir, c.err)
		} else if err != nil || f != (location{dir, c.want}) {
			t.Errorf("%s: %+v, %v, expected %s", c.files, f, err, c.want)
		}
	}
}

func TestCheckAcceptsSoundData(t *testing.T) {
	root := t.TempDir()
	dir := written(t, filepath.Join(root, "pets"))
	for _, c := range []struct {
		name, dir string
		splits    int
	}{{"glyphs", "", 1}, {"plain", fixtures, 1}, {"PETS", root, 3}, {dir + "/", "", 3}} {
		r := testkit.Must(Check(t.Context(), c.name, below(c.dir)))(t)
		testkit.Equal(t, c.name, []any{r.OK, len(r.Errors), len(r.Data.Splits())}, []any{true, 0, c.splits})
	}
	t.Chdir(dir)
	text := testkit.Must(json.Marshal(testkit.Must(Check(t.Context(), ".", below("")))(t)))(t)
	testkit.WantText(t, string(text), `{"ok":true,"errors":[],"warnings":[{"file":"pets","field":"classes \"004.Class_D\" and \"009.Class_I\""`,
		`"hint":"One or both lack 1 attribute."`, `"field":"attribute \"colour::v4\""`, `"missing":{"entries":1,"of":120,"classes":[{"name":"004.Class_D","entries":1}]`)
}

// A folder with samples alone gets the files that describe them, step by step; what is described is kept.
func TestDescribe(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "new")
	testkit.NoError(t, os.MkdirAll(dir, 0o777))
	testkit.Write(t, dir, "labels.csv", "class\nowl\nwren\n")
	written(t, filepath.Join(root, "pets"))
	next := func(want string) {
		t.Helper()
		r := testkit.Must(Check(t.Context(), "new", below(root)))(t)
		testkit.Equal(t, "next", r.Next, strings.ReplaceAll(want, " new", " new --data-dir "+root))
	}
	next("lago-train docs your-data   # the files of a data set")
	testkit.Write(t, dir, "features.csv", "1,2\n3,4\n")
	testkit.Write(t, dir, "labels.csv", "species\nowl\nwren\n")
	next("lago-train dataset check new   # when that is corrected")
	testkit.Write(t, dir, "labels.csv", "class\nowl\nwren\n")
	next("lago-train dataset describe new")
	r := testkit.Must(Describe(t.Context(), "new", Sources{}, below(root)))(t)
	testkit.WantText(t, testkit.Read(t, filepath.Join(dir, "attributes.csv")), "name,group\n")
	testkit.Equal(t, "added classes", r.AddedClasses, 2)
	next("lago-train serve new")
	r = testkit.Must(Describe(t.Context(), "new", Sources{Like: "pets"}, below(root)))(t)
	testkit.Equal(t, "added attributes and missing entries", []int{r.AddedAttributes, r.Missing}, []int{10, 20})
	next("lago-train serve new")
	edit(t, dir, "classes.csv", "owl,", "owl,often")
	dry := testkit.Must(Describe(t.Context(), "new", Sources{Empty: descriptions.EmptyNo, All: true, DryRun: true}, below(root)))(t)
	testkit.Equal(t, "entries filled and missing", []int{dry.Filled, dry.Missing}, []int{9, 10}) // nothing is said of the wren
	next("lago-train dataset split new --to " + filepath.Join(dir, "splits.csv"))
	testkit.Write(t, dir, "features.csv", "1,2\n3,4\n5,6\n") // which split refuses
	next("lago-train dataset check new   # when that is corrected")
	testkit.Write(t, dir, "features.csv", "1,2\n3,4\n")
	testkit.Fails(Open(t.Context(), "new", below(root)))(t, "new: expected train, val and test classes in splits.csv, found no such file\nnext: lago-train dataset split new")
	testkit.Must(Describe(t.Context(), "new", Sources{Like: "pets"}, below(root)))(t)
	testkit.WantText(t, testkit.Read(t, filepath.Join(dir, "classes.csv")), "owl,often,", "wren,,")
	testkit.Must(Describe(t.Context(), "new", Sources{Empty: descriptions.EmptyUnknown}, below(root)))(t)
	testkit.Equal(t, "empty cells are unknown", testkit.Must(descriptions.KeepsUnknown(dir))(t), true)
	testkit.Write(t, dir, "classes-before-1.csv", "class") // of a full disk
	filled := testkit.Must(Describe(t.Context(), "new", Sources{Empty: descriptions.EmptyNo}, below(root)))(t)
	testkit.WantText(t, testkit.Read(t, filled.Kept), "owl,often,,")
	testkit.WantText(t, testkit.Read(t, filepath.Join(dir, "classes.csv")), "owl,often,no,", "wren,,")
	splits := testkit.Write(t, dir, "splits.csv", "class;part;part2\nowl;train;val\n") // from before there was a wren
	extended := testkit.Must(Describe(t.Context(), "new", Sources{}, below(root)))(t)
	testkit.Equal(t, "splits.csv", testkit.Read(t, splits), "class,part,part2\nowl,train,val\nwren,,\n")
	testkit.Equal(t, "note", extended.Notes, []string{"splits.csv: 1 class without a part added: wren. Write train, val or test to use them"})
	testkit.Must(Describe(t.Context(), "new", Sources{}, below(root)))(t)
	testkit.Equal(t, "again", testkit.Read(t, splits), "class,part,part2\nowl,train,val\nwren,,\n")
	testkit.Fails(Describe(t.Context(), "new", Sources{Like: "plain"}, below(root)))(t, `"plain"`)
	long := testkit.Write(t, root, "long.csv", "class,"+strings.Repeat("g", 900)+"\nwren,"+strings.Repeat("w", 200)+"\n")
	testkit.Fails(Describe(t.Context(), "new", Sources{From: long, DryRun: true}, below(root)))(t, "a name of at most 1000 bytes")
	owl := testkit.Write(t, root, "owl.csv", "class,height\nowl,0.3\n")
	described := testkit.Must(Describe(t.Context(), "new", Sources{From: owl, DryRun: true}, below(root)))(t)
	testkit.Equal(t, "not in the table", described.Notes, []string{"1 class without entries: wren"})
	testkit.Fails(Describe(t.Context(), "glyphs", Sources{}, below(root)))(t, "the open layout", "docs xlsa17")
}

// What is written by a person is used as it is; what a text or a model wrote is to be checked first.
func TestNextCommands(t *testing.T) {
	root := t.TempDir()
	dir := written(t, filepath.Join(root, "pets"))
	next := func(want string) {
		t.Helper()
		testkit.Equal(t, "next", testkit.Must(Check(t.Context(), dir, below("")))(t).Next, want+dir)
	}
	next("lago-train run --dataset ")
	for name, draft := range map[string]bool{"traits.csv": false, "traits.txt": true} {
		table := testkit.Write(t, root, name, "class,height\n004.Class_D,0.3\n")
		r := testkit.Must(Describe(t.Context(), dir, Sources{From: table, DryRun: true}, below("")))(t)
		testkit.Equal(t, name, r.Drafts > 0, draft)
	}
	table := filepath.Join(root, "traits.csv")
	r := testkit.Must(Describe(t.Context(), dir, Sources{From: table, Draft: true}, below("")))(t)
	testkit.Equal(t, "next", r.Next, "lago-train serve "+dir)
	next("lago-train serve ")
	edit(t, dir, "splits.csv", "train", "training")
	testkit.Equal(t, "next", testkit.Must(Check(t.Context(), dir, below("")))(t).Next, "lago-train dataset check "+dir+"   # when that is corrected")
}

func TestCheckListsEveryProblem(t *testing.T) {
	root := t.TempDir()
	dir := written(t, filepath.Join(root, "pets"))
	edit(t, dir, "splits.csv", "train", "training")
	testkit.NoError(t, os.Remove(filepath.Join(dir, "features.npy")))
	want := []check.Finding{
		{File: dir, Expected: "the features of samples in features.npy or features.csv", Found: "neither", Severity: check.Error},
		{File: filepath.Join(dir, "splits.csv"), Field: "line 2, column part3", Expected: "train, val or test, or nothing for a class that is left out", Found: `"training"`, Severity: check.Error},
	}
	r := testkit.Must(Check(t.Context(), "pets", below(root)))(t)
	testkit.Equal(t, "found", r.Errors, want)
	testkit.Equal(t, "sound", r.OK, false)
	testkit.Fails(Check(t.Context(), filepath.Join(root, "none"), below("")))(t, "expected a folder of a data set, found no such folder")
}

func TestList(t *testing.T) {
	root := t.TempDir()
	sick := copied(t, filepath.Join(root, "sick"))
	edit(t, sick, "testclasses.txt", "Class_B", "Klass_B")
	copied(t, filepath.Join(root, "pets"))
	for _, name := range []string{"both/labels.csv", "both/att_splits.mat", "notes/README", ".hidden/labels.csv"} {
		testkit.Write(t, root, name, "")
	}
	l := testkit.Must(List(t.Context(), below(root), func(string) {}))(t)
	got := ""
	for _, e := range l.Datasets {
		got += fmt.Sprintln(e.Name, e.Usable, e.Samples)
	}
	testkit.Equal(t, "found", got, "glyphs true 3900\nboth false 0\nnotes false 0\npets true 108\nsick false 0\n")
	testkit.WantText(t, l.Tables()[0].Text(1000, 0), "no data set", "1 problem", "sick: ", "Folders are in "+root)
	testkit.Must(List(t.Context(), below(filepath.Join(root, "none")), func(string) {}))(t)
}

func ExampleOpen() {
	d, err := Open(context.Background(), "glyphs", Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(d.Classes), "classes,", len(d.Split.Test), "of them never trained on")
	// Output: 52 classes, 12 of them never trained on
}

func TestReport(t *testing.T) {
	warning := check.Finding{File: "pets", Expected: "different descriptions", Found: "the same", Severity: check.Warning}
	r := Report{OK: true, Warnings: []check.Finding{warning}, Data: tiny.Sound(), Missing: &check.Missing{
		Entries: 3, Of: 12, Classes: []check.Count{{Name: "ant", Entries: 2}, {Name: "bee", Entries: 1}}, Attributes: []check.Count{{Name: "flies", Entries: 3}},
	}}
	testkit.WantText(t, r.Tables()[0].Text(1000, 0), "warning: pets: expected different descriptions, found the same\n", "sound: no errors, 1 warning",
		"3 of 12 entries are empty; most: ant (2), bee (1); most: flies (3)")
}
