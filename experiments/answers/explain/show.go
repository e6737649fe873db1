package explain

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/webpage"
	"github.com/lago-train/lago-train/model"
)

// What the text and the page list.
const (
	maxRows       = 6   // attributes of a group: those that describe one of the classes,
	minUsed       = 0.1 // or make up part of its score, to this degree
	minTermShare  = 0.05
	minOtherShare = 0.005 // of all other attributes together
	barLength     = 10    // of the largest contribution
)

// Format is the format in which a result is written.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
	HTML Format = "html"
)

// Write writes the result. Text and HTML give details of the top groups only. The page is one
// file that loads nothing else.
func (r *Result) Write(w io.Writer, f Format, top int) error {
	switch f {
	case JSON:
		return format.WriteJSON(w, r)
	case HTML:
		return page.Execute(w, r.sections(top, f))
	}
	return table.WriteText(w, r.tables(top)...)
}

// tables are the sections as text.
func (r *Result) tables(top int) (list []*table.Table) {
	for _, s := range r.sections(top, Text) {
		title := strings.Join(append([]string{s.Title}, s.Sentences...), "\n")
		list = append(list, table.New(strings.ReplaceAll(title, ". Log odds: ", ".\nLog odds: ")))
		list = append(list, s.Tables...)
	}
	return list
}

// section is a part of the explanation. The page has a chart in place of the text's table of groups.
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

// sections lists the prediction, its adaptation and the comparisons, with details of the top groups.
func (r *Result) sections(top int, f Format) []section {
	prediction := section{Title: r.headline(), Pictures: []picture{{r.Sample.name(), r.Sample.Picture}}, Tables: []*table.Table{r.likelyTable()}}
	list := []section{prediction}
	if r.Adapted != nil {
		list = append(list, r.Adapted.section(r.Predicted))
	}
	for _, c := range r.Comparisons {
		list[0].Sentences = append(list[0].Sentences, c.Sentence())
		list = append(list, r.compared(c, top, f))
	}
	if fit := predictor.FitSentence(r.Fit); fit != "" {
		list[0].Sentences = append(list[0].Sentences, fit)
	}
	if id := r.Sample.ID; f == HTML && (id == "" || id == r.Sample.From) { // otherwise the name comes first, as in the data
		list[0].Title = strings.ToUpper(list[0].Title[:1]) + list[0].Title[1:]
	}
	return list
}

// headline states the prediction and whether it is correct.
func (r *Result) headline() string {
	s := r.Sample.name() + " is predicted as " + className(r.Predicted)
	switch {
	case r.Sample.Label == nil:
		return s
	case r.Correct == nil:
		return s + "; its true class, " + className(*r.Sample.Label) + ", is not among the " + format.Printable(r.Candidates) + " (--candidates all includes it)"
	case *r.Correct:
		return s + ", which is correct"
	}
	return fmt.Sprintf("%s, which is wrong: the true class is %s, rank %d with p = %.3f", s, className(*r.Sample.Label), r.Label.Rank, r.Label.P)
}

// likelyTable lists the most likely classes and all others together, with the settings of the model.
func (r *Result) likelyTable() *table.Table {
	t := table.New("Most likely classes", "class", "probability").Right(2)
	rest, others := 1.0, r.Classes
	for _, p := range r.Likely {
		if p.P < 0.0005 {
			break // less likely ones follow
		}
		t.Row(className(p.Class), fmt.Sprintf("%.3f", p.P))
		rest -= p.P
		others--
	}
	if others > 0 {
		t.Row(format.Count(others, "other"), fmt.Sprintf("%.3f", max(rest, 0)))
	}
	none := map[model.Complement]string{
		model.Const: "constant none-of-group term", model.DeMorgan: "De Morgan none-of-group term", model.NoComplement: "no none-of-group term",
	}[r.Complement]
	trained := ""
	if r.Sample.Trained {
		trained = "; the model was trained on samples of the true class"
	}
	if r.Temperature != 1 {
		trained += fmt.Sprintf("; probabilities and log odds with temperature %.3g, chosen on validation classes", r.Temperature)
	}
	return t.Note("%s trained on %s (%s prior, %s), choosing from %s (%d)%s", r.Variant, r.Dataset, r.Prior, none, r.Candidates, r.Classes, trained)
}

