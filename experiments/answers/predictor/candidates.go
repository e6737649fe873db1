package predictor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Candidates are the classes that a prediction chooses from: classes of a data set, and new ones
// that a file describes by the same attributes.
type Candidates struct {
	What  string                  // describes the set, as in "test classes"
	Names []string                // Z
	U     dataset.Matrix[float64] // Z x M, the class descriptions; NaN where an entry is missing
}

// Given returns the share of the entries of all candidates that their descriptions give.
func (c Candidates) Given() float64 {
	return float64(dataset.Described(c.U.Data)) / float64(max(len(c.U.Data), 1))
}

// given returns the share of the entries of a candidate that its description gives. The others are imputed.
func (c Candidates) given(z int) float64 {
	return float64(dataset.Described(c.U.Row(z))) / float64(max(c.U.Cols, 1))
}

// Select returns the candidates that keep is true of.
func (c Candidates) Select(keep func(z int) bool) Candidates {
	some := Candidates{What: c.What}
	var kept []int
	for z, name := range c.Names {
		if keep(z) {
			some.Names, kept = append(some.Names, name), append(kept, z)
		}
	}
	some.U = c.U.Gather(kept)
	return some
}

// Selection names classes of a data set by their role in its split.
type Selection string

// The selections.
const (
	Test  Selection = "test"
	Val   Selection = "val"
	Train Selection = "train"
	Seen  Selection = "seen" // train and val
	All   Selection = "all"  // including classes without a role
	// Unseen are those that a model was not trained on, including classes without a role.
	Unseen Selection = "unseen"
)

// Selections are all selections.
var Selections = []Selection{Unseen, Test, Val, Train, Seen, All}

// IsFile reports whether s is a file of descriptions or of names, by its name. Reading one of JSON says that
// CSV is expected.
func (s Selection) IsFile() bool {
	return slices.Contains([]string{".csv", ".json", ".txt"}, filepath.Ext(string(s)))
}

// ClassesOf returns the indices of the selected classes.
func (m *Model) ClassesOf(d *dataset.Dataset, s Selection) []int {
	switch s {
	case All:
		return d.Descriptions.AllRows()
	case Unseen:
		return slices.DeleteFunc(d.Descriptions.AllRows(), func(z int) bool {
			return m.TrainedOn(d.Classes[z])
		})
	}
	return map[Selection][]int{
		Test: d.Split.Test, Val: d.Split.Val, Train: d.Split.Train, Seen: d.Split.Seen(),
	}[s]
}

// SelectedCandidates returns the classes of some selections from d, each class once: of unseen and all, those
// that are described.
func (m *Model) SelectedCandidates(d *dataset.Dataset, selections ...Selection) Candidates {
	var distinct, names []string
	var classes []int
	listed := make([]bool, len(d.Classes))
	for _, s := range selections {
		if !slices.Contains(distinct, string(s)) {
			distinct = append(distinct, string(s))
		}
		for _, z := range m.ClassesOf(d, s) {
			described := s != Unseen && s != All || dataset.Described(d.Descriptions.Row(z)) > 0
			if described && !listed[z] {
				listed[z] = true
				classes, names = append(classes, z), append(names, d.Classes[z])
			}
		}
	}
	return Candidates{strings.Join(distinct, " and ") + " classes", names, d.Describe(classes)}
}

