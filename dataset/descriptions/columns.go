package descriptions

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
)

// column is one trait.
type column struct {
	name  string
	cells []cell // that are not empty
	list  bool   // several cells of a class may list what it has
	share float64
	group string  // of numbers that are shares of one whole; share is that whole
	of    *column // the one that it was joined to
}

type cell struct {
	class, line int
	text        string
}

func (c *column) add(of cell) {
	if of.text = strings.TrimSpace(of.text); of.text != "" {
		c.cells = append(c.cells, of)
	}
}

var (
	numberedColumn = regexp.MustCompile(`^(.*\pL.*?)[ _.-]?\d+$`)
	wholeColumn    = regexp.MustCompile(`^(.*\pL)[-_. :]+.+$`)
)

// joinNumbered makes one trait of columns such as Symptom_1 to Symptom_17, whose words are a list.
func joinNumbered(l *layout) {
	stems, words := map[string][]*column{}, map[string]map[string]int{}
	for _, c := range l.columns {
		m := numberedColumn.FindStringSubmatch(c.name)
		if m == nil || len(c.cells) == 0 || slices.ContainsFunc(c.cells, func(of cell) bool {
			return plainValue(of.text)
		}) {
			continue
		}
		if stem := m[1]; stems[stem] == nil {
			stems[stem], words[stem] = []*column{c}, map[string]int{}
		} else {
			stems[stem] = append(stems[stem], c)
		}
		seen := map[string]bool{}
		for _, of := range c.cells {
			if !seen[of.text] {
				seen[of.text] = true
				words[m[1]][of.text]++
			}
		}
	}
	for stem, columns := range stems {
		shared := false
		for _, n := range words[stem] {
			shared = shared || n > 1
		}
		if !shared {
			continue
		}
		first := columns[0]
		at, texts := map[int]int{}, [][]string{} // by line
		var cells []cell
		for _, c := range columns {
			c.of = first
			for _, of := range c.cells {
				if _, known := at[of.line]; !known {
					at[of.line] = len(cells)
					cells, texts = append(cells, of), append(texts, nil)
				}
				texts[at[of.line]] = append(texts[at[of.line]], of.text)
			}
		}
		for i := range cells {
			cells[i].text = strings.Join(texts[i], "; ")
		}
		first.cells, first.of = cells, nil
		first.name = stem
	}
	l.columns = slices.DeleteFunc(l.columns, func(c *column) bool { return c.of != nil })
}

// findShares finds columns of numbers of one prefix that sum to 1 or 100 in nearly all lines, such as
// Diet-Seed.
func findShares(l *layout) {
	groups := map[string][]*column{}
	for _, c := range l.columns {
		m := wholeColumn.FindStringSubmatch(strings.ReplaceAll(c.name, "::", ":"))
		number := func(of cell) bool {
			v, err := table.Number(of.text, 64)
			return err == nil && v >= 0 && v <= 100
		}
		if m != nil && len(c.cells) > 0 && !slices.ContainsFunc(c.cells, func(of cell) bool {
			return !number(of) && !isMissing(of.text)
		}) {
			groups[m[1]] = append(groups[m[1]], c)
		}
	}
	for name, columns := range groups {
		sums := map[int]float64{}
		for _, c := range columns {
			for _, of := range c.cells {
				key := of.line
				if c.list {
					key = of.class
				}
				if v, err := table.Number(of.text, 64); err == nil {
					sums[key] += v
				}
			}
		}
		for _, whole := range []float64{1, 100} {
			fit := 0
			for _, sum := range sums {
				if sum > 0.985*whole && sum < 1.015*whole {
					fit++
				}
			}
			if len(columns) > 1 && 10*fit >= 9*len(sums) {
				for _, c := range columns {
					c.share, c.group = whole, strings.TrimRight(name, "-_. :")
				}
			}
		}
	}
}
