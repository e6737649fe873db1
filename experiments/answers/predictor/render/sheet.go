package render

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"image"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
)

// Sheet is a contact sheet: a page with the picture, the predicted class and the reason of each sample, the
// least certain first.
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
	Wrong           bool         // the true class is another candidate
	Outside         bool         // the true class is no candidate
	Unsure          string       // why the model abstains, "" if it does not
	Next            string       // the classes after the best one
	Picture         template.URL // "" without one
}

// Why the model abstains.
const (
	noneOfThese = "perhaps none of these"
	uncertain   = "uncertain"
)

// card returns that of a prediction.
func (s *Sheet) card(from predictor.Prediction) (c card, err error) {
	best := from.Best[0]
	c = card{
		Prediction: from, Name: cmp.Or(from.ID, fmt.Sprint("sample ", from.Index)),
		Predicted: s.Candidates.Names[best.Class], Value: best.Value,
	}
	c.Outside = c.Class != "" && !slices.Contains(s.Candidates.Names, c.Class)
	c.Wrong = c.Class != "" && c.Class != c.Predicted && !c.Outside
	switch {
	case s.Fits != nil && from.Fit < s.Listing.Fit:
		c.Unsure = noneOfThese
	case from.Abstained:
		c.Unsure = uncertain
	}
	var next []string
	for _, b := range from.Best[1:] {
		next = append(next, fmt.Sprintf("%s %.3f", format.ClassName(s.Candidates.Names[b.Class]), b.Value))
	}
	c.Next = strings.Join(next, ", ")
	p, err := s.Picture(from)
	if err == nil && p != nil {
		c.Picture, err = format.Picture(p)
	}
	return c, err
}

// cards are those of all samples: those that may be of none of the classes, the uncertain ones, and the
// others, each the least certain first.
func (s *Sheet) cards() ([]card, error) {
	cards := make([]card, len(s.Samples))
	for i, from := range s.Samples {
		var err error
		if cards[i], err = s.card(from); err != nil {
			return nil, err
		}
	}
	rank := []string{noneOfThese, uncertain, ""}
	slices.SortStableFunc(cards, func(a, b card) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Unsure), slices.Index(rank, b.Unsure)),
			cmp.Compare(a.Value, b.Value))
	})
	return cards, nil
}

// summary says how many predictions are right of those that could be, or of which classes they are, and how
// many are uncertain.
func (s *Sheet) summary(classes []classCount) string {
	const most = 5 // classes
	n := s.Count()
	text := format.Count(n.Samples, "prediction")
	if of := n.Known - n.Outside; n.Known > 0 {
		text = fmt.Sprintf("%d of %d right", n.Correct, of)
		switch n.Outside {
		case 0:
		case 1:
			text += "; 1 is of a class that is no candidate"
		default:
			text += fmt.Sprintf("; %d are of classes that are no candidates", n.Outside)
		}
	} else {
		for i, c := range classes[:min(most, len(classes))] {
			text += fmt.Sprintf("%s %d %s", []string{":", ","}[min(i, 1)], c.Samples,
				format.ClassName(c.Name))
		}
		if others := len(classes) - most; others > 0 {
			text += ", and " + format.Count(others, "other class")
		}
	}
	if n.Abstained > 0 {
		text += fmt.Sprintf("; %d uncertain", n.Abstained)
	}
	return text
}

// states lists how cards are marked that have a mark, with what it means.
func states(cards []card) (list [][2]string) {
	all := [][2]string{{"wrong", "wrong"}, {"outside", "true class is no candidate"}, {"unsure", "uncertain"}}
	for i, is := range []func(c card) bool{
		func(c card) bool { return c.Wrong }, func(c card) bool { return c.Outside }, func(c card) bool {
			return c.Unsure != ""
		},
	} {
		if slices.ContainsFunc(cards, is) {
			list = append(list, all[i])
		}
	}
	return list
}

var (
	//go:embed sheet.html
	sheetHTML string
	//go:embed sheet.css
	sheetCSS string
	//go:embed sheet.js
	sheetJS string

	sheetPage = format.NewPage("sheet", sheetHTML, sheetCSS, sheetJS, template.FuncMap{
		"name": format.ClassName, "number": func(v float64) string { return fmt.Sprintf("%.3f", v) },
		"percent": percent,
	})
)

// Write writes the page: one file that loads nothing else.
func (s *Sheet) Write(w io.Writer) error {
	cards, err := s.cards()
	if err != nil {
		return err
	}
	classes := counts(s.Samples, s.Candidates.Names)
	return sheetPage.Execute(w, map[string]any{
		"Title": s.summary(classes), "Note": s.Note, "Value": valueName(s.Predictions), "Fits": s.Fits != nil,
		"Cards": cards, "Classes": classes, "States": states(cards),
	})
}
