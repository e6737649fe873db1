package openlayout

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
)

// readAttributes returns the attributes and their groups; nil groups where no
// attribute has one, and no attributes where the file is no table.
func (r *reader) readAttributes() (attributes []dataset.Attribute, groups []string) {
	t := r.table(attributesFile, []string{"name"}, []string{"group"}, false)
	if t == nil {
		return nil, nil
	}
	names, _ := t.names("name")
	known := make(map[string]int)
	ungrouped := -1 // row
	for i, row := range t.rows {
		a := dataset.Attribute{Name: names[i], Group: -1}
		if group := t.cell(row, "group"); group == "" {
			if ungrouped < 0 {
				ungrouped = i
			}
		} else {
			k, seen := known[group]
			if !seen {
				k = len(groups)
				known[group] = k
				groups = append(groups, group)
			}
			a.Group = k
		}
		attributes = append(attributes, a)
	}
	if groups != nil && ungrouped >= 0 {
		t.wrong("group", t.rows[ungrouped], "group", "a group for every attribute, or for none",
			fmt.Sprintf("none for %q", t.cell(t.rows[ungrouped], "name")))
	}
	return attributes, groups
}
