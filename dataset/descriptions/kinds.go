package descriptions

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// read returns the attributes of a column and adds what it was taken for to the report. It reports a column
// that cannot be read as a problem.
func (r *traitReader) read(l *layout, c *column) []*described {
	if c.clean(); len(c.cells) == 0 {
		return r.leftOut(c, "left out: no cell says anything")
	}
	if c.name == "" || c.isIndex() {
		return r.leftOut(c, "left out: numbers of lines")
	}
	c.readStates()
	group, known := r.groups[shortName(c.name)]
	switch {
	case known && !(c.all(table.IsProbability) && len(group.Members) == 1):
		if slices.ContainsFunc(c.cells, func(of cell) bool {
			_, err := table.Number(of.text, 64)
			return err == nil && !r.knows(group, of.text)
		}) {
			return r.numbersOfGroup(l, c, group)
		}
		return r.words(l, c, &group)
	case c.share > 0:
		return r.shares(c, "parts of "+c.group, func(text string) float64 { return number(text) / c.share })
	case c.all(table.IsProbability):
		return r.shares(c, "shares", func(text string) float64 { return value(text) })
	}
	return r.numbersOrWords(l, c)
}

// clean reads marks as yes and no, and takes out cells that are missing.
func (c *column) clean() {
	c.readMarks()
	c.cells = slices.DeleteFunc(c.cells, func(of cell) bool { return isMissing(of.text) })
}

func (c *column) all(is func(text string) bool) bool {
	return !slices.ContainsFunc(c.cells, func(of cell) bool { return !is(of.text) })
}

func (r *traitReader) leftOut(c *column, why string) []*described {
	r.Traits = append(r.Traits, Trait{Column: c.name, Kind: why})
	return nil
}

func (r *traitReader) problem(l *layout, c *column, of cell, want, got, hint string) {
	field := fmt.Sprintf("line %d, column %s", of.line, c.name)
	r.problems.Add(c.name, &invalid.Error{Where: l.file.File, Field: field, Want: want, Got: got, Hint: hint})
}

// isIndex reports whether the column counts its lines from 0 or 1.
func (c *column) isIndex() bool {
	first, _ := strconv.Atoi(c.cells[0].text)
	for i, of := range c.cells {
		v, err := strconv.Atoi(of.text)
		if err != nil || v != first+i {
			return false
		}
	}
	return (first == 0 || first == 1) && (len(c.cells) > 4 || indexHeader.MatchString(c.name))
}

var indexHeader = regexp.MustCompile(`(?i)^(index|unnamed.*|no|nr|#)?$`)

func number(text string) float64 {
	v, _ := table.Number(text, 64) // the caller knows that it is one
	return v
}

var (
	statesOnly  = regexp.MustCompile(`^(\d{1,2}([\s,&/;|]+\d{1,2})*|[\[({]\s*\d+([\s,&/;|]+\d{1,2})*\s*[\])}])$`)
	stateBreaks = regexp.MustCompile(`[\s,&/;|]+`)
)

// readStates writes polymorphic states as lists, such as {01}, (0 1), 0&1 and 0,1, where all cells are codes
// and most of them one code. Decimal commas become points elsewhere.
func (c *column) readStates() {
	list := make([][]string, len(c.cells))
	single, codes := map[string]bool{}, 0
	all := true
	for i, of := range c.cells {
		inside := strings.Trim(of.text, "[](){} ")
		list[i] = stateBreaks.Split(inside, -1)
		if len(list[i]) == 1 && inside != of.text {
			list[i] = strings.Split(inside, "")
		}
		if all = all && statesOnly.MatchString(of.text); all && len(list[i]) == 1 {
			single[list[i][0]], codes = true, codes+1
		}
	}
	for i, of := range c.cells { // 0,1 may also be a decimal
		all = all && !(decimalComma.MatchString(of.text) &&
			slices.ContainsFunc(list[i], func(state string) bool { return !single[state] }))
	}
	all = all && codes < len(c.cells) && 2*codes >= len(c.cells) && 2*len(single) <= len(c.cells)
	for i := range c.cells {
		of := &c.cells[i]
		switch binary := len(single) == 2 && single["0"] && single["1"]; {
		case all && len(list[i]) == 2 && binary:
			of.text = "0.5"
		case all:
			of.text = strings.Join(list[i], "; ")
		case decimalComma.MatchString(of.text):
			of.text = strings.Replace(of.text, ",", ".", 1)
		}
	}
}

var decimalComma = regexp.MustCompile(`^[-+]?\d*,\d+\s*%?$`)

