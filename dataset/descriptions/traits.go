package descriptions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// AddTraits adds to t what a table of traits says: one line for each class, or several, such as one for
// each sample, of which the class has the means. The first column is named class, species, taxon
// or name, or has no name; it names classes as Finder does, or new ones. Each other column is a trait:
//
//	,diet,wings,nocturnal
//	barn owl,meat,broad (often),yes
//	wren,insects; seeds,,no
//
// A column of words is a group, and each of its words an attribute, such as diet::meat; a cell may have
// several, separated by semicolons, commas or bars, each with a word of table.Probability in parentheses, or
// none, and attributes that it does not list are no. A column of words and numbers of table.Probability is
// one attribute. Where t has the group, or an attribute of that name, the column describes it. In a text with
// code fences, as of an answer to Prompts, only what is between them is read: one or more tables.
//
// Cells of t that are filled in are kept; the others become drafts. notes has the words that are no
// attributes of their group, which are ignored, and the classes that are added to those of t. The
// error joins all problems, each an *invalid.Error.
func (t *Table) AddTraits(ctx context.Context, path string) (notes invalid.List, err error) {
	text, err := fileio.ReadFile(ctx, path, maxSize)
	if err != nil {
		return notes, err
	}
	var problems invalid.List
	var tables []*table.Table
	for _, block := range blocksOf(text) {
		if file := table.ParseWith(path, bytes.NewReader(block), &problems, nil, table.Any); file != nil {
			tables = append(tables, file)
		}
	}
	for _, file := range tables {
		if problems.Len() == 0 {
			t.addTraits(file, &problems, &notes)
		}
	}
	return notes, problems.Err()
}

// blocksOf returns what is between the code fences of a text, each behind as many empty lines as the
// text has before it, or the whole text if it has none.
func blocksOf(text []byte) (blocks [][]byte) {
	fence := []byte("```")
	if !bytes.Contains(text, fence) {
		return [][]byte{text}
	}
	var block []byte
	inside := false
	for line := range bytes.Lines(text) {
		switch isFence := bytes.HasPrefix(bytes.TrimSpace(line), fence); {
		case isFence && inside:
			blocks, block, inside = append(blocks, bytes.Clone(block)), bytes.Repeat([]byte("\n"), bytes.Count(block, []byte("\n"))), false
		case isFence:
			inside = true
		case inside:
			block = append(block, line...)
			continue
		}
		block = append(block, '\n')
	}
	if inside { // an answer that was cut off
		blocks = append(blocks, block)
	}
	return blocks
}

func (t *Table) addTraits(file *table.Table, problems, notes *invalid.List) {
	classColumn := max(0, slices.IndexFunc(file.Columns, func(name string) bool {
		return slices.Contains([]string{"", ClassColumn, "species", "taxon", "name"}, strings.ToLower(name))
	}))
	ofClass, names, before := make(map[string][]table.Row), []string{}, len(t.Classes)
	find, folded := t.Finder(), map[string]string{} // spellings of classes that are new
	if z := find(file.Columns[classColumn]); z >= 0 {
		file.Report("header", 1, "", `a header: "class" and the names of traits or groups`, "the class "+invalid.Quote(t.Classes[z]))
		return
	}
	file.Rows = slices.DeleteFunc(file.Rows, func(row table.Row) bool { return slices.Equal(row.Cells, file.Columns) }) // parts with a header each
	for _, row := range file.Rows {
		name := row.Cells[classColumn]
		if foldName(name) == "" || invalid.HasControl(name) {
			file.Report("class", row.Line, file.Columns[classColumn], "the name of a class", invalid.Quote(name))
			continue
		}
		if z := find(name); z >= 0 {
			name = t.Classes[z]
		} else {
			if folded[foldName(name)] == "" && before > 0 {
				notes.Add("class", &invalid.Error{
					Where: file.File, Field: fmt.Sprintf("line %d", row.Line), Want: "a class of the data set",
					Got: invalid.Quote(name) + ", which is added", Hint: invalid.DidYouMean(name, t.Classes[:before]),
				})
			}
			name = cmp.Or(folded[foldName(name)], name)
			folded[foldName(name)] = name
		}
		names, ofClass[name] = append(names, name), append(ofClass[name], row)
	}
	if before > 0 && len(folded) == len(ofClass) {
		problems.AddError(&invalid.Error{Where: file.File, Field: fmt.Sprintf("column %d", classColumn+1), Want: "names of classes of the data set", Got: "none of them"})
	}
	var traits []trait
	for j, name := range file.Columns {
		if j != classColumn {
			traits = append(traits, t.readTrait(file, j, name, notes)...)
		}
	}
	if problems.Len() > 0 {
		return
	}
	words := slices.ContainsFunc(traits, func(a trait) bool { return a.Group != a.Name && t.Attribute(a.Name) < 0 })
	switch ungrouped := len(t.Attributes) > 0 && t.Attributes[0].Group == ""; {
	case ungrouped && words:
		problems.AddError(&invalid.Error{Where: file.File, Want: "new columns of numbers alone, since the attributes of the data set have no groups", Got: "words"})
		return
	case ungrouped, len(t.Attributes) == 0 && !words:
		for i := range traits {
			traits[i].Group = ""
		}
	}
	t.Added.Classes += t.AddClasses(names)
	t.ownDrafts()
	scale := t.Scale()
	for _, a := range traits {
		if t.AddAttribute(a.Attribute) {
			t.Added.Attributes++
		}
		m := t.Attribute(a.Name)
		for z, name := range t.Classes {
			if t.Cells[z][m] != "" {
				continue
			}
			if cell := a.mean(ofClass[name], scale); cell != "" {
				t.Cells[z][m] = cell
				t.Drafts[Draft{Class: name, Group: t.Attributes[m].Group}] = true
			}
		}
	}
}

