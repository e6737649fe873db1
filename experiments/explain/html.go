package explain

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"html/template"
	"image"
	"image/png"
	"io"
	"math"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/webpage"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS string

	page = webpage.New("explain", pageHTML, styleCSS, template.FuncMap{
		"attribute": attributeName, "class": className, "fixed": fixed, "percent": format.Percent, "count": format.Count,
		"probability": probability, "optional": optional, "width": width, "minus": func(v float64) float64 { return -v },
		"bar": newBar, "numberBar": numberBar,
		"headline": (*Result).headline, "settings": (*Result).settings, "hasPriors": (*Result).hasPriors, "rows": (*Result).rows,
		"likely": (*Result).likely, "sampleName": Sample.name, "picture": pictureURL, "pictureSize": pictureSize,
		"verdict": Comparison.verdict, "role": Comparison.role, "sum": Comparison.sum, "favour": Comparison.favour,
		"substituted": Comparison.substituted, "changes": Comparison.changes,
		"changeTable": newChangeTable, "changesHeadline": Comparison.changesHeadline, "flipHeadline": Comparison.flipHeadline, "title": Group.title,
		"neighbour": Neighbour.name, "odds": odds,
	})
)

// writeHTML writes the result as one page that loads nothing else, with the top groups of
// each comparison.
func (r *Result) writeHTML(w io.Writer, top int) error {
	type comparisonView struct {
		Comparison
		Widest float64
		Shown  []Group
		Rest   float64 // of Others
		Others int
	}
	view := struct {
		*Result
		Comparisons []comparisonView
	}{Result: r}
	for _, c := range r.Comparisons {
		v := comparisonView{Comparison: c, Widest: c.widest()}
		v.Shown, v.Rest, v.Others = c.shown(top)
		view.Comparisons = append(view.Comparisons, v)
	}
	return page.Execute(w, view)
}

// changeTableView is a table of changes of detections.
type changeTableView struct {
	Comparison
	Headline string
	Changes  []Change
}

func newChangeTable(c Comparison, headline string, changes []Change) changeTableView {
	return changeTableView{c, headline, changes}
}

// pictureURL returns a picture as part of the page, "" for nil.
func pictureURL(m image.Image) (template.URL, error) {
	if m == nil {
		return "", nil
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil //nolint:gosec // encoded above
}

// The longer side of a picture on the page in pixels: small ones are enlarged.
const (
	smallPicture = 192
	// PictureSide is the largest side that a picture needs.
	PictureSide = 320
)

// pictureSize returns the size of a picture on the page.
func pictureSize(m image.Image) image.Point {
	size := m.Bounds().Size()
	longer := max(size.X, size.Y, 1)
	side := min(max(longer, smallPicture), PictureSide)
	return image.Pt(max(size.X*side/longer, 1), max(size.Y*side/longer, 1))
}

// barView is a bar between 0 and 1 with its value as text.
type barView struct {
	Kind  string // class in style.css: for, against or detected
	Width float64
	Text  string
}

func newBar(kind string, value float64, text string) barView {
	return barView{kind, width(value, 1), text}
}

// numberBar is empty for a missing entry.
func numberBar(kind string, p *float64) barView {
	if p == nil {
		return newBar(kind, 0, "-")
	}
	return newBar(kind, *p, fixed(*p))
}

// width returns a value in percent of the largest one, 0 for negative ones.
func width(value, largest float64) float64 {
	if largest == 0 {
		return 0
	}
	return math.Round(1000*min(max(value/largest, 0), 1)) / 10
}
