package predict

import (
	"image"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// sheet is the page of four samples, with a hostile name and one without a picture, and the
// predictions as CSV.
func sheet(t *testing.T) (s *Sheet, page, csv string) {
	t.Helper()
	d := &dataset.Dataset{
		Classes: []string{"<b>owl", "wren"}, Labels: []int{0, 0, 1, 1}, IDs: []string{"a.jpg", "b.jpg", "c.jpg", "d.jpg"},
		Features: dataset.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{2, 0, 3, 0, 0.1, 0, 0, 4}},
	}
	asScored := model.Scorer(func(x, scores dataset.Matrix[float32]) error {
		copy(scores.Data, x.Data)
		return nil
	})
	s = &Sheet{
		Title: "4 predictions", Confidence: 0.6,
		Picture: func(i int) (image.Image, error) {
			if i == 2 {
				return nil, nil
			}
			return image.NewGray(image.Rect(0, 0, 2, 2)), nil
		},
		Reason: func(x dataset.Matrix[float32], row int) (string, error) {
			return "because " + map[bool]string{true: "4", false: "small"}[x.Row(row)[1] == 4], nil
		},
	}
	src := &Samples{d: d, rows: d.Features.AllRows()}
	var table, html strings.Builder
	testkit.Must(Run(t.Context(), src, asScored, d.Classes, Options{Top: 1, Temperature: 1, Confidence: 0.6, Format: HTML, Sheet: s}, &table))(t)
	testkit.NoError(t, s.Write(&html))
	return s, html.String(), table.String()
}

// A sheet has every sample once, by class and probability, uncertain ones at the end, and the
// predictions that Run writes as CSV.
func TestSheet(t *testing.T) {
	s, page, csv := sheet(t)
	testkit.WantText(t, csv, "sample,id,true_class,prediction,class_1,probability_1", "2,c.jpg,wren,,")
	var got []string
	for _, of := range s.sections() {
		got = append(got, of.Title)
		for _, c := range of.Cards {
			got = append(got, c.Name)
		}
	}
	if want := "<b>owl (2) b.jpg a.jpg wren (1) d.jpg Uncertain: a probability below 0.6 (1) c.jpg"; strings.Join(got, " ") != want {
		t.Errorf("%q, expected %q", got, want)
	}
	testkit.WantText(t, page, "<h2>&lt;b&gt;owl (2)</h2>", "true class: wren", "because 4", "because small", "0.953")
	if n := strings.Count(page, "data:image/jpeg;base64,"); n != 3 {
		t.Errorf("%d pictures, expected 3", n)
	}
}
