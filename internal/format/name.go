package format

import (
	"regexp"
	"strings"
)

var numbered = regexp.MustCompile(`^\d+\.(.+)$`) // a class of CUB, "002.Laysan_Albatross"

// ClassName returns the name of a class for people: "Laysan Albatross" for
// "002.Laysan_Albatross".
func ClassName(name string) string {
	if found := numbered.FindStringSubmatch(name); found != nil {
		name = found[1]
	}
	return Spaced(name)
}

// AttributeName returns the name of an attribute or group for people:
// "has_wing_color::olive" becomes "wing color: olive".
func AttributeName(name string) string {
	group, value, found := strings.Cut(name, "::")
	if short, ok := strings.CutPrefix(group, "has_"); ok && short != "" {
		group = short
	}
	if !found {
		return Spaced(group)
	}
	return Spaced(group) + ": " + Spaced(value)
}

// Spaced returns a printable name with spaces in place of _ and +.
func Spaced(name string) string {
	return Printable(strings.NewReplacer("_", " ", "+", " ").Replace(name))
}
