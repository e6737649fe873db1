package descriptions

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	"tbd",
}

func isMissing(text string) bool {
	return table.Missing(text) || slices.Contains(missingWords, strings.ToLower(strings.TrimSpace(text)))
}

// marks are what people write for yes, where a column has nothing else.
var marks = []string{"x", "✓", "✔"}

func isOther(of cell) bool { return !table.IsProbability(of.text) }

// readMarks replaces a column of marks by yes.
func (c *column) readMarks() {
	isMark := func(of cell) bool { return slices.Contains(marks, strings.ToLower(of.text)) }
	for _, of := range c.cells {
		if !isMark(of) && !table.IsProbability(of.text) {
			return
		}
	}
	for i, of := range c.cells {
		if isMark(of) {
			c.cells[i].text = "yes"
		}
	}
}

// item is a word of a cell with its probability.
type item struct {
	word string
	p    float64
}

const otherMarks = "/&+；、，،؛・"

var (
	withStrength = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)
	breaks       = regexp.MustCompile(`[;,|\n]`)
	// otherBreaks match what people write between words in place of semicolons, and strengths elsewhere.
	otherBreaks = regexp.MustCompile(`[` + otherMarks + `"\[\]{}]|(^|\W)` +
		`(and|or|rarely|sometimes|often|always|never)(\W|$)`)
)

// items returns the words of a cell in lower case, each once, without brackets and quotes of lists. It
// reports the first one in another form.
func (r *traitReader) items(c *column, g *Group, of cell) (items []item, ok bool) {
	text := of.text
	if n := len(text); n > 1 && slices.Contains([]string{"[]", "{}"}, text[:1]+text[n-1:]) {
		text = text[1 : n-1]
	}
	seen := map[string]float64{}
	for _, piece := range breaks.Split(strings.ToLower(text), -1) {
		word, p := strings.Trim(strings.TrimSpace(piece), `'"`), 1.0
		if m := withStrength.FindStringSubmatch(word); m != nil && table.IsProbability(m[2]) {
			word, p = m[1], value(m[2])
		}
		if word = dataset.Name(word); isMissing(word) {
			continue
		}
		before, twice := seen[wordKey(word)]
		if twice && before == p {
			continue
		}
		seen[wordKey(word)], items = p, append(items, item{word, p})
		want, got, hint := r.wrong(c, g, word)
		if _, none := seen[noneOfGroup]; twice || none && len(items) > 1 {
			want, got, hint = "each word of a cell once, and none alone", invalid.Quote(word), ""
		}
		if want != "" {
			if word != strings.ToLower(of.text) {
				got += " in " + invalid.Quote(of.text)
			}
			r.report(c.name, of.line, c.name, want, got, hint)
			return nil, false
		}
	}
	return items, true
}

// wrong says what is wrong with a word of a column, whose group is nil if it is new. For a right one want is
// empty.
func (r *traitReader) wrong(c *column, g *Group, word string) (want, got, hint string) {
	first, _ := utf8.DecodeRuneInString(word)
	got = invalid.Quote(word)
	switch {
	case word == noneOfGroup, g != nil && r.find(*g, word) >= 0:
		return "", "", ""
	case g != nil:
		want = "attributes of group " + g.column()
		if !r.problems.Full(c.name, r.path) {
			hint = g.hint(word, r.table.Attributes)
		}
	case unicode.IsDigit(first) || strings.ContainsRune("<>≈~±+-−", first):
		e := (*invalid.Error)(nil)
		if _, err := table.Probability(word); errors.As(err, &e) {
			got = e.Got
		} else { // of a column whose other cells are no probabilities
			got += " beside " + invalid.Quote(c.cells[slices.IndexFunc(c.cells, isOther)].text)
		}
		want = wantTrait
		hint = fmt.Sprintf("Of a measurement, write what can be seen, such as small, medium and large, in "+
			`pandas: df[%[1]q] = pandas.qcut(df[%[1]q].astype(str).str.extract(r"([\d.]+)")[0]`+
			`.astype(float), 3, labels=["small", "medium", "large"]).`, c.name)
	case !unicode.IsLetter(first):
		want, hint = wantTrait, "Write yes and no; a word begins with a letter."
	case invalid.HasControl(word):
		want = "words without control characters"
	case otherBreaks.MatchString(word):
		want = "words separated by semicolons, such as red; grey (often)"
		hint = fmt.Sprintf(`In pandas: df[%[1]q] = df[%[1]q].str.replace(r"\s*(?:[%s]|\band\b|\bor\b)\s*", `+
			`"; ", regex=True). Leave sentences out.`, c.name, otherMarks)
	case len(word) > 1 && table.IsProbability(word):
		want, hint = "words in the whole column", "Write words, or yes and no, or numbers."
	}
	return want, got, hint
}

