package xlsa17

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// writable checks that the names and groups of d are read as they are written, and
// that its samples can be counted in float32, as the reader does.
func writable(d *dataset.Dataset) error {
	fail := func(field, want, got string) error {
		return &invalid.Error{Where: d.Name, Field: field, Want: want, Got: got}
	}
	const most = 1 << 24
	if len(d.Labels) > most {
		return fail("samples", fmt.Sprintf("at most %d", most), fmt.Sprint(len(d.Labels)))
	}
	const plain = "letters and signs in one line that begin and end with no space"
	for _, name := range d.Classes {
		if !isPlain(name) {
			return fail("name of a class", plain, strconv.Quote(name))
		}
	}
	first := make(map[string]bool)
	for _, a := range d.Attributes {
		if !isPlain(a.Name) {
			return fail("name of an attribute", plain, strconv.Quote(a.Name))
		}
		if first[a.Name] {
			return fail("names of the attributes", "each of its own", fmt.Sprintf("%q twice", a.Name))
		}
		first[a.Name] = true
	}
	if !tellsGroups(d) {
		return fail("attributes", "names that tell their groups, as in has_bill_shape::dagger", "others")
	}
	return nil
}

func isPlain(name string) bool {
	return name != "" && strings.TrimSpace(name) == name && strings.ToValidUTF8(name, "") == name &&
		!strings.ContainsFunc(name, unicode.IsControl) && !strings.HasPrefix(name, "\ufeff")
}

// tellsGroups reports whether the names of the attributes are read as the groups
// that d has.
func tellsGroups(d *dataset.Dataset) bool {
	var names []line
	for _, a := range d.Attributes {
		names = append(names, line{text: a.Name})
	}
	attributes, groups := group(names)
	return slices.Equal(attributes, d.Attributes) && slices.Equal(groups, d.Groups)
}

// NameGroups returns d, or a copy of it in which the group precedes the name of each
// attribute, as in "has_bill_shape::dagger", where the names don't tell the groups
// already: the layout has no other place for them. The fingerprint of such a copy is
// not that of d.
func NameGroups(d *dataset.Dataset) *dataset.Dataset {
	if d.Groups == nil || tellsGroups(d) {
		return d
	}
	named := *d
	named.Attributes = slices.Clone(d.Attributes)
	for m, a := range named.Attributes {
		if prefix := d.Groups[a.Group] + "::"; !strings.HasPrefix(a.Name, prefix) {
			named.Attributes[m].Name = prefix + a.Name
		}
	}
	return &named
}
