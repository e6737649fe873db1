package dataset

import (
	"strings"
	"unicode"
)

// FoldName removes case, spaces and punctuation from a name, to compare spellings.
func FoldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// NameIndex finds things by names that people and files spell differently. The zero value
// is empty.
type NameIndex struct {
	levels []map[string][]int
}

// Add adds thing i under the spellings of its name, the strictest first. Each thing has the
// same number of spellings.
func (x *NameIndex) Add(i int, spellings ...string) {
	if x.levels == nil {
		x.levels = make([]map[string][]int, len(spellings))
	}
	for level, s := range spellings {
		if x.levels[level] == nil {
			x.levels[level] = make(map[string][]int)
		}
		x.levels[level][s] = append(x.levels[level][s], i)
	}
}

// Find returns the things that a name may mean, given its spelling at each level. A looser
// spelling counts only where no stricter one is known.
func (x *NameIndex) Find(spellings ...string) []int {
	for level, known := range x.levels {
		if hits := known[spellings[level]]; len(hits) > 0 {
			return hits
		}
	}
	return nil
}
