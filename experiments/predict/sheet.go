package predict

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"io"
	"slices"

	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/webpage"
)

// Sheet is a contact sheet: a page with the picture, the predicted class and the reason of each
// sample, by class, with the uncertain ones apart.
type Sheet struct {
	*predictor.Predictions
	Note string
	// Picture returns the picture of a prediction, nil if there is none.
	Picture func(s predictor.Prediction) (image.Image, error)
}

// card is one sample on the sheet.
type card struct {
	predictor.Prediction
	Name, Predicted string
	Value           float64
	Wrong           bool
	Picture         template.URL // "" without one
}

// PictureSide is the largest side of a picture on the sheet in pixels.
const PictureSide = 160

// card returns that of a prediction.
func (s *Sheet) card(from predictor.Prediction) (c card, err error) {
	c = card{
		Prediction: from, Name: cmp.Or(from.ID, fmt.Sprint("sample ", from.Index)),
		Predicted: s.Candidates.Names[from.Best[0].Class], Value: from.Best[0].Value,
	}
	c.Wrong = c.Class != "" && c.Class != c.Predicted
	p, err := s.Picture(from)
	if err == nil && p != nil {
		c.Picture, err = webpage.Picture(p)
	}
	return c, err
}

// sheetSection is the samples of one predicted class, or the uncertain ones.
type sheetSection struct {
	Title string
	Cards []card
}

// sections sorts the samples by predicted class, the most probable first.
func (s *Sheet) sections() (list []sheetSection, err error) {
	cards := make([]card, len(s.Samples))
	for i, from := range s.Samples {
		if cards[i], err = s.card(from); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(a.Predicted, b.Predicted), cmp.Compare(b.Value, a.Value))
	})
	var uncertain []card
	for _, c := range cards {
		if c.Abstained {
			uncertain = append(uncertain, c)
			continue
		}
		if n := len(list); n == 0 || list[n-1].Cards[0].Predicted != c.Predicted {
			list = append(list, sheetSection{Title: format.ClassName(c.Predicted)})
		}
		list[len(list)-1].Cards = append(list[len(list)-1].Cards, c)
	}
	if len(uncertain) > 0 {
		list = append(list, sheetSection{fmt.Sprintf("Uncertain: a %s below %g", valueName(s.Predictions), s.Confidence), uncertain})
	}
	for i, section := range list {
		list[i].Title += fmt.Sprintf(" (%d)", len(section.Cards))
	}
	return list, nil
}

var (
	//go:embed sheet.html
	sheetHTML string
	//go:embed sheet.css
	sheetCSS string

	sheetPage = webpage.New("sheet", sheetHTML, sheetCSS, "", template.FuncMap{
		"name": format.ClassName, "number": func(v float64) string { return fmt.Sprintf("%.3f", v) },
	})
)

// Write writes the page: one file that loads nothing else.
func (s *Sheet) Write(w io.Writer) error {
	sections, err := s.sections()
	if err != nil {
		return err
	}
	title := format.Count(len(s.Samples), "prediction")
	return sheetPage.Execute(w, map[string]any{"Title": title, "Note": s.Note, "Value": valueName(s.Predictions), "Sections": sections})
}
