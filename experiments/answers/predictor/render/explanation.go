package render

import (
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"gonum.org/v1/plot"
)

// What the text and the page list.
const (
	maxRows       = 6   // attributes of a group: those that describe one of the classes,
	minUsed       = 0.1 // or make up part of its score, to this degree
	minTermShare  = 0.05
	minOtherShare = 0.005 // of all other attributes together
	barLength     = 10    // of the largest contribution
)

// Explanation writes one. Text and HTML give details of the top groups only. The page is one file that loads
// nothing else.
func Explanation(w io.Writer, f Format, e *predictor.Explanation, top int) error {
	r := explanation{e}
	switch f {
	case JSON:
		return format.WriteJSON(w, e)
	case HTML:
		return explanationPage.Execute(w, r.sections(top, f))
	}
	return table.WriteText(w, r.tables(top)...)
}

func (r explanation) tables(top int) (list []*table.Table) {
	for _, s := range r.sections(top, Text) {
		title := strings.Join(append([]string{s.Title}, s.Sentences...), "\n")
		list = append(list, table.New(title))
		list = append(list, s.Tables...)
	}
	return list
}

type explanation struct{ *predictor.Explanation }

type section struct {
	Title     string
	Sentences []string
	Pictures  []picture
	Chart     *chart
	Tables    []*table.Table
}

type picture struct {
	Name  string
	Image image.Image // nil if there is none
}

func (r explanation) sections(top int, f Format) []section {
	prediction := section{Title: r.headline(), Pictures: []picture{
		{sampleName(r.Sample), r.Sample.Picture},
	}, Tables: []*table.Table{r.likelyTable()}}
	list := []section{prediction}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		list[0].Sentences = append(list[0].Sentences, Sentence(c, top))
		if given := GivenSentence(c); given != "" {
			list[0].Sentences = append(list[0].Sentences, given)
		}
		list = append(list, r.compared(c, top, f))
	}
	if fit := FitSentence(r.Fit); fit != "" {
		list[0].Sentences = append(list[0].Sentences, fit)
	}
	// otherwise the name comes first, as in the data
	if id := r.Sample.ID; f == HTML && (id == "" || id == r.Sample.From) {
		list[0].Title = strings.ToUpper(list[0].Title[:1]) + list[0].Title[1:]
	}
	return list
}

func (r explanation) headline() string {
	s := sampleName(r.Sample) + " is predicted as " + share(r.Likely[0])
	known := r.Sample.Label != nil
	switch {
	case known && r.Correct == nil:
		s += "; its true class, " + className(*r.Sample.Label) + ", is not among the " +
			format.Printable(r.Candidates) + " (--candidates all includes it)"
	case known && *r.Correct:
		s += ", which is correct"
	case known:
		s += ", which is wrong"
	}
	if known && r.Label != nil && r.Label.Rank == 2 {
		return s + ". Runner-up and true class: " + share(*r.Label) + "."
	}
	s += ". Runner-up: " + share(r.Likely[1]) + "."
	if known && r.Label != nil && r.Label.Rank > 2 {
		s += fmt.Sprintf(" True class: %s, rank %d.", share(*r.Label), r.Label.Rank)
	}
	return s
}

func share(p predictor.Probability) string { return className(p.Class) + ", " + format.Percent(p.P) }

func (r explanation) likelyTable() *table.Table {
	t := table.New("Most likely classes", "class", "probability").Right(2)
	rest, others := 1.0, r.Classes
	for _, p := range r.Likely {
		if p.P < 0.0005 {
			break // less likely ones follow
		}
		t.Row(className(p.Class), format.Percent(p.P))
		rest -= p.P
		others--
	}
	if others > 0 {
		t.Row(format.Count(others, "other"), format.Percent(max(rest, 0)))
	}
	more := ""
	if r.Sample.Trained {
		more = "; the model was trained on samples of the true class"
	}
	if r.Temperature != 1 {
		more += fmt.Sprintf("; temperature %.3g, chosen on validation classes", r.Temperature)
	}
	return t.Note("%s trained on %s; candidates: %s (%d)%s", r.Method, r.Dataset, r.Candidates, r.Classes,
		more)
}

func (r explanation) compared(c *predictor.Comparison, top int, f Format) section {
	h := newChart(c, top)
	shown := 0
	for shown < len(h.Steps) && h.Steps[shown].Kind == OfGroup {
		shown++
	}
	s := section{Title: className(c.Class) + " against " + other(c), Chart: h}
	if f != HTML {
		s.Chart, s.Tables = nil, []*table.Table{h.table(c)}
	}
	s.Tables = append(s.Tables, r.termTable(c, c.Groups[:shown], f))
	return s
}

