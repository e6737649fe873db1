package xlsa17

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
)

// attributeFiles name the attributes: that of LAGO's archive, CUB's own, and AWA's own,
// which has no groups. The first that exists is read.
var attributeFiles = []string{
	"meta/attribute_names_with_semantic_group.txt",
	"attribute_names_with_semantic_group.txt",
	"attributes.txt",
	"meta/attributes.txt",
	"attributes/attributes.txt",
	"predicates.txt",
	"meta/predicates.txt",
}

// readAttributes reads the names of the attributes and their groups. Without a file they
// are attribute_1 and so on, without groups.
func (f *folder) readAttributes(log logrus.FieldLogger) error {
	n := f.descriptions.Cols
	path, err := f.first(attributeFiles...)
	if err != nil {
		return err
	}
	var names []line
	if path != "" {
		if names, err = f.attributeNames(path); err != nil {
			return err
		}
		if len(names) != n {
			return wrong(path, "", fmt.Sprintf("%d attributes, as in the descriptions", n), fmt.Sprint(len(names)))
		}
	} else {
		// CUB's archive puts the file beside the folder. There it may belong to another
		// data set, so it is used only if its length fits.
		path = filepath.Join(filepath.Dir(f.dir), "attributes.txt")
		if names, err = f.attributeNames(path); err == nil && len(names) == n {
			log.WithField("file", path).Info("attribute names are read from the folder above")
		} else {
			names = nil
			for m := range n {
				names = append(names, line{m + 1, fmt.Sprintf("attribute_%d", m+1)})
			}
		}
	}
	f.attributes, f.groups = group(names)
	return nil
}

// attributeNames reads a file of unique names.
func (f *folder) attributeNames(path string) ([]line, error) {
	lines, err := readLines(f.ctx, path)
	if err != nil {
		return nil, err
	}
	return uniqueNames(path, lines)
}

func uniqueNames(file string, lines []line) ([]line, error) {
	names, err := numbered(file, lines)
	if err != nil {
		return nil, err
	}
	lineOf := make(map[string]int, len(names))
	for _, l := range names {
		field := fmt.Sprintf("line %d", l.number)
		if len(l.text) > maxName {
			return nil, wrong(file, field, fmt.Sprintf("a name of at most %d bytes", maxName), fmt.Sprint(len(l.text)))
		}
		if other, taken := lineOf[l.text]; taken {
			return nil, wrong(file, field, "a unique name", fmt.Sprintf("%q, which is also in line %d", l.text, other))
		}
		lineOf[l.text] = l.number
	}
	return names, nil
}

// group takes what precedes "::" in a name as its group. A name without "::" is a group
// of its own, unless no name has it: then groups are unknown.
func group(names []line) (attributes []dataset.Attribute, groups []string) {
	known := make(map[string]int)
	for _, l := range names {
		g, _, found := strings.Cut(l.text, "::")
		k, seen := known[g]
		if !found || !seen {
			k = len(groups)
			groups = append(groups, g)
		}
		if found {
			known[g] = k
		}
		attributes = append(attributes, dataset.Attribute{Name: l.text, Group: k})
	}
	if len(known) == 0 {
		for m := range attributes {
			attributes[m].Group = -1
		}
		return attributes, nil
	}
	return attributes, groups
}
