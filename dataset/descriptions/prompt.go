package descriptions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// entriesOfPrompt is the most classes times attributes that one text asks for: an answer of about
// 5,000 words.
const entriesOfPrompt = 10_000

const prompt = `Describe the classes below, for a program that recognises them in photographs.

Answer in a code block with CSV: this header, then one line for each class, which begins with its name as it is written below.

%s

Each cell is about one group of attributes. List those attributes of the group that photographs of the class show, as they are
written below, with semicolons between them:
- black; white: most photographs of the class show black and white. All attributes of the group that are not listed count as "no".
- black; white (sometimes): write (often), (sometimes) or (rarely) after an attribute that only a part of the photographs show,
  since it differs between males and females, seasons or individuals.
- none: the class has no attribute of the group.
For a group of one attribute, write yes, often, sometimes, rarely or no.
Leave a cell empty if you do not know: a wrong entry is worse than an empty one. Use no commas and no quotes in a cell.

Groups: attributes
%s
Classes
%s`

// Prompts returns texts that ask a language model or a person for the entries that are missing, in
// parts of classes. AddTraits reads the answers.
func (t *Table) Prompts() (parts []string) {
	var groups []Group
	open := make([]bool, len(t.Classes))
	for _, g := range t.Groups() {
		asked := false
		for z, cells := range t.Cells {
			if slices.ContainsFunc(g.Members, func(m int) bool { return cells[m] == "" }) {
				asked, open[z] = true, true
			}
		}
		if asked {
			groups = append(groups, g)
		}
	}
	var classes []string
	for z, name := range t.Classes {
		if open[z] {
			classes = append(classes, name)
		}
	}
	header, attributes, n := ClassColumn, "", 0
	for _, g := range groups {
		var names []string
		for _, m := range g.Members {
			names = append(names, g.within(t.Attributes[m].Name))
		}
		header += "," + g.column()
		attributes += fmt.Sprintf("- %s: %s\n", g.column(), strings.Join(names, "; "))
		n += len(names)
	}
	for part := range slices.Chunk(classes, max(1, entriesOfPrompt/max(n, 1))) {
		parts = append(parts, fmt.Sprintf(prompt, header, attributes, "- "+strings.Join(part, "\n- ")+"\n"))
	}
	return parts
}

// Group is the attributes with the name of one group, "" for those of a data set without groups.
type Group struct {
	Name    string
	Members []int // indices of attributes
}

// Groups returns the groups in the order in which attributes first name them.
func (t *Table) Groups() (list []Group) {
	index := map[string]int{}
	for m, a := range t.Attributes {
		k, known := index[a.Group]
		if !known {
			k = len(list)
			index[a.Group], list = k, append(list, Group{Name: a.Group})
		}
		list[k].Members = append(list[k].Members, m)
	}
	return list
}

// column is the name of the group in a table of traits.
func (g Group) column() string { return cmp.Or(g.Name, "attributes") }

// within returns the name of an attribute without that of the group.
func (g Group) within(attribute string) string { return strings.TrimPrefix(attribute, g.Name+"::") }
