package xlsa17

import (
	"fmt"
	"regexp"
	"strings"
)

// classIndex finds classes by names that other files spell in other ways.
type classIndex struct {
	names    []string
	spelling [len(spellings)]map[string][]int // classes by each of the spellings
}

// spellings make names comparable, the strictest first. A looser one is asked
// only where the stricter ones know no such name.
var spellings = [...]func(string) string{
	func(name string) string { return name },
	fold,
	func(name string) string { return fold(classNumber.ReplaceAllString(name, "")) },
}

// classNumber is what stands before the name of a class of CUB, as in
// "001.Black_footed_Albatross".
var classNumber = regexp.MustCompile(`^\d+\.\s*`)

// fold forgets case and whether words are parted by '+', '_' or space.
func fold(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '+' || r == '_' || r == ' ' })
	return strings.ToLower(strings.Join(words, " "))
}

func newClassIndex(names []string) *classIndex {
	x := &classIndex{names: names}
	for i, spell := range spellings {
		x.spelling[i] = make(map[string][]int, len(names))
		for z, name := range names {
			key := spell(name)
			x.spelling[i][key] = append(x.spelling[i][key], z)
		}
	}
	return x
}

// find returns the one class that name means. The error says what was found
// instead.
func (x *classIndex) find(name string) (int, error) {
	for i, spell := range spellings {
		switch hits := x.spelling[i][spell(name)]; len(hits) {
		case 0:
		case 1:
			return hits[0], nil
		default:
			return 0, fmt.Errorf("%q, which may mean %q or %q", name, x.names[hits[0]], x.names[hits[1]])
		}
	}
	return 0, fmt.Errorf("%q, which is none of them", name)
}
