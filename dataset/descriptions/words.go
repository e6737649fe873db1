package descriptions

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// noneOfGroup says in a cell of words that the class has none of them.
const noneOfGroup = "none"

// missingWords say in tables of traits that nothing is known.
var missingWords = []string{
	"-", "--", "---", "–", "—", ".", "..", "...", "*", "unknown", "unk", "unk.", "not known", "missing",
	"not recorded", "none recorded", "no data", "no record",
	"not available", "not reported", "not observed", "not assessed", "undetermined", "unspecified", "indet.",
	"tbd", "-9999", "-999",
}

func isMissing(text string) bool {
	return table.Missing(text) || slices.Contains(missingWords, strings.ToLower(strings.TrimSpace(text)))
}

// marks are what people write for yes and no, where a column has nothing else.
var marks = map[string]string{
	"x": "yes", "✓": "yes", "✔": "yes", "☑": "yes", "+": "yes", "•": "yes", "●": "yes", "✗": "no", "✘": "no",
	"☐": "no",
}

// readMarks replaces a column of marks by yes and no. Beside +, - is no.
func (c *column) readMarks() {
	marked, plus := false, false
	for _, of := range c.cells {
		_, mark := marks[strings.ToLower(of.text)]
		marked, plus = marked || mark, plus || of.text == "+"
		if !mark && !isMissing(of.text) && !table.IsProbability(of.text) {
			return
		}
	}
	for i := range c.cells {
		of := &c.cells[i]
		if word := marks[strings.ToLower(of.text)]; marked && word != "" {
			of.text = word
		} else if plus && slices.Contains([]string{"-", "–", "−"}, of.text) {
			of.text = "no"
		}
	}
}

// plainValue reports whether a cell is no word: missing, a mark, a probability or a number.
func plainValue(text string) bool {
	if isMissing(text) || table.IsProbability(text) || marks[strings.ToLower(text)] != "" {
		return true
	}
	_, _, number := measureOf(text)
	return number
}

// item is a word of a cell with its probability.
type item struct {
	word string
	p    float64
}

var (
	withStrength = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)
	strengthOf   = regexp.MustCompile(`^(rarely|sometimes|often|always|never)\s+(\S.*)$`)
	choices      = regexp.MustCompile(`^\{"choices":\s*\[(.*)\]\}$`) // of Label Studio
	hardBreak    = regexp.MustCompile(`[;,|\n]`)
	softBreak    = regexp.MustCompile(`\s*[/&+]\s*|\s+(?:and|or)\s+`)
)

// itemsOf returns the words of a cell in lower case, without brackets and quotes of lists. A cell
// that is missing has none.
func itemsOf(text string) (items []item) {
	text = strings.TrimSpace(text)
	if m := choices.FindStringSubmatch(text); m != nil {
		text = m[1]
	} else if n := len(text); n > 1 && slices.Contains([]string{"[]", "{}"}, text[:1]+text[n-1:]) {
		text = text[1 : n-1]
	}
	if isMissing(text) {
		return nil
	}
	var beside []item
	for _, piece := range hardBreak.Split(strings.ToLower(text), -1) {
		piece, p := strings.Trim(strings.TrimSpace(piece), `'"`), 1.0
		if found := withStrength.FindStringSubmatch(piece); found != nil {
			if second := strengthOf.FindStringSubmatch(found[2]); second != nil { // garden (rarely forest)
				piece = found[1]
				beside = append(beside, item{dataset.Name(second[2]), value(second[1])})
			} else if table.IsProbability(found[2]) {
				piece, p = found[1], value(found[2])
			}
		} else if found := strengthOf.FindStringSubmatch(piece); found != nil {
			piece, p = found[2], value(found[1])
		}
		if piece = dataset.Name(piece); !isMissing(piece) {
			items = append(items, item{piece, p})
		}
	}
	return append(items, beside...)
}