func (r explanation) termTable(c *predictor.Comparison, groups []predictor.Group, f Format) *table.Table {
	class, against := className(c.Class), className(c.Against)
	title := "Attributes of these groups: detected in the sample, and described for each class"
	names := []string{
		"described for " + class, "described for " + against, "share of " + class, "share of " + against,
	}
	if f == Text {
		title = fmt.Sprintf("Attributes of these groups, described for %s (▸) and %s (◂)", class, against)
		names = []string{"described ▸", "described ◂", "share ▸", "share ◂"}
	}
	t := table.New(title, append([]string{"attribute", "in the group", "detected"}, names...)...).
		Right(2, 3, 4, 5, 6, 7)
	for i, g := range groups {
		if i > 0 {
			t.Line()
		}
		name := attributeName(g.Name)
		if g.Strongest != nil {
			name = "group " + g.Name
		}
		t.Row(name)
		t.Rows = append(t.Rows, r.rows(g)...)
	}
	t.Note("share: of the score of a class for the group, the part that the attribute adds")
	if slices.ContainsFunc(t.Rows, func(cells []any) bool { return len(cells) > 1 && cells[1] != "" }) {
		t.Note("in the group: the part of the attribute that belongs to it")
	}
	if len(groups[0].Terms) > 0 && groups[0].Terms[0].Above == nil { // no model that a run stored
		return t
	}
	return t.Note("high: above %.0f %% of the training samples; low: below %.0[1]f %% of them", 100*high)
}

// rows lists the attributes that matter, those with the highest descriptions first; all others
// together; and the none-of-group term, if the model has one.
func (r explanation) rows(g predictor.Group) (list [][]any) {
	var shown []predictor.Term
	others := g.Others.Share
	for _, t := range g.Terms {
		if len(shown) < maxRows && (t.Gamma*t.Used.Most() >= minUsed || t.Share.Most() >= minTermShare) {
			shown = append(shown, t)
		} else {
			others.Add(t.Share)
		}
	}
	predictor.SortBy(shown, func(t predictor.Term) float64 { return t.Used.Most() })
	add := func(name, part, detected, class, against string, share predictor.Pair) {
		list = append(list, []any{
			"  " + name, part, detected, class, against, format.Percent(share.Class),
			format.Percent(share.Against),
		})
	}
	for _, t := range shown {
		part, detected := "", strings.TrimSpace(fixed(t.Detected)+" "+certainty(t))
		if g.Strongest != nil || t.Gamma < 0.95 {
			part = format.Percent(t.Gamma)
		}
		if r.Prior != model.Uniform {
			detected += fmt.Sprintf(" (prior %.2f)", t.Prior)
		}
		add(nameWithin(t.Attribute, g.Name), part, detected, described(t.Described.Class, t.Used.Class),
			described(t.Described.Against, t.Used.Against), t.Share)
	}
	if others.Most() >= minOtherShare {
		add("other attributes", "", "", "", "", others)
	}
	detected := ""
	if r.Complement == model.DeMorgan {
		detected = fixed(g.None.Detected)
	}
	if r.Complement != model.NoComplement && g.None.Share.Most() >= minOtherShare {
		add("none of the group", "", detected, "", "", g.None.Share)
	}
	return list
}

var (
	className     = format.ClassName
	attributeName = format.AttributeName
)

func nameWithin(name, group string) string {
	if g, value, found := strings.Cut(name, "::"); found && g == group {
		return format.Spaced(value)
	}
	return attributeName(name)
}

func fixed(v float64) string { return fmt.Sprintf("%.2f", v) }

// described is the given entry of a description, otherwise the imputed one.
func described(given *float64, used float64) string {
	if given == nil {
		return fixed(used) + " imputed"
	}
	return fixed(*given)
}

var (
	//go:embed explanation.html
	explanationHTML string
	//go:embed explanation.css
	explanationCSS string

	explanationPage = format.NewPage("explain", explanationHTML, explanationCSS, "", template.FuncMap{
		"table": drawTable, "picture": format.Picture, "signed": signed,
	})
)

// Cells that the page draws: titles of groups, alone in their row, numbers from 0 to 1, and indented names.
var (
	titles  = regexp.MustCompile(`<td>(.*)</td>\n(\s*<td class="number"></td>\n)+(\s*</tr>)`)
	numbers = regexp.MustCompile(`<td class="number">(0\.\d+|1\.0+)( \w+|)</td>`)
	indents = regexp.MustCompile(`<td> +`)

	percentages = regexp.MustCompile(`<td class="number">([0-9.]+) %</td>`)
)

