package check

import (
	"fmt"

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
