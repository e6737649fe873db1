package plot

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(prefix, i)
	}
	return list
}

// diagonal is a heat map of ones on the diagonal.
func diagonal(rows, cols int) *Heat {
	h := &Heat{Rows: names("row ", rows), Cols: names("", cols), RowTitle: "attribute", ColTitle: "group", Unit: "share"}
	for i := range rows {
		h.Values = append(h.Values, make([]float64, cols))
		h.Values[i][i%cols] = 1
	}
	return h
}

func TestHeat(t *testing.T) {
	h := diagonal(3, 2)
	h.Blocks = []Block{{0, "block a"}, {2, "block b"}}
	contains(t, svgTexts(t, h), "attribute", "group", "share: 0", "row 0", "row 2", "0", "1", "block a", "block b")
	checkFiles(t, h)
}

func TestHeatWritesPercentIntoCells(t *testing.T) {
	h := &Heat{
		Rows: []string{"a", "b"}, Cols: []string{"a", "b"}, Percent: true,
		Values: [][]float64{{0.83, 0.17}, {0, 0.996}},
	}
	texts := svgTexts(t, h)
	contains(t, texts, "83", "17", "100")
	if slices.Index(texts, "83") < 0 || slices.Index(texts, "83") > slices.Index(texts, "17") {
		t.Errorf("expected the cells from left to right, found %q", texts)
	}
}

// A cell is at least as high as its name, however many there are: the picture grows.
func TestHeatHasRoomForItsNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 400).Draw(t, "rows"), rapid.IntRange(1, 120).Draw(t, "cols")
		h := diagonal(rows, cols)
		h.Percent = rapid.Bool().Draw(t, "percent")
		l := h.layout()
		if l.cell.Y < smallSize || l.cell.X < smallSize {
			t.Fatalf("expected cells of at least %g points, found %g", smallSize, l.cell)
		}
		if need := line + gap/2 + widest(nameStyle, h.Rows...) + gap/2; l.left < need {
			t.Fatalf("expected room for title and names of %g points, found %g", need, l.left)
		}
		const slack = 1e-9
		if width, height := h.Size(); height-l.top < l.cell.Y*vg.Length(rows) || width-l.left < l.cell.X*vg.Length(cols)-slack {
			t.Fatalf("expected room for %d x %d cells of %g points, found %g x %g", rows, cols, l.cell, width, height)
		}
	})
}

// The largest number is black.
func TestShadesReachTheLargestNumber(t *testing.T) {
	h := &Heat{Rows: []string{"a"}, Unit: "share", Values: [][]float64{{0.05, 0.31}}}
	contains(t, svgTexts(t, h), "share: 0", "0.4")
	h.Percent = true
	contains(t, svgTexts(t, h), "share: 0", "100")
}

// Names from files may hold characters that SVG must not.
func TestHeatReplacesControlCharacters(t *testing.T) {
	h := diagonal(2, 2)
	h.Rows[0], h.Blocks = "a\x1bb", []Block{{Row: 0, Name: "c\x00d"}}
	contains(t, svgTexts(t, h), "a\uFFFDb", "c\uFFFDd")
}
