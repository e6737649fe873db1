package plot

import (
	"bytes"
	"strings"
	"testing"
)

func learning() *Lines {
	return &Lines{
		X: "epoch", Y: "accuracy (%)", Width: 300, Height: 200, FromZero: true,
		Series: []Series{
			{Name: "train", Look: 1, Points: []Point{{1, 20, 18, 22}, {2, 60, 55, 65}, {3, 81, 80, 82}}},
			{Name: "val", Points: []Point{{1, 10, 8, 12}, {2, 40, 35, 45}, {3, 30, 25, 35}}, Stop: 2},
		},
	}
}

func TestSVGKeepsTextAndTitle(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSVG(&b, learning(), `p < 0.05 & "so on"`); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	for _, want := range []string{
		"<title>p &lt; 0.05 &amp; &#34;so on&#34;</title>",
		"font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;",
		">accuracy (%)</text>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("expected %q in the SVG", want)
		}
	}
	if strings.Contains(svg, "font-family:Liberation Sans;") {
		t.Error("expected fallbacks for each font, found a text without")
	}
}

func TestForPageHasTheColorsOfThePage(t *testing.T) {
	svg, err := ForPage(learning(), "a title")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"#222222", "#FFFFFF", "#DDDDDD", "<?xml"} {
		if strings.Contains(svg, c) {
			t.Errorf("found %s, expected none", c)
		}
	}
	if !strings.HasPrefix(svg, `<svg role="img" `) || !strings.Contains(svg, "fill:currentColor") {
		t.Errorf("expected an element with currentColor, found %.300s", svg)
	}
}

func TestLines(t *testing.T) {
	contains(t, svgTexts(t, learning()), "epoch", "accuracy (%)", "train", "val", "0", "20", "40", "60", "80", "100", "1", "2", "3")
	checkPNG(t, learning())
}

func TestLinesOfOnePoint(t *testing.T) {
	p := &Lines{X: "epoch", Y: "accuracy (%)", Width: 300, Height: 200, Series: []Series{
		{Name: "val", Points: []Point{{1, 40, 40, 40}}, Stop: 1},
	}}
	contains(t, svgTexts(t, p), "val", "40.0", "1")
	checkPNG(t, p)
}

func TestMeasuredLines(t *testing.T) {
	p := &Lines{X: "K", Y: "accuracy (%)", Width: 300, Height: 200, Series: []Series{
		{Name: "k-soft", Measured: true, Points: []Point{{1, 50, 49, 51}, {10, 58, 56, 60}}},
	}}
	contains(t, svgTexts(t, p), "K", "k-soft", "45", "60")
	checkPNG(t, p)
}

func TestDots(t *testing.T) {
	p := &Dots{X: "accuracy (%)", Rows: []string{"first", "second"}, Series: []DotSeries{
		{Name: "val", Dots: []Dot{{0, 61, 1, 1, "61 ± 1"}, {1, 52, 0, 0, "52"}}},
		{Name: "test", Look: 1, Dots: []Dot{{1, 48, 2, 2, "48 ± 2"}}},
	}}
	contains(t, svgTexts(t, p), "accuracy (%)", "first", "second", "61 ± 1", "52", "48 ± 2", "val", "test")
	checkPNG(t, p)
}

// A line may begin at 0, which is no mark.
func TestLinesFromZeroHaveNoMark(t *testing.T) {
	strokes := func(from float64) int {
		var b bytes.Buffer
		p := &Lines{X: "confidence (%)", Y: "accuracy (%)", Width: 300, Height: 200, Series: []Series{
			{Name: "equal", Points: []Point{{from, 0, 0, 0}, {from + 10, 10, 10, 10}}},
		}}
		if err := WriteSVG(&b, p, "a"); err != nil {
			t.Fatal(err)
		}
		return strings.Count(b.String(), "<path")
	}
	if zero, ten := strokes(0), strokes(10); zero != ten {
		t.Errorf("%d strokes of a line from 0, %d of one from 10", zero, ten)
	}
}