func drawTable(t *table.Table) template.HTML {
	s := titles.ReplaceAllStringFunc(t.HTML(), func(row string) string {
		title := fmt.Sprintf(`<th colspan="%d">$1</th>`+"\n$3", strings.Count(row, "<td"))
		return titles.ReplaceAllString(row, title)
	})
	const bar = `<td class="bar"><span class="track" aria-hidden="true">` +
		`<span style="width: calc(%s * $1)"></span></span> $1<small>$2</small></td>`
	if s = numbers.ReplaceAllString(s, fmt.Sprintf(bar, "100%")); strings.Contains(s, ">probability</th>") {
		percentage := strings.Replace(bar, "<small>$2</small>", " %%", 1)
		s = percentages.ReplaceAllString(s, fmt.Sprintf(percentage, "1%"))
	}
	//nolint:gosec // the table is escaped
	return template.HTML(indents.ReplaceAllString(s, `<td class="in">`))
}

func sampleName(s predictor.Sample) string {
	from := format.Printable(s.From)
	switch s.ID {
	case "":
		return fmt.Sprintf("sample %d of %s", s.Index, from)
	case s.From:
		return "photograph " + filepath.Base(from)
	}
	return fmt.Sprintf("%s (sample %d of %s)", format.Printable(s.ID), s.Index, from)
}

const total PartKind = "total"

// chart draws how contributions add up to the log odds of the predicted class over another one:
// each bar begins where the one before ends. Positions are percentages of the width.
type chart struct {
	Class, Against string
	Steps          []step      // the last is the sum
	Ticks          []plot.Tick // Value is the position
	Zero           float64
}

type step struct {
	Part        // of the last the sum
	Sum         float64
	Left, Width float64
}

// leastSide is the room on the shorter side of zero, as a part of the other: for the name of its class.
const leastSide = 0.4

func newChart(c *predictor.Comparison, most int) *chart {
	h := &chart{Class: className(c.Class), Against: className(c.Against)}
	var sum, low, high float64
	for _, p := range Parts(c, most) {
		sum += p.LogOdds
		low, high = min(low, sum), max(high, sum)
		h.Steps = append(h.Steps, step{Part: p, Sum: sum})
	}
	h.Steps = append(h.Steps, step{Part: Part{Kind: total, Name: "sum", LogOdds: c.LogOdds}, Sum: c.LogOdds})
	low, high = min(low, c.LogOdds), max(high, c.LogOdds, low+0.5) // what is negligible is not large
	low, high = min(low, -leastSide*high), max(high, -leastSide*low)
	percent := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	for i, s := range h.Steps {
		left := min(s.Sum, s.Sum-s.LogOdds)
		h.Steps[i].Left, h.Steps[i].Width = percent(left), percent(max(s.Sum, s.Sum-s.LogOdds))-percent(left)
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if !t.IsMinor() {
			h.Ticks = append(h.Ticks, plot.Tick{Value: percent(t.Value), Label: t.Label})
		}
	}
	h.Zero = percent(0)
	return h
}

func (h *chart) table(c *predictor.Comparison) *table.Table {
	t := table.New(
		fmt.Sprintf("How the groups add up to the log odds of %s (▸) over %s (◂)", h.Class, h.Against),
		"group", "log odds", "sum so far", "◂         ▸").Right(2, 3, 4) // bars are not wrapped
	widest := math.Abs(c.Correction)
	for _, g := range c.Groups[:1] {
		widest = max(widest, math.Abs(g.Contribution))
	}
	for _, s := range h.Steps {
		switch s.Kind {
		case total:
			t.Line().Row(s.Name, signed(s.LogOdds), "", "")
		case OfOthers:
			t.Row(s.Name, signed(s.LogOdds), signed(s.Sum), "")
		default:
			t.Row(s.Name, signed(s.LogOdds), signed(s.Sum), bar(s.LogOdds, widest))
		}
	}
	for _, note := range h.Notes() {
		t.Note("%s", note)
	}
	return t
}

// Notes explain the numbers.
func (h *chart) Notes() []string {
	notes := []string{fmt.Sprintf("log odds: each +0.69 doubles the odds of %s over %s, each -0.69 halves "+
		"them", h.Class, h.Against)}
	if h.Steps[len(h.Steps)-2].Kind == OfCorrection {
		notes = append(notes, correctionName+": takes from each class what it gets from samples of seen "+
			"classes")
	}
	return notes
}

func bar(contribution, widest float64) string {
	block := strings.Repeat("█",
		int(math.Round(barLength*math.Abs(contribution)/max(widest, math.SmallestNonzeroFloat64))))
	if contribution < 0 {
		return fmt.Sprintf("%*s│%*s", barLength, block, barLength, "")
	}
	return fmt.Sprintf("%*s│%-*s", barLength, "", barLength, block)
}
