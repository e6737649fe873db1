package predict

import (
	"image"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

// sheet is the page of four samples, with a hostile name and one without a picture.
func sheet(t *testing.T) (s *Sheet, page string) {
	t.Helper()
	best := func(class int, p float64) []predictor.Value { return []predictor.Value{{Class: class, Value: p}} }
	s = &Sheet{
		Predictions: &predictor.Predictions{
			Candidates: predictor.Candidates{Names: []string{"<b>owl", "wren"}}, Listing: predictor.Listing{Top: 1, Confidence: 0.6}, Temperature: 1,
			Samples: []predictor.Prediction{
				{Index: 0, ID: "a.jpg", Class: "<b>owl", Best: best(0, 0.88), Reason: "because small"},
				{Index: 1, ID: "b.jpg", Class: "<b>owl", Best: best(0, 0.953), Reason: "because small"},
				{Index: 2, ID: "c.jpg", Class: "stork", Best: best(0, 0.52), Abstained: true},
				{Index: 3, ID: "d.jpg", Class: "wren", Best: best(1, 0.98), Reason: "because 4"},
			},
		},
		Picture: func(s predictor.Prediction) (image.Image, error) {
			if s.Index == 2 {
				return nil, nil
			}
			return image.NewGray(image.Rect(0, 0, 2, 2)), nil
		},
	}
	var html strings.Builder
	testkit.NoError(t, s.Write(&html))
	return s, html.String()
}

// A sheet has every sample once, the least certain first, and a confusion matrix; nothing that it shows is
// trusted.
func TestSheet(t *testing.T) {
	s, page := sheet(t)
	var got []string
	for _, c := range testkit.Must(s.cards())(t) {
		got = append(got, c.Name, c.Unsure)
	}
	if want := "c.jpg uncertain a.jpg  b.jpg  d.jpg "; strings.Join(got, " ") != want {
		t.Errorf("%q, expected %q", got, want)
	}
	testkit.WantText(t, page, "<h1>3 of 4 right, 1 uncertain</h1>", `<option value="&lt;b&gt;owl">&lt;b&gt;owl (3)</option>`,
		"true class: stork, no candidate", "because 4", "0.953", `title="stork predicted as &lt;b&gt;owl">1</button>`)
	if n := strings.Count(page, "data:image/jpeg;base64,"); n != 3 {
		t.Errorf("%d pictures, expected 3", n)
	}
	s.Fits, s.Listing.Fit, s.Samples[3].Abstained = &train.Fit{}, 0.1, true // of which no sample has any
	if first := testkit.Must(s.cards())(t)[0]; first.Unsure != "perhaps none of these" {
		t.Errorf("found %+v", first)
	}
	for i := range s.Samples {
		s.Samples[i].Class = ""
	}
	if got, want := s.summary(counts(testkit.Must(s.cards())(t))), "4 predictions: 3 <b>owl, 1 wren, 2 uncertain"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
