package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

func (c *checker) names() {
	first := make(map[string]int, len(c.Classes))
	for z, name := range c.Classes {
		field := fmt.Sprintf("class %d", z)
		if name == "" {
			c.report("class name", field, "a unique name", "an empty name")
		} else if other, repeated := first[name]; repeated {
			c.report("class name", field, "a unique name",
				fmt.Sprintf("%s, which is also class %d", invalid.Quote(name), other))
		} else {
			first[name] = z
		}
		c.control("class", z, name)
	}
	for m, a := range c.Attributes {
		c.control("attribute", m, a.Name)
	}
	for k, name := range c.Groups {
		c.control("group", k, name)
	}
}

// attributes reports attributes that their names do not tell apart.
func (c *checker) attributes() {
	first := make(map[string]int, len(c.Attributes))
	for m, a := range c.Attributes {
		if other, repeated := first[a.Name]; repeated {
			c.report("attribute name", fmt.Sprintf("attribute %d", m+1), "a name that no other attribute has",
				fmt.Sprintf("%s, as attribute %d", invalid.Quote(a.Name), other+1),
				"Descriptions of new classes cannot name it.")
		} else {
			first[a.Name] = m
		}
	}
}

func (c *checker) control(what string, i int, name string) {
	if invalid.HasControl(name) {
		c.report("control", fmt.Sprintf("%s %d", what, i), "a name without control characters",
			invalid.Quote(name))
	}
}

// folders are names of folders that hold the folders of classes, and are no class themselves.
var folders = []string{
	"data", "dataset", "image", "images", "imgs", "jpegimages", "photo", "photos", "pictures", "test", "train",
	"val", "valid", "validation",
}

// classNames reports classes whose names differ little, but for those in two subsets, which leaks reports;
// lists of classes; and classes with the name of a folder of classes.
func (c *checker) classNames() {
	folded, classOf := make([]string, len(c.Classes)), map[string]int{}
	for z, name := range c.Classes {
		folded[z] = fold(name)
		classOf[folded[z]] = z
	}
	for _, set := range repeated(folded) {
		for _, z := range set[1:] {
			if c.subsetOf[z] == c.subsetOf[set[0]] {
				c.report("near", c.classPair(c.Classes[set[0]], c.Classes[z]), "different names",
					"names that "+alike, "If they are one class, write one name everywhere.")
			}
		}
	}
	for z, name := range c.Classes {
		field := "class " + invalid.Quote(name)
		if slices.Contains(folders, folded[z]) && c.subsetOf[z] != "" {
			c.report("folder", field, "the name of a class", "one of a folder of classes",
				"Were the photographs read one level of folders too high?")
		}
		for _, separator := range []string{"|", ";", ",", "/", "&", "+"} {
			parts := strings.Split(name, separator)
			known := func(part string) bool { _, found := classOf[fold(strings.TrimSpace(part))]; return found }
			if len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !known(p) }) {
				c.report("list", field, "one class for each sample", "a list of classes",
					"A sample has one class: choose one, or leave the sample out.")
				break
			}
		}
	}
}
