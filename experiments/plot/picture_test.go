package plot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func learning() *Lines {
	return &Lines{
		X: "epoch", Y: "accuracy (%)", FromZero: true,
		Series: []Series{
			{Name: "train", Look: Look{"k-soft", Dashed}, Points: []Point{{1, 20, 18, 22}, {2, 60, 55, 65}, {3, 81, 80, 82}}},
			{Name: "val", Look: Look{"k-soft", Solid}, Points: []Point{{1, 10, 8, 12}, {2, 40, 35, 45}, {3, 30, 25, 35}}, Stop: 2},
		},
	}
}

func TestSVGKeepsTextAndTitle(t *testing.T) {
	f := figureOf(learning())
	f.Title = `p < 0.05 & "so on"`
	path := filepath.Join(t.TempDir(), "figure.svg")
	if err := WriteFile(path, f); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>p &lt; 0.05 &amp; &#34;so on&#34;</title>",
		"font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;",
		">accuracy (%)</text>", ">birds, 3 seeds;", `<svg width="260`, "#D55E00",
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("expected %q in the SVG", want)
		}
	}
	if strings.Contains(string(svg), "font-family:Liberation Sans;") {
		t.Error("expected fallbacks for each font, found a text without")
	}
}

// PDF files have their texts in Windows-1252.
func TestPDFTexts(t *testing.T) {
	if got := windows1252("61 ± 1 猫"); got != "61 \xb1 1 ?" {
		t.Errorf("found %q", got)
	}
}

func TestForPageHasTheColorsOfThePage(t *testing.T) {
	for _, p := range []Picture{learning(), diagonal(30, 30)} {
		svg, err := ForPage(figureOf(p))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{"#222222", "#212121", "#FFFFFF", "#DDDDDD", "#888888", "<?xml", "birds"} {
			if strings.Contains(svg, c) {
				t.Errorf("%T: found %s, expected none", p, c)
			}
		}
		if !strings.HasPrefix(svg, `<svg role="img" `) || !strings.Contains(svg, "fill:currentColor") {
			t.Errorf("%T: expected an element with currentColor, found %.300s", p, svg)
		}
	}
}

func TestLines(t *testing.T) {
	contains(t, svgTexts(t, learning()), "a title", "epoch", "accuracy (%)", "train", "val", "0", "20", "40", "60", "80", "100", "1", "2", "3")
	checkFiles(t, learning())
}

func TestLinesOfOnePoint(t *testing.T) {
	p := &Lines{X: "epoch", Y: "accuracy (%)", Series: []Series{
		{Name: "val", Points: []Point{{1, 40, 40, 40}}, Stop: 1},
	}}
	contains(t, svgTexts(t, p), "val", "40.0", "1")
	checkFiles(t, p)
}

func TestMeasuredLinesHaveTicksAtTheData(t *testing.T) {
	p := &Lines{X: "K", Y: "accuracy (%)", DataTicks: true, Series: []Series{
		{Name: "k-soft", Measured: true, Points: []Point{{1, 50, 49, 51}, {12, 58, 56, 60}, {50, 58, 56, 60}}},
	}}
	contains(t, svgTexts(t, p), "K", "k-soft", "45", "60", "1", "12", "50")
	want := "series,K,accuracy (%),low,high\nk-soft,1,50,49,51\nk-soft,12,58,56,60\nk-soft,50,58,56,60\n"
	if diff := cmp.Diff(want, written(t, p, ".csv")); diff != "" {
		t.Errorf("numbers (-expected +found):\n%s", diff)
	}
}

// Labels that need more lines than the usual height has make the figure taller.
func TestLabelsFit(t *testing.T) {
	p := learning()
	for range 6 {
		p.Series = append(p.Series, Series{Name: "k-soft, features sqrt,l2,whiten, alpha 0.3, prior uniform, beta 0.001", Points: []Point{{1, 20, 18, 22}}})
	}
	_, height := p.Size()
	var lines int
	for _, words := range p.labels() {
		lines += len(words)
	}
	if least := laneHeight * vg.Length(lines); height < least || least < linesHeight {
		t.Errorf("height %v for %d lines of labels", height, lines)
	}
	checkFiles(t, p)
}