// knows reports whether a word of a cell is an attribute of a group.
func (r *traitReader) knows(g Group, word string) bool { return r.find(g, word) >= 0 }

// find returns the attribute of a group that a word means, or -1.
func (r *traitReader) find(g Group, word string) int {
	if hits := r.known.find(g.Name + "::" + word); len(hits) == 1 {
		return hits[0]
	}
	return -1
}

// numbersOfGroup refuses numbers for a group that has words: where they were cut is not known.
func (r *traitReader) numbersOfGroup(l *layout, c *column, g Group) []*described {
	var names []string
	for _, m := range g.Members {
		names = append(names, g.within(r.table.Attributes[m].Name))
	}
	r.problem(l, c, c.cells[0], "attributes of group "+g.column(), invalid.Quote(c.cells[0].text),
		"Write "+strings.Join(names[:min(len(names), 6)], ", ")+" in place of numbers.")
	return nil
}

// shares returns the one attribute of a column of probabilities.
func (r *traitReader) shares(c *column, kind string, probability func(text string) float64) []*described {
	a := Attribute{Name: c.name, Group: c.group}
	if m := r.attribute(c.name); m >= 0 {
		a = r.table.Attributes[m]
	} else if a.Group == "" {
		a.Group, _, _ = strings.Cut(c.name, "::")
	}
	d := &described{Attribute: a, sum: map[int]float64{}, cells: map[int]int{}}
	counts := map[string]map[int]bool{}
	for _, of := range c.cells {
		d.sum[of.class] += probability(of.text)
		d.cells[of.class]++
		word := nearestWord(probability(of.text))
		if counts[word] == nil {
			counts[word] = map[int]bool{}
		}
		counts[word][of.class] = true
	}
	if kind == "shares" && !slices.ContainsFunc(c.cells, func(of cell) bool {
		p := value(of.text)
		return p != 0 && p != 1
	}) {
		kind = "yes or no"
	}
	t := Trait{Column: c.name, Kind: kind}
	for word, classes := range counts {
		t.Values = append(t.Values, ValueCount{word, len(classes)})
	}
	r.report(t)
	return []*described{d}
}

// attribute returns the attribute of the data set that a name means, or -1.
func (r *traitReader) attribute(name string) int {
	if hits := r.known.find(name); len(hits) == 1 {
		return hits[0]
	}
	return -1
}

func (r *traitReader) report(t Trait) {
	slices.SortFunc(t.Values, func(a, b ValueCount) int {
		return cmp.Or(b.Classes-a.Classes, strings.Compare(a.Value, b.Value))
	})
	r.Traits = append(r.Traits, t)
}

// numbersOrWords reads a column that the data set does not know.
func (r *traitReader) numbersOrWords(l *layout, c *column) []*described {
	var first, other *cell // the first number, and the first cell that is none
	numbers, plain := 0, 0
	for i := range c.cells {
		of := &c.cells[i]
		if _, _, ok := measureOf(of.text); !ok {
			other = cmp.Or(other, of)
			continue
		}
		numbers++
		if _, err := table.Number(of.text, 64); err == nil {
			first, plain = cmp.Or(first, of), plain+1
		}
	}
	codes := map[string]bool{}
	whole := c.all(func(text string) bool {
		for _, state := range strings.Split(text, "; ") {
			codes[state] = true
		}
		return statesOnly.MatchString(text)
	})
	lists := slices.ContainsFunc(c.cells, func(of cell) bool { return strings.Contains(of.text, "; ") })
	switch {
	case whole && (lists || len(codes) <= 10 && 2*len(codes) <= len(c.cells)):
		return r.words(l, c, nil)
	case other == nil:
		return r.measurements(l, c)
	case 2*numbers >= len(c.cells):
		r.problem(l, c, *other, "a number, as in other lines", invalid.Quote(other.text),
			"Write numbers or words in the whole column, or leave it out.")
		return nil
	case plain > 0:
		r.problem(l, c, *first, "words, as in other lines, or numbers from 0 to 1", first.text,
			"Write numbers or words in the whole column, or leave it out.")
		return nil
	}
	return r.words(l, c, nil)
}

