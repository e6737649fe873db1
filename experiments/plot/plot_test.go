package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
)

func figureOf(p Picture) Figure {
	return Figure{
		Name: "figure", Title: `p < 0.05 & "so on"`, Picture: p,
		Caption: "birds, 3 seeds; bars are one standard error over seeds, which is what this long caption is about.",
	}
}

// written writes a picture to a file and returns its content.
func written(t *testing.T, p Picture, format Format) string {
	t.Helper()
	dir := t.TempDir()
	paths := testkit.Must(WriteFiles(dir, format, figureOf(p)))(t)
	if want := []string{filepath.Join(dir, "figure."+string(format))}; !slices.Equal(paths, want) {
		t.Fatalf("wrote %q, expected %q", paths, want)
	}
	return testkit.Read(t, paths[0])
}

// texts reads a picture as XML and returns its texts, in the order they are drawn.
func texts(t *testing.T, p Picture) []string {
	t.Helper()
	var list []string
	d := xml.NewDecoder(strings.NewReader(written(t, p, SVG)))
	for inText := false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		testkit.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				list = append(list, strings.TrimSpace(string(token)))
			}
		}
	}
}

func numbered(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(prefix, i)
	}
	return list
}

// diagonal is a heat map of ones on the diagonal.
func diagonal(rows, cols int) *Heat {
	h := &Heat{Rows: numbered("row ", rows), Cols: numbered("", cols), RowTitle: "attribute", ColTitle: "group", Unit: "share"}
	for i := range rows {
		h.Values = append(h.Values, make([]float64, cols))
		h.Values[i][i%cols] = 1
	}
	return h
}

func learning() *Lines {
	return &Lines{X: "epoch", Y: "accuracy (%)", FromZero: true, Series: []Series{
		{Name: "train", Look: Look{"k-soft", Dashed}, Points: []Point{{1, 20, 18, 22}, {2, 60, 55, 65}, {3, 81, 80, 82}}},
		{Name: "val", Look: Look{"k-soft", Solid}, Points: []Point{{1, 10, 8, 12}, {2, 40, 35, 45}, {3, 30, 25, 35}}, Stop: 2},
	}}
}

func dots(factors ...string) *Dots {
	d := &Dots{X: "accuracy (%)", Factors: factors, Rows: []Row{{Name: "first", Method: "k-soft", Emphatic: true}, {Name: "second"}}, Series: []DotSeries{
		{Name: "val", Condition: Dashed, Dots: []Dot{PercentDot(0, 0.61, 0.6, 0.62, "61 ± 1"), PercentDot(1, 0.52, math.NaN(), math.NaN(), "52")}},
		{Name: "test", Dots: []Dot{{1, 48, 2, 2, "48 ± 2"}}},
	}}
	if factors != nil {
		d.Rows = []Row{{Marks: []Condition{Solid, Dashed}}, {Marks: []Condition{Dashed, Dotted}}}
	}
	return d
}

