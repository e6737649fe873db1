package descriptions

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Words are the words for probabilities, each a different one, from 0 to 1.
var Words = []string{"no", "rarely", "sometimes", "often", "yes"}

// probabilities of the words that people may write instead of numbers, as wantProbability lists them.
var probabilities = map[string]float64{
	"never": 0, "no": 0, "n": 0, "false": 0, "absent": 0, "rarely": 0.1, "sometimes": 0.5, "often": 0.75,
	"always": 1, "yes": 1, "y": 1, "true": 1, "present": 1, "x": 1, "✓": 1, "✔": 1,
}

const wantProbability = "a number from 0 to 1, a percentage, one of never, no, rarely, sometimes, often, " +
	"always, yes, or nothing if it is not described"

// scale is that of the numbers of one file: from 0 to 1, or percentages. The zero value is ready to use.
type scale struct {
	line               int    // of the cells that are read
	number, percentage string // the first of each with its line, "" for none; 0 is on both scales
	negative           bool   // there was a number below 0, which one refusal is enough for
}

// probability reads p(a|z): a number from 0 to 1, a percentage such as 75%, or a word in any case.
// never, no and false are 0, rarely is 0.1, sometimes 0.5, often 0.75, always, yes and true are 1. What
// is missing is NaN, not described. The numbers of a file must be on one scale: in a file of percentages,
// 1 may mean either 1 % or always. What is wrong has no place.
func (s *scale) probability(text string) (p float64, wrong *invalid.Error) {
	text = strings.TrimSpace(text)
	if table.Missing(text) {
		return math.NaN(), nil
	}
	if p, known := probabilities[strings.ToLower(text)]; known {
		return p, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	p, err := table.Number(number, 64)
	first := &s.number
	if percent {
		p, first = p/100, &s.percentage
	}
	wrong = &invalid.Error{Want: wantProbability, Got: invalid.Quote(text)}
	switch {
	case dataset.OtherDigits(text):
		wrong.Hint = "Write digits from 0 to 9."
	case err != nil:
	case s.negative && (p < 0 || p > 1):
		return 0, nil
	case p < 0:
		s.negative = true
		wrong.Hint = "Write 0 for no, and nothing for what is not known. Of vectors, such as those of a " +
			"text encoder, scale each column to 0 to 1: (x - x.min(0)) / (x.max(0) - x.min(0))."
	case p > 1:
		wrong.Hint = "Write % behind percentages, and divide values of another scale by its largest value."
		if s.number != "" { // % is refused beside it
			wrong.Got += " beside " + s.number
			wrong.Hint = "Divide percentages by 100, and values of another scale by its largest value."
		}
	case p > 0:
		if *first == "" {
			*first = fmt.Sprintf("%s on line %d", text, s.line)
		}
		if s.number == "" || s.percentage == "" {
			return p, nil
		}
		wrong.Want = "numbers from 0 to 1 or percentages, one of the two in a file (0.25 is 25%)"
		wrong.Got = s.number + " and " + s.percentage
	case p == 0: // no NaN
		return 0, nil
	}
	return 0, wrong
}

// value returns the probability that a cell means, NaN for an empty one and for none.
func value(cell string) float64 {
	p, wrong := new(scale).probability(cell)
	if wrong != nil {
		return math.NaN()
	}
	return p
}

func isProbability(cell string) bool { return !math.IsNaN(value(cell)) }

func nearestWord(p float64) string {
	return slices.MinFunc(Words, func(a, b string) int {
		return cmp.Compare(math.Abs(value(a)-p), math.Abs(value(b)-p))
	})
}

// noneOfGroup says in a cell of words that the class has none of them.
const noneOfGroup = "none"

// missingWords say in tables of traits that nothing is known, as punctuation alone does.
var missingWords = []string{
	"unknown", "unk", "unk.", "not known", "missing", "not recorded", "none recorded", "no data", "no record",
	"not available", "not reported", "not observed", "not assessed", "undetermined", "unspecified", "indet.",
	"tbd",
}

func isMissing(text string) bool {
	return table.Missing(text) || FoldName(text) == "" ||
		slices.Contains(missingWords, strings.ToLower(strings.TrimSpace(text)))
}

type item struct {
	word string
	p    float64
}

var (
	withStrength = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)
	breaks       = regexp.MustCompile(`[;,|\n；，、・؛،]`)
	// otherBreaks match what people write between words in place of semicolons, and strengths elsewhere.
	otherBreaks = regexp.MustCompile(`[/&+"\[\]{}]|(^|\W)` +
		`(and|or|rarely|sometimes|often|always|never)(\W|$)`)
)

