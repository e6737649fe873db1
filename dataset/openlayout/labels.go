package openlayout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// labels are what labels.csv says of the samples.
type labels struct {
	classes []int // of each sample; -1 where the class is unknown
	held    []int // samples held out for generalised zero-shot learning, ascending
	table   *table
}

// readLabels returns nil where the file is no table.
func (r *reader) readLabels(c *classes) *labels {
	t := r.table(labelsFile, []string{classColumn}, []string{idColumn, testSeenColumn}, false)
	if t == nil {
		return nil
	}
	l := &labels{table: t}
	if t.column(idColumn) >= 0 {
		t.names(idColumn)
	}
	for i, row := range t.rows {
		z := -1
		if c != nil {
			z = c.find(t, row)
		}
		l.classes = append(l.classes, z)
		if t.truth(row, testSeenColumn) {
			l.held = append(l.held, i)
		}
	}
	return l
}

// truth reads a cell that says yes or no.
func (t *table) truth(row row, column string) bool {
	switch cell := t.cell(row, column); strings.ToLower(cell) {
	case "yes", "true", "1":
		return true
	case "no", "false", "0", "":
	default:
		t.wrong("truth", row, column, "yes or no (true or false, 1 or 0; nothing is no)", strconv.Quote(cell))
	}
	return false
}

// checkHeld checks that the samples held out are of seen classes. partOf has the
// part of each class, which is a seen one or not in every division alike.
func (l *labels) checkHeld(c *classes, partOf []string) {
	for _, i := range l.held {
		z := l.classes[i]
		if z < 0 || slices.Contains([]string{train, val, misspelt}, partOf[z]) {
			continue
		}
		what := "is in no part"
		if partOf[z] != "" {
			what = "is a " + partOf[z] + " class"
		}
		l.table.wrong("held", l.table.rows[i], testSeenColumn, "yes for samples of train and val classes alone",
			fmt.Sprintf("it for one of %q, which %s", c.names[z], what))
	}
}