// section says whether the batch changed the prediction of LAGO itself, and lists the samples that did.
func (a *Adapted) section(own string) section {
	s := section{Title: fmt.Sprintf("Adapted to %s together, the prediction stays (p = %.3f)", format.Count(a.Samples, "sample"), a.P)}
	if a.Declined {
		s.Title = fmt.Sprintf("Not adapted to %s: most of the candidate classes seem to be absent (--force-adapt adapts)", format.Count(a.Samples, "sample"))
	}
	if !a.Changed {
		return s
	}
	s.Title = fmt.Sprintf("Adapted to %s together, the prediction changes to %s (p = %.3f); LAGO itself prefers %s, %s",
		format.Count(a.Samples, "sample"), className(a.Predicted), a.P, className(own), odds(a.LogOdds))
	t := table.New("Samples that favour "+className(a.Predicted)+" most", "sample", "adapted prediction", "similarity (cosine)", "effect").Right(3, 4)
	for _, n := range a.Neighbours {
		name := cmp.Or(n.ID, fmt.Sprint(n.Sample))
		t.Row(name, className(n.Predicted), fixed(n.Cosine), odds(n.LogOdds))
		s.Pictures = append(s.Pictures, picture{name, n.Picture})
	}
	s.Tables = []*table.Table{t}
	return s
}

// compared shows a comparison: its groups, their attributes, and other detections.
func (r *Result) compared(c Comparison, top int, f Format) section {
	s := section{Title: className(c.Class) + " against " + c.Other()}
	for _, m := range c.Substitutions {
		s.Sentences = append(s.Sentences, fmt.Sprintf("%s is described but was not detected; %s was detected in its place (soft OR). With both, the sum %s.",
			attributeName(m.Missed), nameWithin(m.Substitute, m.Group), c.favour(c.LogOdds+m.Gain)))
	}
	shown := 1
	for shown < min(top, len(c.Groups)) && !predictor.Negligible(c.Groups[shown].Contribution) {
		shown++
	}
	terms := r.termTable(c, c.Groups[:shown])
	if s.Tables = []*table.Table{terms}; f == HTML {
		s.Chart = c.chart(shown)
	} else {
		s.Tables = []*table.Table{c.groupTable(shown), terms}
	}
	class, against := className(c.Class), className(c.Against)
	if effective := slices.DeleteFunc(slices.Clone(c.Changes), func(x Change) bool { return predictor.Negligible(x.By) }); len(effective) > 0 {
		title := fmt.Sprintf("If a single attribute were detected differently (now: %s to %s is %s)", class, against, sides(c.LogOdds))
		s.Tables = append(s.Tables, c.changeTable(title, effective))
	}
	n := len(c.Flip.Changes)
	title := fmt.Sprintf("%s becomes more likely than %s after %s", against, class, format.Count(n, "change"))
	switch {
	case !c.Flip.Found:
		title = fmt.Sprintf("A greedy search of up to %s found none that make %s more likely than %s.", format.Count(c.Flip.Limit, "change"), against, class)
		s.Tables = append(s.Tables, table.New(title))
		return s
	case n > 1:
		title += ", applied in order (greedy search; fewer may suffice)"
	}
	if last := c.Flip.Changes[n-1].Predicted; last != c.Against {
		title += ". The predicted class is then " + className(last)
	}
	s.Tables = append(s.Tables, c.changeTable(title, c.Flip.Changes))
	return s
}