// wordKey is what spellings of a word have in common.
func wordKey(word string) string {
	if folded := foldName(word); folded != "" {
		return folded
	}
	return word
}

// splitter splits words at /, &, +, "and" and "or" where one of their parts is a word of its own elsewhere.
type splitter struct {
	known func(word string) bool
	count map[string]int // of different words by their parts
}

func newSplitter(cells [][]item, known func(word string) bool) *splitter {
	s := &splitter{known, map[string]int{}}
	seen := map[string]bool{}
	for _, items := range cells {
		for _, it := range items {
			if seen[it.word] {
				continue
			}
			seen[it.word] = true
			for _, part := range softBreak.Split(it.word, -1) {
				s.count[wordKey(part)]++
			}
		}
	}
	return s
}

// split returns the words of a cell, each once, with the strength that the cell gives it. contrary is a
// word that it gives two, or that stands beside none.
func (s *splitter) split(items []item) (words []item, contrary string) {
	var all []item
	for _, it := range items {
		parts := softBreak.Split(it.word, -1)
		apart := func(part string) bool {
			return s.known(part) || s.count[wordKey(part)] > 1 && (len(part) > 1 || len(it.word) < 6)
		}
		if len(parts) == 1 || s.known(it.word) || !slices.ContainsFunc(parts, apart) {
			parts = []string{it.word}
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, item{part, it.p})
			}
		}
	}
	at := make(map[string]int, len(all))
	for _, it := range all {
		key := wordKey(it.word)
		i, known := at[key]
		switch {
		case !known:
			at[key] = len(words)
			words = append(words, it)
		case words[i].p != it.p:
			contrary = it.word
		}
	}
	if i, none := at[noneOfGroup]; none && len(words) > 1 {
		contrary = words[i].word
	}
	return words, contrary
}

// unusable says why a column of words cannot become attributes, "" if it can: ids, names and sentences
// are different in all classes, and a word of all classes tells none apart.
func unusable(c *column, words []string, classes []map[int]bool) string {
	of, sharing := map[int]bool{}, map[int]bool{} // classes, and those with a word that others have
	alone, digits := 0, 0
	for i, word := range words {
		for z := range classes[i] {
			of[z] = true
			if len(classes[i]) > 1 {
				sharing[z] = true
			}
		}
		if len(classes[i]) == 1 {
			alone++
		}
		if strings.ContainsAny(word, "0123456789") {
			digits++
		}
	}
	texts, tokens := map[string]bool{}, 0
	for _, of := range c.cells {
		texts[of.text] = true
		tokens += len(strings.Fields(of.text))
	}
	fewest := 5
	if 2*digits > len(words) || idHeader.MatchString(c.name) {
		fewest = 3
	}
	const mostLines = 20 // with words that are all different, such as names of photographs
	switch n := len(of); {
	case n >= fewest && 4*len(sharing) < n && len(words) >= n, len(c.cells) > mostLines &&
		len(words) >= len(c.cells):
		return "left out: nearly every class has its own word, as in ids and names"
	case n > 2 && 2*alone > len(words) && tokens >= 3*len(c.cells) && 10*len(texts) >= 9*len(c.cells):
		return "left out: sentences"
	case n > 2 && len(words) == 1 && len(classes[0]) == n:
		return "left out: " + words[0] + " for all classes"
	}
	return ""
}

var idHeader = regexp.MustCompile(`(?i)^((.*[_. -])?(id|index|ref|reference|source|doi|url|citation)|.*I[dD])$`)

// alike returns pairs of words that may be two spellings of one.
func alike(words []string) (pairs []string) {
	const mostWords, mostPairs = 300, 5
	for i, word := range words[:min(len(words), mostWords)] {
		for _, near := range invalid.Nearest(word, words[i+1:min(len(words), mostWords)]) {
			if len(word) > 3 && len(pairs) < mostPairs {
				pairs = append(pairs, word+" and "+near)
			}
		}
	}
	return pairs
}
