package xlsa17

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// attributeFiles name the attributes, the first that is there: the file of
// LAGO's archive, CUB's own, and AWA's own (which knows no groups).
var attributeFiles = []string{
	"meta/attribute_names_with_semantic_group.txt",
	"attribute_names_with_semantic_group.txt",
	"attributes.txt",
	"meta/attributes.txt",
	"attributes/attributes.txt",
	"predicates.txt",
	"meta/predicates.txt",
}

// readAttributes returns the n attributes of the data set in dir and the groups
// they belong to. Where no file names them they are attribute_1 and so on, and
// groups are unknown.
func readAttributes(dir string, n int, log logrus.FieldLogger) ([]dataset.Attribute, []string, error) {
	names, err := readAttributeNames(dir, n)
	if err != nil {
		return nil, nil, err
	}
	if names == nil {
		names = attributeNamesBeside(dir, n, log)
	}
	if names == nil {
		for m := range n {
			names = append(names, line{m + 1, fmt.Sprintf("attribute_%d", m+1)})
		}
	}
	attributes, groups := group(names)
	return attributes, groups, nil
}

// readAttributeNames returns nil where no file of the folder names attributes.
func readAttributeNames(dir string, n int) ([]line, error) {
	path, err := firstFile(dir, attributeFiles...)
	if err != nil || path == "" {
		return nil, err
	}
	names, err := readFile(path, readDistinct)
	if err != nil {
		return nil, err
	}
	if len(names) != n {
		return nil, &invalid.Error{
			Where: path,
			Want:  fmt.Sprintf("%d attributes, as in the descriptions", n),
			Got:   fmt.Sprint(len(names)),
		}
	}
	return names, nil
}

// attributeNamesBeside looks where CUB's archive unpacks attributes.txt, which
// is beside the folder of the images. There it may belong to another data set,
// so it counts only if its length fits; nil otherwise.
func attributeNamesBeside(dir string, n int, log logrus.FieldLogger) []line {
	path := filepath.Join(filepath.Dir(dir), "attributes.txt")
	names, err := readFile(path, readDistinct)
	if err != nil || len(names) != n {
		return nil
	}
	log.WithField("file", path).Info("attribute names and groups are taken from beside the folder")
	return names
}

// readDistinct returns names, each of which may be there but once.
func readDistinct(r io.Reader, file string) ([]line, error) {
	names, err := readNumbered(r, file)
	if err != nil {
		return nil, err
	}
	lineOf := make(map[string]int, len(names))
	for _, l := range names {
		if other, taken := lineOf[l.text]; taken {
			return nil, &invalid.Error{
				Where: file,
				Field: fmt.Sprintf("line %d", l.number),
				Want:  "a name of its own",
				Got:   fmt.Sprintf("%q, which is in line %d as well", l.text, other),
			}
		}
		lineOf[l.text] = l.number
	}
	return names, nil
}

// group takes what precedes "::" in a name for its group. A name without "::"
// is a group of its own, unless none has it: then groups are unknown.
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