func (r *Result) termTable(c Comparison, groups []predictor.Group) *table.Table {
	class, against := className(c.Class), className(c.Against)
	t := table.New("Attributes of these groups: detected in the sample, and described for each class",
		"attribute", "detected", "described for "+class, "described for "+against, "share of "+class, "share of "+against).Right(2, 3, 4, 5, 6)
	for i, g := range groups {
		if i > 0 {
			t.Line()
		}
		name := attributeName(g.Name)
		if g.Strongest != nil {
			name = "group " + g.Name
		}
		t.Row(name)
		for _, cells := range r.rows(g) {
			t.Row(cells...)
		}
	}
	if len(groups[0].Terms) > 0 && groups[0].Terms[0].Above == nil { // no model that a run stored
		return t
	}
	return t.Note("detected: high is above %.0f %% of the training samples, low is below %.0[1]f %% of them, usual is between", 100*predictor.High)
}

// rows lists the attributes that matter, those with the highest descriptions first; all others
// together; and the none-of-group term, if the model has one.
func (r *Result) rows(g predictor.Group) (list [][]any) {
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
	add := func(name, detected, class, against string, share predictor.Pair) {
		list = append(list, []any{"  " + name, detected, class, against, format.Percent(share.Class), format.Percent(share.Against)})
	}
	for _, t := range shown {
		name, detected := nameWithin(t.Attribute, g.Name), strings.TrimSpace(fixed(t.Detected)+" "+t.Certainty())
		if t.Gamma < 0.95 {
			name += fmt.Sprintf(" (%s of it)", format.Percent(t.Gamma))
		}
		if r.Prior != model.Uniform {
			detected += fmt.Sprintf(" (prior %.2f)", t.Prior)
		}
		add(name, detected, described(t.Described.Class, t.Used.Class), described(t.Described.Against, t.Used.Against), t.Share)
	}
	if others.Most() >= minOtherShare {
		add("other attributes", "", "", "", others)
	}
	detected := ""
	if r.Complement == model.DeMorgan {
		detected = fixed(g.None.Detected)
	}
	if r.Complement != model.NoComplement && g.None.Share.Most() >= minOtherShare {
		add("none of the group", detected, "", "", g.None.Share)
	}
	return list
}

// changeTable shows after each change the ratio of the two classes, and the class that is the most
// likely of all candidates, which can be a third.
func (c Comparison) changeTable(title string, changes []Change) *table.Table {
	compared := className(c.Class) + " to " + className(c.Against)
	t := table.New(title, "attribute", "detected", "changed to", compared, "predicted then").Right(2, 3, 4)
	for _, change := range changes {
		t.Row(attributeName(change.Attribute), fixed(change.From), fmt.Sprintf("%.0f", change.To), sides(change.LogOdds), className(change.Predicted))
	}
	return t
}

// favour says which class a difference of log probabilities favours: "favours wren by 0.67".
func (c Comparison) favour(v float64) string {
	if predictor.Negligible(v) {
		return "favours neither class"
	}
	class := c.Class
	if v < 0 {
		class = c.Against
	}
	return "favours " + className(class) + " by " + fixed(math.Abs(v))
}

var (
	className     = format.ClassName
	attributeName = format.AttributeName
)

// nameWithin returns the name of an attribute without that of its group.
func nameWithin(name, group string) string {
	if g, value, found := strings.Cut(name, "::"); found && g == group {
		return format.Spaced(value)
	}
	return attributeName(name)
}

func odds(logOdds float64) string { return predictor.Ratio(logOdds) + " to 1" }

// sides returns the odds with the predicted class on the left: "2.0 to 1" or "1 to 2.0".
func sides(logOdds float64) string {
	if logOdds < 0 {
		return "1 to " + predictor.Ratio(logOdds)
	}
	return odds(logOdds)
}

func fixed(v float64) string { return fmt.Sprintf("%.2f", v) }

// described is the given entry of a description, otherwise the imputed one.
func described(given *float64, used float64) string {
	if given == nil {
		return fixed(used) + " imputed"
	}
	return fixed(*given)
}