const wantTrait = "words, yes and no, numbers from 0 to 1 or percentages"

// hint suggests an attribute of the group for a word.
func (g Group) hint(word string, attributes []Attribute) string {
	var names []string
	for _, m := range g.Members {
		names = append(names, g.within(attributes[m].Name))
	}
	if near := invalid.DidYouMean(word, names); near != "" {
		return near
	}
	return "Its attributes are " + strings.Join(names[:min(len(names), 6)], ", ") + "."
}

// wordKey is what spellings of a word have in common.
func wordKey(word string) string {
	if folded := foldName(word); folded != "" {
		return folded
	}
	return word
}

// ownWords reports whether nearly every class has words of its own, as in ids, names and sentences.
func ownWords(c *column, all []*described) bool {
	classes, sharing := map[int]bool{}, map[int]bool{}
	alone, tokens := 0, 0
	for _, d := range all {
		for z := range d.p {
			classes[z] = true
			if len(d.p) > 1 {
				sharing[z] = true
			}
		}
		if len(d.p) == 1 {
			alone++
		}
		tokens += len(strings.Fields(strings.TrimPrefix(d.Name, c.name+"::")))
	}
	return len(classes) >= 5 && 4*len(sharing) < len(classes) ||
		len(classes) > 2 && 2*alone > len(all) && tokens >= 3*len(all)
}

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

// words returns the attributes of a column of words: those of a group of the data set, or new ones.
func (r *traitReader) words(c *column, g *Group) (all []*described) {
	at := map[string]*described{} // by words
	if g != nil {
		for _, m := range g.Members {
			all = append(all, &described{r.table.Attributes[m], map[int]float64{}})
		}
	}
	var words []string
	says := map[int]bool{} // classes
	for _, of := range c.cells {
		items, ok := r.items(c, g, of)
		if !ok { // as further cells may be
			return nil
		}
		for _, it := range items {
			says[of.class] = true
			key := wordKey(it.word)
			if it.word == noneOfGroup {
				continue
			}
			if at[key] == nil {
				if g != nil {
					at[key] = all[slices.Index(g.Members, r.find(*g, it.word))]
				} else {
					at[key] = &described{Attribute{c.name + "::" + it.word, c.name}, map[int]float64{}}
					all = append(all, at[key])
				}
				words = append(words, it.word)
			}
			at[key].p[of.class] = it.p
		}
	}
	trait := Trait{Column: c.name, Kind: "words"}
	for _, word := range words {
		trait.Values = append(trait.Values, ValueCount{word, len(at[wordKey(word)].p)})
	}
	if g != nil {
		trait.Kind += " of group " + g.column()
	} else {
		trait.Alike = alike(words)
		if ownWords(c, all) {
			r.report(c.name, c.line, c.name, "words that classes share",
				"words of one class each, as in ids, names and sentences", "Leave the column out.")
		}
	}
	r.took(trait)
	for z := range says {
		for _, d := range all {
			d.p[z] += 0 // what a cell does not list is no
		}
	}
	return all
}

// find returns the attribute of a group that a word means, or -1.
func (r *traitReader) find(g Group, word string) int {
	if hits := r.known.find(g.Name + "::" + word); len(hits) == 1 {
		return hits[0]
	}
	return -1
}
