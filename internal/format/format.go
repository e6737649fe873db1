// Package format writes names, numbers and counts for people, in one style for every command, and
// has the layout of HTML pages.
package format

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // of the layout and style of pages
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Missing is printed for a number that does not exist.
const Missing = "-"

// Known returns a number as JSON has it: nil for NaN.
func Known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// Value returns a number that Known made: NaN for nil.
func Value(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// Percent returns a fraction with one decimal, "62.5 %", or "-" for NaN.
func Percent(fraction float64) string {
	if math.IsNaN(fraction) {
		return Missing
	}
	return Tenths(fraction) + " %"
}

// Tenths returns a fraction in percent without the sign, "62.5". All percentages are rounded here: halves
// away from 0, also those that a sum left a little below, so that 15 of 16 is always 93.8.
func Tenths(fraction float64) string {
	const slack = 1e-6
	return fmt.Sprintf("%.1f", math.Round(1000*fraction+math.Copysign(slack, fraction))/10+0)
}

// Setting returns the value of a setting for people: of a long number, such as a search makes, three digits.
func Setting(v any) string {
	if f, ok := v.(float64); ok && len(fmt.Sprint(f)) > 6 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 3, 64), 64) // of its own text
	}
	return fmt.Sprint(v)
}

// Points writes a difference of fractions in percentage points, without a unit: "+1.5".
func Points(difference float64) string {
	text := Tenths(difference)
	if text[0] == '-' {
		return text
	}
	return "+" + text
}

// Count returns a number and the regular noun it counts: "1 class", "3 classes".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes returns n bytes in a decimal unit: "999 B", "1.2 MB".
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	const units = "kMGTPE"
	value, unit := float64(n)/1000, 0
	// 999.95 would be printed as 1000.0.
	for value >= 999.95 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %cB", value, units[unit])
}

// Printable returns a name from a file as it may be printed or drawn: control
// characters, which could move the cursor of a terminal, and other characters that
// cannot be printed are replaced. Line breaks and tabs are too. Marks that join letters or keep them apart,
// of Persian and of scripts of India, stay.
func Printable(name string) string {
	const apart, joined = '\u200c', '\u200d'
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != apart && r != joined {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

// Isolate puts a text that has letters from right to left, but for spaces around it, between marks that keep
// it from turning round what is beside it, such as other columns. Marked text stays as it is.
func Isolate(text string) string {
	const begin, end = "\u2068", "\u2069"
	fromRight := func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL
	}
	name := strings.TrimSpace(text)
	if !strings.ContainsFunc(name, fromRight) || strings.Contains(name, begin) {
		return text
	}
	return strings.Replace(text, name, begin+name+end, 1)
}

// PrintableLines is Printable for each line.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	return strings.Join(lines, "\n")
}

var numbered = regexp.MustCompile(`^\d+\.(.+)$`) // a class of CUB, "002.Laysan_Albatross"

// ClassName returns the name of a class for people: "Laysan Albatross" for "002.Laysan_Albatross".
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

// Join returns numbers, separated by commas.
func Join[T any](numbers []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
}