// isWord reports whether a text can be a word of a trait: it begins with a letter, is one word, and no
// probability but for a letter.
func isWord(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) && !invalid.HasControl(text) && !otherBreaks.MatchString(text) &&
		(size == len(text) || !isProbability(text))
}

const (
	wantTrait = "words separated by semicolons, such as red; grey (often), or, in the whole column, " +
		"yes and no, numbers from 0 to 1 or percentages"
	hintTrait = "lago-train docs python has lines of Python that convert measurements and other tables."
)

// items returns the words of a cell in lower case, each once, without brackets and quotes of lists. It
// reports the first one in another form. g is nil for a new group.
func (r *traitReader) items(c *column, g *Group, entry cell) (items []item, ok bool) {
	text := entry.text
	if n := len(text); n > 1 && slices.Contains([]string{"[]", "{}"}, text[:1]+text[n-1:]) {
		text = text[1 : n-1]
	}
	seen := map[string]float64{}
	for _, piece := range breaks.Split(strings.ToLower(text), -1) {
		word, p := strings.Trim(strings.TrimSpace(piece), `'"`), 1.0
		if m := withStrength.FindStringSubmatch(word); m != nil && isProbability(m[2]) {
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
		want, got, hint := "", invalid.Quote(word), ""
		switch _, none := seen[noneOfGroup]; {
		case twice || none && len(items) > 1:
			want = "each word of a cell once, and none alone"
		case word == noneOfGroup, g != nil && r.find(*g, word) >= 0, g == nil && isWord(word):
			continue
		case g != nil:
			names := g.words(r.table.Attributes)
			want = "attributes of group " + g.column() + ", such as " +
				strings.Join(names[:min(len(names), 6)], ", ")
			hint = invalid.DidYouMean(word, names)
		default:
			_, wrong := new(scale).probability(word)
			want, hint = wantTrait, hintTrait
			if wrong == nil { // in a column with other cells
				got += " beside " + invalid.Quote(c.cells[slices.IndexFunc(c.cells, isOther)].text)
			} else if wrong.Hint != "" {
				hint = wrong.Hint
			}
		}
		if word != strings.ToLower(entry.text) {
			got += " in " + invalid.Quote(entry.text)
		}
		r.file.Report(c.name, entry.line, c.name, want, got, hint)
		return nil, false
	}
	return items, true
}

// wordKey is what spellings of a word have in common.
func wordKey(word string) string { return cmp.Or(FoldName(word), word) }

// words returns the attributes of a column of words: those of a group of the data set, or new ones.
func (r *traitReader) words(c *column, g *Group) (all []*described) {
	attributeOf := map[string]*described{} // by words
	if g != nil {
		for _, m := range g.Members {
			all = append(all, &described{r.table.Attributes[m], map[int]float64{}})
		}
	}
	var words []string
	says := map[int]bool{} // classes
	for _, entry := range c.cells {
		items, ok := r.items(c, g, entry)
		if !ok { // as further cells may be
			return nil
		}
		for _, it := range items {
			says[entry.class] = true
			key := wordKey(it.word)
			if it.word == noneOfGroup {
				continue
			}
			if attributeOf[key] == nil {
				words = append(words, it.word)
				switch {
				case g != nil:
					attributeOf[key] = all[r.find(*g, it.word)]
				case !r.fits(1):
					return nil
				default:
					a := Attribute{c.name + "::" + it.word, c.name}
					attributeOf[key] = &described{a, map[int]float64{}}
					all = append(all, attributeOf[key])
				}
			}
			attributeOf[key].p[entry.class] = it.p
		}
	}
	trait := Trait{Column: c.name, Kind: "words"}
	for _, word := range words {
		trait.Values = append(trait.Values, ValueCount{word, len(attributeOf[wordKey(word)].p)})
	}
	if g != nil {
		trait.Kind += " of group " + g.column()
	}
	r.took(trait)
	for z := range says {
		for _, d := range all {
			d.p[z] += 0 // what a cell does not list is no
		}
	}
	return all
}

func (r *traitReader) find(g Group, word string) int {
	if hits := r.known.find(g.Name + "::" + word); len(hits) == 1 {
		return slices.Index(g.Members, hits[0]) // its name may begin with that of another group
	}
	return -1
}

// FoldName removes case, spaces and punctuation from a name, to compare spellings, but not what distinguishes
// names such as 1.2, 1-2 and 12, or C- and C: what is between digits, and hyphens that do not join letters.
func FoldName(name string) string {
	var folded, between strings.Builder
	before := rune(0)
	end := func(after rune) {
		for _, r := range between.String() {
			hyphen := unicode.Is(unicode.Pd, r) && !(isLetter(before) && isLetter(after))
			if hyphen || unicode.IsDigit(before) && unicode.IsDigit(after) {
				folded.WriteRune(r)
			}
		}
		between.Reset()
		before = after
	}
	for _, r := range name {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			between.WriteRune(r)
			continue
		}
		end(r)
		folded.WriteRune(unicode.ToLower(r))
	}
	if before != 0 { // punctuation alone is no name
		end(0)
	}
	return folded.String()
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// spellings has the places of names by their spellings, in a map for each kind of spelling, the strictest
// first.
type spellings []map[string][]int

// add adds a place by spellings of each kind.
func (s *spellings) add(place int, spelled ...string) {
	for kind, spelling := range spelled {
		if kind == len(*s) {
			*s = append(*s, map[string][]int{})
		}
		if spelling != "" { // some names are punctuation alone
			(*s)[kind][spelling] = append((*s)[kind][spelling], place)
		}
	}
}

func (s spellings) find(spelled ...string) []int {
	for kind, places := range s {
		if hits := places[spelled[kind]]; len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// Index finds the class that a name means: in any case, with other spaces and punctuation, or without the
// number before one such as 016.Painted_Bunting.
type Index struct{ spellings }

// Index returns that of the classes. It does not follow later changes.
func (t *Table) Index() *Index {
	x := &Index{}
	for z, name := range t.Classes {
		x.Add(name, z)
	}
	return x
}

var numbered = regexp.MustCompile(`^\d+[^\pL\d]+(\pL.*)`)

func classSpellings(name string) []string {
	return []string{name, FoldName(name), FoldName(numbered.ReplaceAllString(name, "$1"))}
}

// Add adds the name of a class.
func (x *Index) Add(name string, z int) { x.add(z, classSpellings(name)...) }

// Find returns the class, or -1 for another name and for one that may mean several.
func (x *Index) Find(name string) int {
	if hits := x.find(classSpellings(name)...); len(hits) == 1 {
		return hits[0]
	}
	return -1
}

// vocabulary finds attributes by names as people spell them: as they are, or, without case, spaces and
// punctuation, with the group, without its "has", and without the group.
type vocabulary struct {
	spellings
	names []string // without and with their groups
}

// newVocabulary takes the groups of attributes from names such as "has_wing_color::olive", or
// from their groups.
func newVocabulary(attributes []Attribute) *vocabulary {
	v := &vocabulary{}
	for m, a := range attributes {
		group, name, found := strings.Cut(a.Name, "::")
		if !found {
			group, name = a.Group, a.Name
			if group == name {
				group = ""
			}
		}
		full := name
		if group != "" {
			full = group + "::" + name
		}
		v.names = append(v.names, name, full)
		group, name = FoldName(group), FoldName(name)
		v.add(m, full, group+name, strings.TrimPrefix(group, "has")+name, name)
	}
	return v
}

// find returns the attributes that a name may mean. A looser spelling counts only where no
// stricter one is known.
func (v *vocabulary) find(name string) []int {
	folded := FoldName(name)
	return v.spellings.find(name, folded, folded, folded)
}
