package explain

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"math"

	"github.com/lago-train/lago-train/experiments/webpage"
	"github.com/lago-train/lago-train/model"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	page = webpage.New("explain", pageHTML, styleCSS, template.FuncMap{
		"attribute": proseAttribute,
		"class":     proseClass,
		"fixed":     func(v float64) string { return fmt.Sprintf("%.2f", v) },
		"signed":    func(v float64) string { return fmt.Sprintf("%+.2f", v) },
	})
)

// WriteHTML writes the explanation as one page that needs nothing beside it; of each
// comparison, the top groups with what carried them.
func (x *Explanation) WriteHTML(w io.Writer, top int) error {
	v := pageView{Headline: x.headline(), Settings: x.settings(), Named: x.Sample.name()}
	var err error
	if v.Picture, err = dataURI(x.Sample.Picture); err != nil {
		return err
	}
	for _, l := range x.Likely {
		v.Likely = append(v.Likely, likelyView{proseClass(l.Class), newBar("for", l.P, probability(l.P))})
	}
	for _, c := range x.Comparisons {
		v.Comparisons = append(v.Comparisons, x.view(c, top))
	}
	return page.Execute(w, v)
}

// dataURI is a picture as part of the page, empty for none.
func dataURI(m image.Image) (template.URL, error) {
	if m == nil {
		return "", nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil //nolint:gosec // of bytes that were just made
}

// pageView is what the page shows, in words.
type pageView struct {
	Headline, Settings, Named string
	Picture                   template.URL
	Likely                    []likelyView
	Comparisons               []comparisonView
}

type likelyView struct {
	Class string
	Bar   barView
}

// barView is a bar from 0 to 1; Width is in percent.
type barView struct {
	Kind  string // as the style has it: for, against or seen
	Width float64
	Text  string
}

// newBar draws a number between 0 and 1.
func newBar(kind string, part float64, text string) barView {
	return barView{Kind: kind, Width: hundredths(part), Text: text}
}

// hundredths is a part of a width in percent.
func hundredths(part float64) float64 { return math.Round(1000*min(max(part, 0), 1)) / 10 }

// comparisonView is a comparison; For and Other are the names of the two classes.
type comparisonView struct {
	For, Other, Summary string
	Readings            []string
	LogOdds             float64
	Order, Carried      string
	Groups              []groupView
	Rest                *groupView // of the groups that are not drawn; nil where all are
	Detail              []detailView
	PriorTold           bool
	Single, Flip        *changesView
	NoFlip              string
}

// groupView is a bar to the left or to the right, in percent of the widest.
type groupView struct {
	Name         string
	Contribution float64
	Left, Right  float64
}

// detailView is what carried a group.
type detailView struct {
	Name         string
	Contribution float64
	Scores       string
	Terms        []termView
}

type termView struct {
	Name              string
	Seen, For, Other  barView
	Prior             string
	Share, OtherShare string
}

type changesView struct {
	Caption string
	Changes []Change
}

// mostDrawn is how many groups get a bar.
const mostDrawn = 40

func (x *Explanation) view(c Comparison, top int) comparisonView {
	v := comparisonView{
		For: proseClass(c.Class), Other: proseClass(c.Against), Summary: c.headline(), Readings: c.readings(), LogOdds: c.LogOdds,
		PriorTold: x.Prior != model.Uniform,
	}
	drawn := min(mostDrawn, len(c.Groups))
	widest := math.Abs(c.Groups[0].Contribution)
	for _, g := range c.Groups[:drawn] {
		v.Groups = append(v.Groups, g.view(widest))
	}
	v.Order = "those that contribute most first"
	if more := len(c.Groups) - drawn; more > 0 {
		v.Rest = &groupView{Name: plural(more, "other"), Contribution: sumOf(c.Groups[drawn:])}
	}
	shown := min(top, len(c.Groups))
	v.Carried = "them"
	if shown < len(c.Groups) {
		v.Carried = fmt.Sprintf("the first %d", shown)
	}
	for _, g := range c.Groups[:shown] {
		v.Detail = append(v.Detail, x.detail(g))
	}
	if len(c.Changes) > 0 {
		v.Single = &changesView{c.changesHeadline(), c.Changes}
	}
	if c.Flip.Found {
		v.Flip = &changesView{c.flipHeadline(), c.Flip.Changes}
	} else {
		v.NoFlip = c.flipHeadline()
	}
	return v
}

func (g Group) view(widest float64) groupView {
	v := groupView{Name: g.title(), Contribution: g.Contribution}
	if widest > 0 {
		v.Left, v.Right = hundredths(-g.Contribution/widest), hundredths(g.Contribution/widest)
	}
	return v
}

func (x *Explanation) detail(g Group) detailView {
	d := detailView{Name: g.title(), Contribution: g.Contribution, Scores: g.scores()}
	for _, r := range x.rows(g) {
		t := termView{Name: r.Name, Prior: fixed(r.Prior, ""), Share: percent(r.Share.Class), OtherShare: percent(r.Share.Against)}
		if r.Seen != nil {
			t.Seen = newBar("seen", *r.Seen, fixed(r.Seen, ""))
		}
		if r.Prior != nil { // of one attribute
			t.For, t.Other = describedBar("for", r.Class), describedBar("against", r.Against)
		}
		d.Terms = append(d.Terms, t)
	}
	return d
}

// describedBar is empty for what is not described.
func describedBar(kind string, p *float64) barView {
	if p == nil {
		return newBar(kind, 0, "-")
	}
	return newBar(kind, *p, fixed(p, ""))
}
