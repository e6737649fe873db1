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
	path, err := firstFile(f.dir, attributeFiles...)
	if err != nil {
		return err
	}
	// CUB's archive puts the file beside the folder. There it may belong to another data
	// set, so it is used only if its length fits.
	beside := path == ""
	if beside {
		path = filepath.Join(filepath.Dir(f.dir), "attributes.txt")
	}
	names, err := f.attributeNames(path)
	switch {
	case beside && (err != nil || len(names) != n):
		names = make([]line, n)
		for m := range names {
			names[m].text = fmt.Sprintf("attribute_%d", m+1)
		}
	case beside:
		log.WithField("file", path).Info("attribute names are read from the folder above")
	case err != nil:
		return err
	case len(names) != n:
		return wrong(path, "", fmt.Sprintf("%d attributes, as in the descriptions", n), fmt.Sprint(len(names)))
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
	if lines, err = numbered(path, lines); err != nil {
		return nil, err
	}
	return lines, checkNames(path, "line", lines)
}

// group takes what precedes "::" in a name as its group. A name without "::" is the only
// member of its group. If no name has "::", groups are unknown.
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