// Each picture has its texts, valid files of each format in the size of the figure, and the
// colours of the page where it is part of one.
func TestPictures(t *testing.T) {
	onePoint := &Lines{X: "epoch", Series: []Series{{Name: "val", Points: []Point{{1, 40, 40, 40}}, Stop: 1}, {Name: "nothing"}}}
	onePoint.AddChance(0.1)
	measured := &Lines{X: "K", Y: "accuracy (%)", DataTicks: true, Series: []Series{
		{Name: "k-soft", Measured: true, Points: []Point{PercentPoint(1, 0.5, 0.01), {12, 58, 56, 60}, {50, 58, 56, 60}}},
	}}
	blocks, percent := diagonal(3, 2), diagonal(2, 2)
	blocks.Blocks = []Block{{0, "block a"}, {2, "c\x00d"}}
	blocks.Rows[0] = "a\x1bb" // names from files may hold what SVG must not
	percent.Percent, percent.Values = true, [][]float64{{0.83, 0.17}, {0, 0.996}}
	shades := &Heat{Rows: []string{"a"}, Unit: "share", Values: [][]float64{{0.05, 0.31}}} // 0.31 is nearly black
	for name, c := range map[string]struct {
		picture Picture
		texts   []string
		csv     string // its beginning
	}{
		"lines":     {learning(), []string{"epoch", "accuracy (%)", "train", "val", "0", "20", "100", "1", "2", "3"}, "series,epoch,accuracy (%),low,high\ntrain,1,20,18,22\n"},
		"one point": {onePoint, []string{"val", "chance", "1"}, "series,epoch,,low,high\nval,1,40,40,40\nchance,1,10,10,10\nchance,2,10,10,10\n"},
		"measured":  {measured, []string{"K", "k-soft", "45", "60", "1", "12", "50"}, "series,K,accuracy (%),low,high\nk-soft,1,50,49,51\n"},
		"dots": {
			dots(),
			[]string{"accuracy (%)", "first", "second", "61 ± 1", "52", "48 ± 2", "val", "test"},
			"row,series,value,low,high\nfirst,val,61,60,62\nsecond,val,52,52,52\n",
		},
		"factors": {
			dots("uniform prior", "const"),
			[]string{"uniform", "prior", "const"},
			"row,uniform prior,const,series,value,low,high\n,yes,no,val,61,60,62\n,no,other,val,52,52,52\n,no,other,test,48,46,50\n",
		},
		"heat":            {blocks, []string{"attribute", "group", "share: 0", "a\uFFFDb", "row 2", "0", "1", "block a", "c\uFFFDd"}, "attribute,0,1\na\x1bb,1,0\n"},
		"heat of percent": {percent, []string{"share: 0", "83", "17", "100"}, "attribute,0,1\nrow 0,0.83,0.17\n"},
		"shades":          {shades, []string{"share: 0", "0.4"}, ",\" 1\",\" 2\"\na,0.05,0.31\n"},
		"wide":            {diagonal(30, 30), []string{"29", "row 29"}, "attribute,0,1,"},
	} {
		t.Run(name, func(t *testing.T) {
			all := texts(t, c.picture)
			for _, want := range append(c.texts, "p < 0.05 & \"so on\"") {
				if !slices.Contains(all, want) {
					t.Errorf("the picture lacks %q: %q", want, all)
				}
			}
			if got := written(t, c.picture, CSV); !strings.HasPrefix(got, c.csv) {
				t.Errorf("numbers\n%s\nexpected to begin with\n%s", got, c.csv)
			}
			checkFormats(t, c.picture)
			page := testkit.Must(ForPage(figureOf(c.picture)))(t)
			for _, banned := range []string{"#222222", "#212121", "#FFFFFF", "#DDDDDD", "#888888", "<?xml", "birds"} {
				if strings.Contains(page, banned) {
					t.Errorf("found %s on the page, expected none", banned)
				}
			}
			if !strings.HasPrefix(page, `<svg role="img" `) || !strings.Contains(page, "fill:currentColor") {
				t.Errorf("expected an element with currentColor, found %.300s", page)
			}
		})
	}
}

func checkFormats(t *testing.T, p Picture) {
	t.Helper()
	decoded := testkit.Must(png.Decode(strings.NewReader(written(t, p, PNG))))(t)
	width, height := figureOf(p).size()
	got := decoded.Bounds().Size()
	if math.Abs(float64(got.X)-width.Dots(dpi)) > 1 || math.Abs(float64(got.Y)-height.Dots(dpi)) > 1 {
		t.Errorf("the PNG has %d pixels, expected %.0f x %.0f", got, width.Dots(dpi), height.Dots(dpi))
	}
	if pdf := written(t, p, PDF); !strings.HasPrefix(pdf, "%PDF-") || !strings.Contains(pdf, "%%EOF") {
		t.Errorf("expected a PDF, found %.20q", pdf)
	}
}

func TestSVGKeepsTextAndTitle(t *testing.T) {
	testkit.WantText(t, testkit.Must(ForPage(figureOf(dots())))(t), "var(--paper,#fff)") // in circles
	svg := written(t, learning(), SVG)
	testkit.WantText(t, svg, "<title>p &lt; 0.05 &amp; &#34;so on&#34;</title>", ">accuracy (%)</text>", ">birds, 3 seeds;", `<svg width="260`, "#D55E00",
		"font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;")
	if strings.Contains(svg, "font-family:Liberation Sans;") {
		t.Error("expected fallbacks for each font, found a text without")
	}
}

// PDF files have their texts in Windows-1252.
func TestPDFTexts(t *testing.T) {
	if got := windows1252("61 ± 1 猫"); got != "61 \xb1 1 ?" {
		t.Errorf("found %q", got)
	}
}

// A cell is at least as high as its name, however many there are: the picture grows.
func TestHeatHasRoomForItsNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 400).Draw(t, "rows"), rapid.IntRange(1, 120).Draw(t, "cols")
		h := diagonal(rows, cols)
		h.Percent = rapid.Bool().Draw(t, "percent")
		l := h.layout()
		const slack = 1e-9
		if l.cell.Y < smallSize || l.cell.X < smallSize-slack {
			t.Fatalf("expected cells of at least %g points, found %g", smallSize, l.cell)
		}
		if need := line + gap/2 + widest(nameStyle, h.Rows...) + gap/2; l.left < need {
			t.Fatalf("expected room for title and names of %g points, found %g", need, l.left)
		}
		if width, height := h.Size(); height-l.top < l.cell.Y*vg.Length(rows) || width-l.left < l.cell.X*vg.Length(cols)-slack {
			t.Fatalf("expected room for %d x %d cells of %g points, found %g x %g", rows, cols, l.cell, width, height)
		}
	})
}

