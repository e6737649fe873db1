package descriptions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// AddTraits adds to t what a table of traits says: one line for each class, or several, such as one for
// each sample, of which the class has the means. The first column is named class, species, taxon
// or name, or has no name; it names classes in the spelling of t or any other. Each other column
// is a trait:
//
//	,diet,wings,nocturnal
//	barn owl,meat,broad,yes
//	wren,insects; seeds,,no
//
// A column of words is a group, and each of its words an attribute, such as diet::meat; a cell may have
// several, separated by semicolons, commas or bars. A column of words and numbers of
// table.Probability is one attribute. Cells of t that are filled in are kept. The error
// joins all problems, each an *invalid.Error.
func (t *Table) AddTraits(ctx context.Context, path string) error {
	var problems invalid.List
	file := table.Read(ctx, path, &problems, nil, table.Any)
	if file == nil {
		return problems.Err()
	}
	classColumn := max(0, slices.IndexFunc(file.Columns, func(name string) bool {
		return slices.Contains([]string{"", ClassColumn, "species", "taxon", "name"}, strings.ToLower(name))
	}))
	spelling := make(map[string]string, len(t.Classes))
	for _, name := range t.Classes {
		spelling[foldName(name)] = name
	}
	ofClass, names, before := make(map[string][]table.Row), []string{}, len(t.Classes)
	for _, row := range file.Rows {
		name := row.Cells[classColumn]
		if foldName(name) == "" || invalid.HasControl(name) {
			file.Report("class", row.Line, file.Columns[classColumn], "the name of a class", invalid.Quote(name))
			continue
		}
		name = cmp.Or(spelling[foldName(name)], name)
		spelling[foldName(name)] = name
		names, ofClass[name] = append(names, name), append(ofClass[name], row)
	}
	t.Added.Classes += t.AddClasses(names)
	if before > 0 && len(t.Classes) == before+len(ofClass) {
		problems.AddError(&invalid.Error{Where: path, Field: fmt.Sprintf("column %d", classColumn+1), Want: "names of classes of the data set", Got: "none of them"})
	}
	var traits []trait
	for j, name := range file.Columns {
		if j != classColumn {
			traits = append(traits, readTrait(file, j, name)...)
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	if !slices.ContainsFunc(traits, func(a trait) bool { return a.Group != a.Name }) { // no column of words
		for i := range traits {
			traits[i].Group = ""
		}
	}
	if len(t.Attributes) > 0 && len(traits) > 0 && (t.Attributes[0].Group != "") != (traits[0].Group != "") {
		return &invalid.Error{
			Where: path, Want: "columns of words where the attributes of the data set have groups, and of numbers alone where they have none", Got: "others",
		}
	}
	for _, a := range traits {
		if t.AddAttribute(a.Attribute) {
			t.Added.Attributes++
		}
		m := t.Attribute(a.Name)
		for z, name := range t.Classes {
			if t.Cells[z][m] == "" {
				t.Cells[z][m] = a.mean(ofClass[name])
			}
		}
	}
	return nil
}

// trait is an attribute that a column of traits has.
type trait struct {
	Attribute
	value func(row table.Row) float64 // NaN where it is missing
}

// mean returns the cell of a class that some rows describe.
func (a trait) mean(rows []table.Row) string {
	var sum, n float64
	for _, row := range rows {
		if p := a.value(row); !math.IsNaN(p) {
			sum += p
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case sum == 0:
		return "no"
	case sum == n:
		return "yes"
	}
	return strconv.FormatFloat(sum/n, 'g', 6, 64)
}

// readTrait returns the attributes of a column, and reports one of numbers that are no
// probabilities.
func readTrait(file *table.Table, column int, name string) (traits []trait) {
	if name == "" || name == ClassColumn || invalid.HasControl(name) {
		file.Report("trait", 1, fmt.Sprint(column+1), "the name of a trait", invalid.Quote(name))
		return nil
	}
	const mostNames = 20 // words that are all different in more lines are names, such as those of photographs
	probabilities, words, cells := true, []string{}, 0
	for _, row := range file.Rows {
		cell := row.Cells[column]
		p, err := table.Probability(cell)
		if err == nil && math.IsNaN(p) {
			continue
		}
		cells++
		probabilities = probabilities && err == nil
		if _, number := table.Number(cell, 64); number == nil && err != nil {
			file.Report("number", row.Line, name, "words, or numbers from 0 to 1",
				cell+". Write what can be seen instead, such as small, medium or large, or leave the column out")
			return nil
		}
		for _, word := range wordsOf(cell) {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	if probabilities {
		group, _, _ := strings.Cut(name, "::")
		return []trait{{Attribute{name, group}, func(row table.Row) float64 { return value(row.Cells[column]) }}}
	}
	if cells > mostNames && len(words) >= cells {
		file.Report("names", 1, name, "words that several lines share", fmt.Sprintf("%d different ones. Leave the column out", len(words)))
	}
	for _, word := range words {
		traits = append(traits, trait{Attribute{name + "::" + word, name}, func(row table.Row) float64 {
			cell := row.Cells[column]
			if p, err := table.Probability(cell); err == nil && math.IsNaN(p) {
				return p
			}
			if slices.Contains(wordsOf(cell), word) {
				return 1
			}
			return 0
		}})
	}
	return traits
}

// wordsOf returns the words of a cell, in lower case.
func wordsOf(cell string) (words []string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(cell), func(r rune) bool { return strings.ContainsRune(";,|", r) }) {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}