// List joins words with a conjunction before the last, as in "a, b and c".
func List(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Wrap breaks text into lines of at most width characters, the later ones after an indentation.
func Wrap(text string, width, indent int) string {
	var lines []string
	column := width
	for word := range strings.FieldsSeq(text) {
		n := 1 + utf8.RuneCountInString(word)
		if indent+column+n > width {
			lines, column = append(lines, word), n-1
			continue
		}
		lines[len(lines)-1] += " " + word
		column += n
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// WrapLines is PrintableLines, with lines of more than width characters wrapped unless width is 0.
// Commands, which may be copied, and lines that end with one stay whole.
func WrapLines(text string, width, indent int) string {
	lines := strings.Split(PrintableLines(text), "\n")
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if width > 0 && utf8.RuneCountInString(line) > width && !strings.HasPrefix(text, "lago-train ") &&
			!strings.Contains(line, ": lago-train ") {
			before := line[:len(line)-len(text)]
			lines[i] = before + Wrap(text, width, len(before)+indent)
		}
	}
	return strings.Join(lines, "\n")
}

// Spaced returns a printable name with spaces in place of _ and +.
func Spaced(name string) string {
	return Printable(strings.NewReplacer("_", " ", "+", " ").Replace(name))
}

// Progress is how far a piece of work is.
type Progress struct {
	What        string // such as "downloading features"
	Unit        string // of Done and Total, such as "images"; "" is bytes
	Done, Total int64  // Total is -1 if it is not known
	Later       int64  // of what follows this piece, and is part of the time that is left
	AtMost      bool   // the work may end before Total
	More        string // what else the line says

	before int64 // what was done at the start
	start  time.Time
}

// NewProgress returns the progress of work that starts at this time, and of which a part is done.
func NewProgress(what, unit string, done, total int64) Progress {
	return Progress{What: what, Unit: unit, Done: done, Total: total, before: done, start: time.Now()}
}

// Ended reports whether all is done.
func (p Progress) Ended() bool { return p.Done == p.Total }

// String is the progress line, as in "extracting: 8 of 40 images, 2.5 images/s, about 13s left".
func (p Progress) String() string { return p.after(time.Since(p.start)) }

func (p Progress) after(elapsed time.Duration) string {
	amount := func(n int64) string { return fmt.Sprintf("%d %s", n, p.Unit) }
	if p.Unit == "" {
		amount = Bytes
	}
	s := amount(p.Total)
	switch {
	case p.Total < 0:
		s = amount(p.Done)
	case p.Unit == "":
		s = amount(p.Done) + " of " + s
	default:
		s = fmt.Sprintf("%d of %s", p.Done, s)
	}
	if p.More != "" {
		s += ", " + p.More
	}
	rate := float64(p.Done-p.before) / elapsed.Seconds()
	switch {
	case !(rate > 0) || elapsed <= 0:
		return p.What + ": " + s
	case p.Unit == "":
		s += ", " + Bytes(int64(rate)) + "/s"
	case rate >= 0.1:
		s += fmt.Sprintf(", %.3g %s/s", rate, p.Unit)
	}
	left := time.Duration(float64(p.Total-p.Done+p.Later) / rate * float64(time.Second)).Round(time.Second)
	if about := "about"; left > 0 {
		if p.AtMost {
			about = "up to"
		}
		s += fmt.Sprintf(", %s %s left", about, left)
	}
	return p.What + ": " + s
}

// ShellLine is words as they are typed: those with other characters are quoted.
func ShellLine(words ...string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; word == "" || strings.Trim(word, plain) != "" {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

var (
	//go:embed layout.html
	pageLayout string
	//go:embed style.css
	pageStyle string
)

// NewPage returns the template of an HTML page: one file that opens anywhere without a network, in light and
// dark mode, on screens and on paper. text defines the templates "title" and "body";
// css is appended to the common style. The page runs js and no other script, "" for none. Data
// are escaped as package html/template does. NewPage panics if the template cannot be parsed.
func NewPage(name, text, css, js string, funcs template.FuncMap) *template.Template {
	digest := sha256.Sum256([]byte(js))
	t := template.New(name).Funcs(funcs).Funcs(template.FuncMap{
		//nolint:gosec // of files of this program
		"style": func() template.CSS { return template.CSS(pageStyle + css) },
		//nolint:gosec // of files of this program
		"script": func() template.JS { return template.JS(js) },
		"kind":   func() string { return name },
		"digest": func() string { return base64.StdEncoding.EncodeToString(digest[:]) },
	})
	return template.Must(template.Must(t.Parse(pageLayout)).Parse(text))
}

// Picture returns the address of a picture that is part of the page.
func Picture(m image.Image) (template.URL, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 80})
	//nolint:gosec // encoded above
	return template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}