// NewCandidates returns the classes of some selections from d, those whose names are in the list or in a file
// of names, and those that files describe by the attributes of d; of an empty list those of otherwise. empty
// says what empty cells of the files mean.
func (m *Model) NewCandidates(ctx context.Context, d *dataset.Dataset, list []Selection, otherwise Selection,
	empty descriptions.Empty,
) (c Candidates, err error) {
	if len(list) == 0 {
		list = []Selection{otherwise}
	}
	var selected []Selection
	var names, files []string
	for _, s := range list {
		switch {
		case slices.Contains(Selections, s):
			selected = append(selected, s)
		case s.IsFile():
			files = append(files, string(s))
		default:
			names = append(names, string(s))
		}
	}
	if len(selected) > 0 {
		c = m.SelectedCandidates(d, selected...)
	}
	if c, err = c.withNamed(d, "", names); err != nil {
		return c, err
	}
	for _, file := range files {
		if c, err = c.withFile(ctx, d, file, empty); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c Candidates) withFile(ctx context.Context, d *dataset.Dataset, file string,
	empty descriptions.Empty,
) (Candidates, error) {
	names, err := readNames(ctx, file)
	if err != nil {
		return c, err
	}
	if names != nil {
		return c.withNamed(d, file, names)
	}
	t, err := descriptions.Read(ctx, file, descriptions.AttributesOf(d))
	if err != nil {
		return c, err
	}
	if empty == descriptions.EmptyNo {
		t.FillEmpty(false)
	}
	return c.join(Candidates{"classes of " + file, t.Classes, t.Values()})
}

// withNamed returns the classes of c followed by those of d with some names, which are of a file or, without
// one, of the list of candidates.
func (c Candidates) withNamed(d *dataset.Dataset, file string, names []string) (Candidates, error) {
	added := Candidates{What: "named classes"}
	wrong := &invalid.Error{Where: file, Want: "classes of " + d.Name}
	known := d.Classes
	if file != "" {
		added.What = "classes named in " + file
	} else {
		known = slices.Concat(format.Strings(Selections), d.Classes)
		wrong.Field = "candidates"
		wrong.Want = strings.Join(format.Strings(Selections), ", ") + ", a file of classes, or " + wrong.Want
	}
	var classes []int
	for i, z := range indexOf(names, d.Classes) {
		name := names[i]
		if z < 0 {
			wrong.Got, wrong.Hint = invalid.Quote(name), invalid.DidYouMean(name, known)
			begun := slices.IndexFunc(known, func(class string) bool {
				return strings.HasPrefix(class, name+",")
			})
			if file == "" && begun >= 0 {
				wrong.Hint = fmt.Sprintf("A name with a comma stands in quotes: %s",
					format.ShellLine(`"`+known[begun]+`"`))
			}
			return c, wrong
		}
		if !slices.Contains(c.Names, name) && !slices.Contains(classes, z) {
			classes, added.Names = append(classes, z), append(added.Names, name)
		}
	}
	if classes == nil {
		return c, nil
	}
	added.U = d.Describe(classes)
	return c.join(added)
}

// readNames returns the names in a file that has nothing else: a text with one per line, or CSV with the
// column class alone. Those of another file are nil.
func readNames(ctx context.Context, file string) (names []string, err error) {
	content, err := fileio.ReadFile(ctx, file, 1<<24)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\uFEFF")) {
		if line = strings.Trim(strings.TrimSpace(line), `"`); line != "" {
			names = append(names, line)
		}
	}
	if len(names) > 0 && strings.EqualFold(names[0], "class") {
		return names[1:], nil
	}
	if filepath.Ext(file) != ".txt" {
		return nil, nil
	}
	return names, nil
}

func (c Candidates) join(more Candidates) (Candidates, error) {
	if c.Names == nil {
		return more, nil
	}
	for i, z := range indexOf(more.Names, c.Names) {
		if z >= 0 {
			return c, &invalid.Error{
				Where: more.What, Want: "names that differ from the " + c.What,
				Got: fmt.Sprintf("%q", more.Names[i]), Hint: "Rename the class or leave it out.",
			}
		}
	}
	u := dataset.Matrix[float64]{
		Rows: c.U.Rows + more.U.Rows, Cols: c.U.Cols, Data: slices.Concat(c.U.Data, more.U.Data),
	}
	return Candidates{c.What + " and " + more.What, slices.Concat(c.Names, more.Names), u}, nil
}