func dots() *Dots {
	return &Dots{X: "accuracy (%)", Rows: []Row{{Name: "first", Method: "k-soft", Emphatic: true}, {Name: "second"}}, Series: []DotSeries{
		{Name: "val", Condition: Dashed, Dots: []Dot{{0, 61, 1, 1, "61 ± 1"}, {1, 52, 0, 0, "52"}}},
		{Name: "test", Dots: []Dot{{1, 48, 2, 2, "48 ± 2"}}},
	}}
}

func TestDots(t *testing.T) {
	contains(t, svgTexts(t, dots()), "accuracy (%)", "first", "second", "61 ± 1", "52", "48 ± 2", "val", "test")
	checkFiles(t, dots())
}

// Chance has a line, in the plot and in the legend, where it is on the axis; 0 has none.
func TestDotsNameTheLineOfChance(t *testing.T) {
	for chance, lines := range map[float64]int{0: 0, 20: 2, 90: 0} {
		p := &Dots{Rows: []Row{{Name: "ale"}}, Chance: chance, Series: []DotSeries{
			{Name: "val", Dots: []Dot{{Value: 10}}}, {Name: "test", Dots: []Dot{{Value: 40}}},
		}}
		if dashed := strings.Count(written(t, p, ".svg"), "stroke-dasharray"); dashed != lines {
			t.Errorf("chance %g: expected %d dashed lines, found %d", chance, lines, dashed)
		}
		if texts := svgTexts(t, p); slices.Contains(texts, "chance") != (lines > 0) {
			t.Errorf("chance %g: found the texts %q", chance, texts)
		}
	}
}

func TestDotsWithFactors(t *testing.T) {
	p := dots()
	p.Factors = []string{"uniform prior", "const"}
	p.Rows = []Row{{Marks: []Condition{Solid, Dashed}}, {Marks: []Condition{Dashed, Dotted}}}
	contains(t, svgTexts(t, p), "uniform", "prior", "const")
	want := "row,uniform prior,const,series,value,low,high\n,yes,no,val,61,60,62\n,no,other,val,52,52,52\n,no,other,test,48,46,50\n"
	if diff := cmp.Diff(want, written(t, p, ".csv")); diff != "" {
		t.Errorf("numbers (-expected +found):\n%s", diff)
	}
}

// Labels of lines that end close together are moved apart, and stay in the picture.
func TestLabelsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []label
		heights := rapid.SliceOfN(rapid.Float64Range(1, 20), 1, 8).Draw(t, "heights")
		for _, h := range heights {
			list = append(list, label{y: vg.Length(rapid.Float64Range(0, 200).Draw(t, "y")), height: vg.Length(h)})
		}
		spread(list, 0, 200)
		top := vg.Length(200)
		for _, l := range list {
			const slack = 1e-9
			if l.y+l.height/2 > top+slack || l.y-l.height/2 < -slack {
				t.Fatalf("expected labels apart, found %v", list)
			}
			top = l.y - l.height/2
		}
	})
}

// A line may begin at 0, which is no mark.
func TestLinesFromZeroHaveNoMark(t *testing.T) {
	strokes := func(from float64) int {
		p := &Lines{X: "confidence (%)", Y: "accuracy (%)", Series: []Series{
			{Name: "equal", Points: []Point{{from, 0, 0, 0}, {from + 10, 10, 10, 10}}},
		}}
		return strings.Count(written(t, p, ".svg"), "<path")
	}
	if zero, ten := strokes(0), strokes(10); zero != ten {
		t.Errorf("%d strokes of a line from 0, %d of one from 10", zero, ten)
	}
}