// words returns the attributes of a column of words: those of a group of the data set, or new ones.
func (r *traitReader) words(l *layout, c *column, g *Group) []*described {
	knows := func(word string) bool { return g != nil && (word == noneOfGroup || r.knows(*g, word)) }
	cells := make([][]item, len(c.cells))
	for i, of := range c.cells {
		cells[i] = itemsOf(of.text)
	}
	s := newSplitter(cells, knows)
	for i, items := range cells {
		words, contrary := s.split(items)
		if cells[i] = words; contrary != "" {
			r.problem(l, c, c.cells[i], "each word of a cell once, and none alone",
				invalid.Quote(contrary)+" in "+invalid.Quote(c.cells[i].text), "")
		}
		for _, it := range words {
			if invalid.HasControl(it.word) {
				r.problem(l, c, c.cells[i], "words without control characters", invalid.Quote(it.word), "")
			}
		}
	}
	if c.list {
		c.cells, cells = joinLists(c.cells, cells)
	}
	full := map[int]int{}
	var words []string
	var classes []map[int]bool
	var all []*described
	at := map[string]int{}
	for i, of := range c.cells {
		known, others := r.ofGroup(l, c, g, of, cells[i])
		if !others && len(cells[i]) > 0 {
			full[of.class]++
		}
		for _, it := range known {
			k, seen := at[wordKey(it.word)]
			if !seen {
				k = len(words)
				at[wordKey(it.word)] = k
				words, classes = append(words, it.word), append(classes, map[int]bool{})
				all = append(all, &described{Attribute: Attribute{
					c.name + "::" + it.word, c.name,
				}, sum: map[int]float64{}, cells: full, extra: map[int]int{}})
			}
			all[k].sum[of.class] += it.p
			classes[k][of.class] = true
			if others {
				all[k].extra[of.class]++
			}
		}
	}
	trait := Trait{Column: c.name, Kind: "words"}
	for i, word := range words {
		trait.Values = append(trait.Values, ValueCount{word, len(classes[i])})
	}
	if g != nil {
		trait.Kind = "words of group " + g.column()
		r.report(trait)
		return r.inGroup(*g, all, words, full)
	}
	if why := unusable(c, words, classes); why != "" {
		return r.leftOut(c, why)
	}
	trait.Alike = alike(words)
	r.report(trait)
	return slices.DeleteFunc(all, func(d *described) bool { return d.Name == c.name+"::"+noneOfGroup })
}

// joinLists makes one cell of the lines of each class, unless a word is on two of them: then they are
// observations, of which the means count.
func joinLists(cells []cell, items [][]item) ([]cell, [][]item) {
	type wordOf struct {
		class int
		word  string
	}
	seen := map[wordOf]bool{}
	at := map[int]int{}
	var joined []cell
	var lists [][]item
	for i, of := range cells {
		for _, it := range items[i] {
			key := wordOf{of.class, wordKey(it.word)}
			if seen[key] {
				return cells, items
			}
			seen[key] = true
		}
		k, known := at[of.class]
		if !known {
			k = len(joined)
			at[of.class] = k
			joined, lists = append(joined, of), append(lists, nil)
		}
		lists[k] = append(lists[k], items[i]...)
	}
	return joined, lists
}

// ofGroup returns those words of a cell that are attributes of a group, nil for a new group, and whether
// there are others, which are noted. Where a cell has others, only those that it lists are known.
func (r *traitReader) ofGroup(l *layout, c *column, g *Group, of cell,
	items []item,
) (known []item, others bool) {
	if g == nil {
		return items, false
	}
	for _, it := range items {
		if it.word == noneOfGroup || r.knows(*g, it.word) {
			known = append(known, it)
			continue
		}
		others = true
		e := &invalid.Error{
			Where: l.file.File, Field: fmt.Sprintf("line %d, column %s", of.line, c.name),
			Want: "attributes of this group", Got: invalid.Quote(it.word),
		}
		if !r.notes.Full(c.name, l.file.File) {
			var names []string
			for _, m := range g.Members {
				names = append(names, g.within(r.table.Attributes[m].Name))
			}
			e.Hint = invalid.DidYouMean(it.word, names)
		}
		r.notes.Add(c.name, e)
	}
	return known, others
}

// inGroup returns the attributes of a group of the data set as its words describe them.
func (r *traitReader) inGroup(g Group, all []*described, words []string,
	full map[int]int,
) (members []*described) {
	of := map[int]*described{}
	for _, m := range g.Members {
		of[m] = &described{
			Attribute: r.table.Attributes[m], sum: map[int]float64{}, cells: full, extra: map[int]int{},
		}
		members = append(members, of[m])
	}
	for i, d := range all {
		if m := r.find(g, words[i]); m >= 0 && of[m] != nil {
			maps.Copy(of[m].sum, d.sum)
			maps.Copy(of[m].extra, d.extra)
		}
	}
	return members
}
