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

// Strings converts words of a named type.
func Strings[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return list
}

// List joins words with a conjunction before the last, as in "a, b and c".
func List(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Spaced returns a printable name with spaces in place of _ and +.
func Spaced(name string) string {
	return Printable(strings.NewReplacer("_", " ", "+", " ").Replace(name))
}