// trait is an attribute that a column of traits has.
type trait struct {
	Attribute
	value func(row table.Row) float64 // NaN where it is missing
}

// mean returns the cell of a class that some rows describe.
func (a trait) mean(rows []table.Row, scale func(p float64) string) string {
	var sum, n float64
	for _, row := range rows {
		if p := a.value(row); !math.IsNaN(p) {
			sum += p
			n++
		}
	}
	if n == 0 {
		return ""
	}
	if word := nearestWord(sum / n); value(word) == sum/n {
		return word
	}
	if text := scale(sum / n); strings.HasSuffix(text, "%") {
		return text
	}
	return strconv.FormatFloat(sum/n, 'g', 6, 64)
}

// readTrait returns the attributes of a column, and reports one of numbers that are no probabilities.
func (t *Table) readTrait(file *table.Table, column int, name string, notes *invalid.List) []trait {
	if name == "" || name == ClassColumn || invalid.HasControl(name) {
		file.Report("trait", 1, fmt.Sprint(column+1), "the name of a trait", invalid.Quote(name))
		return nil
	}
	const mostNames = 20 // words that are all different in more lines are names, such as those of photographs
	probabilities, words, cells, measures := true, []string{}, 0, 0
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
		if measure.MatchString(cell) {
			measures++
		}
		for word := range wordsOf(cell) {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	one := func(a Attribute) []trait {
		return []trait{{a, func(row table.Row) float64 { return value(row.Cells[column]) }}}
	}
	known := newVocabulary(t.Attributes)
	short := func(name string) string { return strings.TrimPrefix(foldName(name), "has") }
	for _, g := range t.Groups() {
		if short(g.column()) == short(name) && !(probabilities && len(g.Members) == 1) {
			return t.traitsOf(g, known, file, column, notes)
		}
	}
	if hits := known.find(name); probabilities && len(hits) == 1 {
		return one(t.Attributes[hits[0]])
	}
	if probabilities {
		group, _, _ := strings.Cut(name, "::")
		return one(Attribute{name, group})
	}
	if measures == cells && 2*len(words) > cells { // fewer may be classes of sizes
		file.Report("number", 1, name, "words that several lines share, or numbers from 0 to 1",
			fmt.Sprintf("%s. Write what can be seen instead, such as small, medium or large, or leave the column out", invalid.Quote(words[0])))
		return nil
	}
	if cells > mostNames && len(words) >= cells {
		file.Report("names", 1, name, "words that several lines share", fmt.Sprintf("%d different ones. Leave the column out", len(words)))
	}
	var traits []trait
	for _, word := range words {
		if word != noneOfGroup {
			traits = append(traits, trait{Attribute{name + "::" + word, name}, func(row table.Row) float64 {
				return listed(row.Cells[column], func(other string) bool { return other == word })
			}})
		}
	}
	return traits
}

// traitsOf returns the attributes of a group as a column of words describes them. Where a cell has
// another word, only those that it lists are known.
func (t *Table) traitsOf(g Group, known *vocabulary, file *table.Table, column int, notes *invalid.List) (traits []trait) {
	names, meaning, others := []string{}, map[string]int{}, map[string]bool{} // others are cells with another word
	for _, m := range g.Members {
		names = append(names, g.within(t.Attributes[m].Name))
	}
	for _, row := range file.Rows {
		for word := range wordsOf(row.Cells[column]) {
			if hits := known.find(g.Name + "::" + word); len(hits) == 1 {
				meaning[word] = hits[0]
			} else if word != noneOfGroup {
				others[row.Cells[column]] = true
				notes.Add(file.Columns[column], &invalid.Error{
					Where: file.File, Field: fmt.Sprintf("line %d, column %s", row.Line, file.Columns[column]),
					Want: "attributes of this group", Got: invalid.Quote(word), Hint: invalid.DidYouMean(word, names),
				})
			}
		}
	}
	for _, m := range g.Members {
		traits = append(traits, trait{t.Attributes[m], func(row table.Row) float64 {
			p := listed(row.Cells[column], func(word string) bool { other, ok := meaning[word]; return ok && other == m })
			if p == 0 && others[row.Cells[column]] {
				return math.NaN()
			}
			return p
		}})
	}
	return traits
}

// listed returns the probability of the attribute that is means in a cell that lists some: 0 if it is
// not among them, and NaN in an empty cell.
func listed(cell string, is func(word string) bool) float64 {
	if table.Missing(cell) {
		return math.NaN()
	}
	for word, p := range wordsOf(cell) {
		if is(word) {
			return p
		}
	}
	return 0
}

// measure matches a number with a unit, and a range.
var measure = regexp.MustCompile(`^[<>~≈]?\s*\d[\d.,]*\s*([-–±]\s*\d[\d.,]*)?\s*(mm|cm|m|km|in|ft|mg|g|kg|ml|l|s|min|h|days?|months?|years?|°?C)?$`)

// noneOfGroup says in a cell of words that the class has none of them.
const noneOfGroup = "none"

var withStrength = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)

// wordsOf returns the words of a cell, in lower case, with their probabilities, which are 1 if none is
// behind them in parentheses. A cell that is missing has none.
func wordsOf(cell string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		if table.Missing(cell) {
			return
		}
		for word := range strings.FieldsFuncSeq(strings.ToLower(cell), func(r rune) bool { return strings.ContainsRune(";,|", r) }) {
			word, p := strings.TrimSpace(word), 1.0
			if found := withStrength.FindStringSubmatch(word); found != nil {
				if strength, err := table.Probability(found[2]); err == nil && !math.IsNaN(strength) {
					word, p = found[1], strength
				}
			}
			if word != "" && !yield(word, p) {
				return
			}
		}
	}
}
