package render

import (
	"image"
	"os"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// three are predictions of three samples of classes whose names need quoting; temperature 0 leaves
// scores in place of probabilities, which are those of package predictor.
func three(l predictor.Listing, temperature float64) *predictor.Predictions {
	names := []string{`say "hi", <you>`, "été", "x"}
	r := &predictor.Predictions{Candidates: predictor.Candidates{Names: names}, Listing: l, Temperature: temperature}
	best := [][]predictor.Value{
		{{Class: 0, Value: 0.66524096}, {Class: 1, Value: 0.24472847}, {Class: 2, Value: 0.09003057}},
		{{Class: 1, Value: 0.7309499}, {Class: 0, Value: 0.26890144}, {Class: 2, Value: 0.00014873}},
		{{Class: 1, Value: 0.35986746}, {Class: 2, Value: 0.35986746}, {Class: 0, Value: 0.28026509}},
	}
	if temperature == 0 {
		best = [][]predictor.Value{{{Class: 0}}, {{Class: 1, Value: -0.5}, {Class: 0, Value: -1.5}}, {{Class: 1, Value: 0.5}}}
	}
	for i, values := range best {
		r.Samples = append(r.Samples, predictor.Prediction{
			Index: i + 1, Class: names[[]int{0, 2, 1}[i]], Best: values[:min(l.Top, len(values))], Abstained: values[0].Value < l.Confidence && l.Confidence > 0,
		})
	}
	return r
}

func TestFormats(t *testing.T) {
	probabilities := predictor.Listing{Top: 2, Confidence: 0.6}
	// softmax of (0, -1, -2) is (0.6652, 0.2447, 0.0900); of (-1.5, -0.5, -9)
	// (0.2689, 0.7309, 0.0002); of (0.25, 0.5, 0.5) (0.2803, 0.3599, 0.3599).
	for _, c := range []struct {
		name string
		o    predictor.Listing
		f    Format
		want string
	}{
		{"a table", probabilities, Table, `  sample  true class       prediction       probability  next
       1  say "hi", <you>  say "hi", <you>       66.5 %  été 24.5 %
       2  x                été                   73.1 %  say "hi", <you> 26.9 %
       3  été              (abstain)             36.0 %  été 36.0 %, x 36.0 %
`},
		{"CSV", probabilities, CSV, `sample,true_class,prediction,class_1,probability_1,class_2,probability_2
1,"say ""hi"", <you>","say ""hi"", <you>","say ""hi"", <you>",0.6652409,été,0.2447285
2,x,été,été,0.7309499,"say ""hi"", <you>",0.2689014
3,été,,été,0.3598675,x,0.3598675
`},
		{"scores", predictor.Listing{Top: 1}, CSV, `sample,true_class,prediction,class_1,score_1
1,"say ""hi"", <you>","say ""hi"", <you>","say ""hi"", <you>",0
2,x,été,été,-0.5
3,été,été,été,0.5
`},
		{"fits", predictor.Listing{Top: 1, Fit: 0.1}, CSV, `sample,true_class,prediction,fit,class_1,probability_1
1,"say ""hi"", <you>",,0.05,"say ""hi"", <you>",0.6652409
2,x,été,0.25,été,0.7309499
3,été,été,0.45,été,0.3598675
`},
		{"a table of fits", predictor.Listing{Top: 1, Fit: 0.1}, Table, `  sample  true class       prediction       probability      fit
       1  say "hi", <you>  (abstain)             66.5 %    5.0 %  say "hi", <you> 66.5 %
       2  x                été                   73.1 %   25.0 %
       3  été              été                   36.0 %   45.0 %
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			temperature := 1.0
			if c.name == "scores" {
				temperature = 0
			}
			r := three(c.o, temperature)
			for i := 0; c.o.Fit > 0 && i < len(r.Samples); i++ {
				r.Fits, r.Samples[i].Fit, r.Samples[i].Abstained = &model.Fit{}, 0.05+float64(i)/5, i == 0
			}
			var out strings.Builder
			testkit.NoError(t, Predictions(&out, c.f, r))
			testkit.Equal(t, "text", out.String(), c.want)
		})
	}
}

// The names of samples and classes are not trusted; of a long id a table has the end.
func TestTable(t *testing.T) {
	r := three(predictor.Listing{Top: 3}, 0)
	for i, id := range []string{"b", "c\x1b", strings.Repeat("é", 50) + "end"} {
		r.Samples[i].ID = id
	}
	var out strings.Builder
	testkit.NoError(t, Predictions(&out, Table, r))
	testkit.WantText(t, out.String(), "  sample  id  ", "  c\uFFFD  ", "     score  next\n", "       3  …"+strings.Repeat("é", 36)+"end  été", "   -0.5000  say ")
}

func TestWriteReturnsTheErrorOfTheFile(t *testing.T) {
	for _, f := range []Format{Table, CSV} {
		testkit.WantError(t, Predictions((*os.File)(nil), f, three(predictor.Listing{Top: 3}, 0)), os.ErrInvalid.Error())
	}
}

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

// A sheet has every sample once, the least certain first; nothing that it shows is trusted.
func TestSheet(t *testing.T) {
	s, page := sheet(t)
	var got []string
	for _, c := range testkit.Must(s.cards())(t) {
		got = append(got, c.Name, c.Unsure)
	}
	testkit.Equal(t, "cards", strings.Join(got, " "), "c.jpg uncertain a.jpg  b.jpg  d.jpg ")
	testkit.WantText(t, page, "<h1>3 of 3 correct (100.0 %); 1 is of a class that is no candidate; 1 uncertain</h1>", `<option value="&lt;b&gt;owl">&lt;b&gt;owl (3)</option>`,
		"true class: stork</em>", `<span class="outside">true class is no candidate</span><span class="unsure">uncertain</span></p>`, "because 4", "95.3 %")
	testkit.Equal(t, "pictures, which the page loads in steps", strings.Count(page, `<img data-src="data:image/jpeg;base64,`), 3)
	s.Fits, s.Listing.Fit, s.Samples[3].Abstained = &model.Fit{}, 0.1, true // of which no sample has any
	testkit.Equal(t, "first card", testkit.Must(s.cards())(t)[0].Unsure, "perhaps none of these")
	for i := range s.Samples {
		s.Samples[i].Class = ""
	}
	testkit.Equal(t, "summary", s.summary(), "4 predictions; 2 uncertain")
}