// PictureSide is the largest side in pixels that a picture on the page needs.
const PictureSide = 320

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	page = webpage.New("explain", pageHTML, styleCSS, "", template.FuncMap{"table": drawTable, "picture": webpage.Picture})
)

// Cells that the page draws: titles of groups, alone in their row, numbers from 0 to 1, and indented names.
var (
	titles  = regexp.MustCompile(`<td>(.*)</td>\n(\s*<td class="number"></td>\n){5}`)
	numbers = regexp.MustCompile(`<td class="number">(0\.\d+|1\.0+)( \w+|)</td>`)
	indents = regexp.MustCompile(`<td> +`)
)

// drawTable returns the table with its numbers drawn. Screen readers hear the numbers alone.
func drawTable(t *table.Table) template.HTML {
	s := titles.ReplaceAllString(t.HTML(), "<th colspan=\"6\">$1</th>\n")
	s = numbers.ReplaceAllString(s, `<td class="bar"><span class="track" aria-hidden="true"><span style="width: calc(100% * $1)"></span></span> $1<small>$2</small></td>`)
	return template.HTML(indents.ReplaceAllString(s, `<td class="in">`)) //nolint:gosec // the table is escaped
}

// chart draws how contributions add up to the log odds of the predicted class over another one:
// each bar begins where the one before ends. Positions are percentages of the width.
type chart struct {
	Class, Against string
	Steps          []step      // the last is the sum
	Ticks          []plot.Tick // Value is the position
	Zero           float64
}

// step is a contribution and the sum up to it.
type step struct {
	Name, Kind  string // Kind is a predictor.PartKind, or "total"
	By, Sum     float64
	Left, Width float64
}

// chart draws the first groups, the sum of all others, and the correction.
func (c Comparison) chart(shown int) *chart {
	h := &chart{Class: className(c.Class), Against: className(c.Against)}
	var sum, low, high float64
	for _, p := range c.Parts(shown) {
		sum += p.LogOdds
		low, high = min(low, sum), max(high, sum)
		h.Steps = append(h.Steps, step{Name: p.Name, Kind: string(p.Kind), By: p.LogOdds, Sum: sum})
	}
	h.Steps = append(h.Steps, step{Name: "sum", Kind: "total", By: c.LogOdds, Sum: c.LogOdds})
	low, high = min(low, c.LogOdds), max(high, c.LogOdds, low+0.5) // what is negligible is not large
	percent := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	for i, s := range h.Steps {
		left := min(s.Sum, s.Sum-s.By)
		h.Steps[i].Left, h.Steps[i].Width = percent(left), percent(max(s.Sum, s.Sum-s.By))-percent(left)
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if !t.IsMinor() {
			h.Ticks = append(h.Ticks, plot.Tick{Value: percent(t.Value), Label: t.Label})
		}
	}
	h.Zero = percent(0)
	return h
}

// groupTable shows the first groups, the sum of all others, and the correction.
func (c Comparison) groupTable(shown int) *table.Table {
	t := table.New("Groups that contribute most", "group", "effect", "◂ other  predicted ▸")
	total := "all groups"
	for _, p := range c.Parts(shown) {
		drawn := bar(p.LogOdds, max(math.Abs(c.Groups[0].Contribution), math.Abs(c.Correction)))
		switch p.Kind {
		case predictor.OfOthers:
			drawn = ""
		case predictor.OfCorrection:
			total = "all groups, corrected"
		}
		t.Row(p.Name, c.favour(p.LogOdds), drawn)
	}
	return t.Line().Row(total, c.favour(c.LogOdds), "")
}

// bar draws a contribution to the left or right of the middle.
func bar(contribution, widest float64) string {
	block := strings.Repeat("█", int(math.Round(barLength*math.Abs(contribution)/max(widest, math.SmallestNonzeroFloat64))))
	if contribution < 0 {
		return fmt.Sprintf("%*s│%*s", barLength, block, barLength, "")
	}
	return fmt.Sprintf("%*s│%-*s", barLength, "", barLength, block)
}
