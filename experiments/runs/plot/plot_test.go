package plot

import (
	"encoding/xml"
	"fmt"
	"html"
	"math"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/testkit"
)

func figureOf(p Picture) Figure {
	return Figure{
		Name: "figure", Title: `p < 0.05 & "so on"`, Picture: p,
		Caption: "birds, 3 seeds; bars are one standard error over seeds, which is what this long caption is about.",
	}
}

// written writes a picture to a file and returns its content.
func written(t testing.TB, p Picture) string {
	t.Helper()
	dir := t.TempDir()
	paths := testkit.Must(WriteFiles(fileio.Write, dir, figureOf(p)))(t)
	testkit.Equal(t, "files", paths, []string{filepath.Join(dir, "figure.svg")})
	return testkit.Read(t, paths[0])
}

var textElement = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)

// texts reads a picture as XML and returns its texts, in the order they are drawn.
func texts(t *testing.T, p Picture) (list []string) {
	t.Helper()
	svg := written(t, p)
	testkit.NoError(t, xml.Unmarshal([]byte(svg), new(struct{})))
	for _, found := range textElement.FindAllStringSubmatch(svg, -1) {
		list = append(list, html.UnescapeString(found[1]))
	}
	return list
}

func learning() *Lines {
	return &Lines{X: "epoch", Y: "accuracy (%)", Chance: 10, Series: []Series{
		{Name: "train", Focus: true, Condition: Dashed, Points: []Point{{1, 20, 18, 22}, {2, 60, 55, 65}, {3, 81, 80, 82}}},
		{Name: "val", Focus: true, Points: []Point{{1, 10, 8, 12}, {2, 40, 35, 45}, {3, 30, 25, 35}}},
	}}
}

func dots() *Dots {
	return &Dots{X: "accuracy (%)", Percent: true, Rows: []Row{{Name: "first", Focus: true}, {Name: "a\x1bb"}}, Panels: []Panel{
		{Title: "validation", Series: []Series{{Name: "here", Points: []Point{Percent(0, 0.61, 0.6, 0.62), Percent(1, 0.52, math.NaN(), math.NaN())}}, {Name: "empty"}}},
		{Title: "test", Chance: 25, Series: []Series{{Name: "here", Points: []Point{{1, 48, 46, 50}}}, {Name: "published", Condition: Dotted, Points: []Point{{0, 55, 55, 55}}}}},
	}}
}

// Each picture has its texts, valid files of each format in the size of the figure, and the
// colours of the page where it is part of one.
func TestPictures(t *testing.T) {
	onePoint := &Lines{X: "epoch", Chance: 10, Series: []Series{{Name: "val", Points: []Point{{1, 40, 40, 40}}}, {Name: "nothing"}}}
	// Damaged files may hold any number.
	extreme := &Lines{Series: []Series{{Name: "k-soft", Measured: true, Points: []Point{Percent(1, 0.5, 0.49, 0.51), {12, -1e300, -1e300, 1e300}}}}}
	panels := learning()
	panels.Series = append(panels.Series, Series{Name: "train", Panel: "below", Points: []Point{{1, 80, 70, 90}}})
	testkit.Equal(t, "texts of panels, with one legend", texts(t, panels)[8:], []string{
		"accuracy (%)", "0", "20", "40", "60", "80", "0", "20", "40", "60", "80", "below", "train", "chance", "val",
	})
	testkit.WantText(t, written(t, panels), `<text textLength="21.80" `)
	ties := &Dots{Rows: []Row{{Name: "equal"}}, Panels: []Panel{{Series: []Series{{Points: []Point{Percent(0, 0, 0, 0)}}}}}}
	for name, c := range map[string]struct {
		picture Picture
		texts   []string
	}{
		"ties":      {ties, []string{"equal", "0"}},
		"lines":     {learning(), []string{"epoch", "accuracy (%)", "train", "val", "chance", "0", "1", "2", "3"}},
		"one point": {onePoint, []string{"val", "chance", "1"}},
		"extreme":   {extreme, []string{"k-soft"}},
		"dots":      {dots(), []string{"accuracy (%)", "first", "a\uFFFDb", "0", "validation", "test", "published"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := fmt.Sprintf("%q", texts(t, c.picture))
			for _, want := range append(c.texts, "p < 0.05 & \"so on\"") {
				testkit.WantText(t, all, fmt.Sprintf("%q", want))
			}
			page := testkit.Must(ForPage(figureOf(c.picture)))(t)
			testkit.WantNoText(t, page, "#000000", "#FFFFFF", "#DDDDDD", "#888888", "<?xml", "birds")
			testkit.WantText(t, page, `<svg role="img" fill="currentColor" aria-label="p &lt; 0.05 &amp; &#34;so on&#34;"`, "font-family:'Liberation Sans',Arimo,")
		})
	}
}

// Entries of the legend that need more lines make the figure taller.
func TestLegendFits(t *testing.T) {
	p := learning()
	_, before := p.chart().size()
	for range 6 {
		p.Series = append(p.Series, Series{Name: "k-soft, features sqrt,l2,whiten, alpha 0.3, prior uniform, beta 0.001", Points: []Point{{1, 20, 18, 22}}})
	}
	if _, height := p.chart().size(); height < before+3*2*line {
		t.Errorf("the height grew from %v to %v, expected three more entries of two lines", before, height)
	}
}

// The X axis starts at 0, also if there is no number near it.
func TestXAxisFromZero(t *testing.T) {
	x := (&Lines{Series: []Series{{Points: []Point{{10, 1, 1, 1}, {95, 2, 2, 2}}}}}).chart().X
	testkit.Equal(t, "ends", []float64{x.Min, x.Max}, []float64{0, 95})
}

// An axis of percentages starts at 0, ends at most at 100 and has room for chance and intervals,
// also those that reach beyond 100 as of a damaged file.
func TestPercentAxis(t *testing.T) {
	for _, c := range []struct{ value, low, high, end float64 }{
		{1, 0.994, 1.006, 100}, {0.5, math.NaN(), math.NaN(), 50}, {0.05, 0, 0.12, 20}, {0, -1, 0, 10},
	} {
		lines := &Lines{Chance: 8, Series: []Series{{Name: "a", Measured: true, Points: []Point{Percent(1, c.value, c.low, c.high)}}}}
		y := lines.chart().Y
		testkit.Equal(t, fmt.Sprintf("%+v: ends of lines", c), []float64{y.Min, y.Max}, []float64{0, c.end})
		d := &Dots{Percent: true, Rows: []Row{{Name: "a"}}, Panels: []Panel{{Chance: 8, Series: []Series{{Points: []Point{Percent(0, c.value, c.low, c.high)}}}}}}
		low, high := d.ends()
		testkit.Equal(t, fmt.Sprintf("%+v: ends of dots", c), []float64{low, high}, []float64{0, c.end})
		if x := d.chart().X; x.Max != 1 { // otherwise there is no room for the label at the end
			t.Errorf("%+v: a panel up to %g", c, x.Max)
		}
	}
}