// Labels that need more lines than the usual height has make the figure taller.
func TestLabelsFit(t *testing.T) {
	p := learning()
	var need vg.Length
	for range 6 {
		p.Series = append(p.Series, Series{Name: "k-soft, features sqrt,l2,whiten, alpha 0.3, prior uniform, beta 0.001", Points: []Point{{1, 20, 18, 22}}})
	}
	for _, l := range p.labels() {
		need += l.height()
	}
	if _, height := p.Size(); height < need || need < linesHeight {
		t.Errorf("height %v for labels of %v", height, need)
	}
}

// Labels of lines that end close together are moved apart, and stay in the picture.
func TestLabelsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []label
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 3), 1, 7).Draw(t, "lines") {
			list = append(list, label{y: vg.Length(rapid.Float64Range(0, 200).Draw(t, "y")), lines: make([]string, n)})
		}
		spread(list, 0, 200)
		top := vg.Length(200)
		for _, l := range list {
			const slack = 1e-9
			if l.y+l.height()/2 > top+slack || l.y-l.height()/2 < -slack {
				t.Fatalf("expected labels apart, found %v", list)
			}
			top = l.y - l.height()/2
		}
	})
}

// A line may begin at 0, which is no mark.
func TestLinesFromZeroHaveNoMark(t *testing.T) {
	strokes := func(from float64) int {
		p := &Lines{Series: []Series{{Name: "equal", Points: []Point{{from, 0, 0, 0}, {from + 10, 10, 10, 10}}}}}
		return strings.Count(written(t, p, SVG), "<path")
	}
	if zero, ten := strokes(0), strokes(10); zero != ten {
		t.Errorf("%d strokes of a line from 0, %d of one from 10", zero, ten)
	}
}

// Chance has a line, in the plot and in the legend, where it is on the axis; 0 has none.
func TestDotsNameTheLineOfChance(t *testing.T) {
	for chance, lines := range map[float64]int{0: 0, 20: 2, 90: 0} {
		p := &Dots{Rows: []Row{{Name: "ale"}}, Chance: chance, Series: []DotSeries{
			{Name: "val", Dots: []Dot{{Value: 10}}}, {Name: "test", Dots: []Dot{{Value: 40}}},
		}}
		if dashed := strings.Count(written(t, p, SVG), "stroke-dasharray"); dashed != lines {
			t.Errorf("chance %g: expected %d dashed lines, found %d", chance, lines, dashed)
		}
		if all := texts(t, p); slices.Contains(all, "chance") != (lines > 0) {
			t.Errorf("chance %g: found the texts %q", chance, all)
		}
	}
}

func TestScaleHasNiceSteps(t *testing.T) {
	for _, c := range []struct {
		least, step float64
		label       string
	}{
		{0.3, 0.5, "0.5"}, {0.04, 0.05, "0.05"}, {1, 1, "1"}, {1.1, 2, "2"}, {4, 5, "5"}, {6, 10, "10"}, {20, 20, "20"}, {0.0011, 0.002, "0.002"},
	} {
		var a plot.Axis
		scale(&a, 0, 5*c.least, 0)
		tick := a.Tick.Marker.Ticks(a.Min, a.Max)[1]
		testkit.Near(t, fmt.Sprint("the step of at least ", c.least), tick.Value, c.step, 1e-12)
		if tick.Label != c.label {
			t.Errorf("a step of at least %g: label %q, expected %q", c.least, tick.Label, c.label)
		}
	}
}

func TestScaleHoldsTheData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e3, 1e3).Draw(t, "low")
		high := low + rapid.Float64Range(0, 1e3).Draw(t, "range")
		var a plot.Axis
		scale(&a, low, high, 0)
		const slack = 1e-6
		if a.Min > low+slack || a.Max < high-slack {
			t.Fatalf("expected a range around %g to %g, found %g to %g", low, high, a.Min, a.Max)
		}
		ticks := a.Tick.Marker.Ticks(a.Min, a.Max)
		if len(ticks) < 2 || len(ticks) > 8 {
			t.Fatalf("expected 2 to 8 ticks from %g to %g, found %d", low, high, len(ticks))
		}
		for _, tick := range ticks {
			testkit.Near(t, "the label of a tick", testkit.Must(strconv.ParseFloat(tick.Label, 64))(t), tick.Value, slack)
		}
	})
}

// Counts have whole steps, and damaged files must not make an axis endless.
func TestScaleOfCountsAndExtremes(t *testing.T) {
	var a plot.Axis
	scale(&a, 1, 3, 1)
	var labels []string
	for _, tick := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		labels = append(labels, tick.Label)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, labels); diff != "" {
		t.Errorf("labels (-expected +found):\n%s", diff)
	}
	for _, c := range [][2]float64{{-1e20, 1}, {-1e20, -1e20}, {1e20, 1e20}, {-1e300, 1e300}, {math.NaN(), 1}, {math.Inf(1), math.Inf(-1)}} {
		scale(&a, c[0], c[1], 0)
		if n := len(a.Tick.Marker.Ticks(a.Min, a.Max)); n < 2 || n > 8 {
			t.Errorf("from %g to %g: %d ticks", c[0], c[1], n)
		}
	}
}
