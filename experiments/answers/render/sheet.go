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
	"github.com/lago-train/lago-train/internal/webpage"
)

// Sheet is a contact sheet: a page with the picture, the predicted class and the reason of each sample, the
// least certain first, and with true classes their confusion matrix.
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
	Wrong, Outside  bool         // the true class is another one, or no candidate
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
	c = card{Prediction: from, Name: cmp.Or(from.ID, fmt.Sprint("sample ", from.Index)), Predicted: s.Candidates.Names[best.Class], Value: best.Value}
	c.Wrong = c.Class != "" && c.Class != c.Predicted
	c.Outside = c.Wrong && !slices.Contains(s.Candidates.Names, c.Class)
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
		c.Picture, err = webpage.Picture(p)
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
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Unsure), slices.Index(rank, b.Unsure)), cmp.Compare(a.Value, b.Value))
	})
	return cards, nil
}

// summary says how many predictions are right or of which classes, and how many are uncertain.
func (s *Sheet) summary(classes []classCount) string {
	const most = 5 // classes
	n := s.Count()
	text := format.Count(n.Samples, "prediction")
	if n.Known > 0 {
		text = fmt.Sprintf("%d of %d right", n.Correct, n.Known)
	} else {
		for i, c := range classes[:min(most, len(classes))] {
			text += fmt.Sprintf("%s %d %s", []string{":", ","}[min(i, 1)], c.Samples, format.ClassName(c.Name))
		}
		if others := len(classes) - most; others > 0 {
			text += ", and " + format.Count(others, "other class")
		}
	}
	if n.Abstained > 0 {
		text += fmt.Sprintf(", %d uncertain", n.Abstained)
	}
	return text
}

// classCount is the samples that are predicted as a class.
type classCount struct {
	Name    string
	Samples int
}

// counts lists the predicted classes, those with most samples first.
func counts(cards []card) (list []classCount) {
	for _, c := range cards {
		i := slices.IndexFunc(list, func(of classCount) bool { return of.Name == c.Predicted })
		if i < 0 {
			i, list = len(list), append(list, classCount{Name: c.Predicted})
		}
		list[i].Samples++
	}
	slices.SortFunc(list, func(a, b classCount) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// confusionRow is a true class with the samples predicted as each class.
type confusionRow struct {
	Class string
	Cells []classCount // Name is the predicted class
}

// confusion has the classes that are true or predicted; nil without true classes.
func confusion(cards []card) (rows []confusionRow) {
	samples, names := map[[2]string]int{}, []string(nil)
	for _, c := range cards {
		if c.Class != "" {
			samples[[2]string{c.Class, c.Predicted}]++
			names = append(names, c.Class, c.Predicted)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, class := range names {
		row := confusionRow{Class: class}
		for _, predicted := range names {
			row.Cells = append(row.Cells, classCount{predicted, samples[[2]string{class, predicted}]})
		}
		rows = append(rows, row)
	}
	return rows
}

var (
	//go:embed sheet.html
	sheetHTML string
	//go:embed sheet.css
	sheetCSS string
	//go:embed sheet.js
	sheetJS string

	sheetPage = webpage.New("sheet", sheetHTML, sheetCSS, sheetJS, template.FuncMap{
		"name": format.ClassName, "number": func(v float64) string { return fmt.Sprintf("%.3f", v) }, "percent": percent,
	})
)

// Write writes the page: one file that loads nothing else.
func (s *Sheet) Write(w io.Writer) error {
	cards, err := s.cards()
	if err != nil {
		return err
	}
	classes := counts(cards)
	return sheetPage.Execute(w, map[string]any{
		"Title": s.summary(classes), "Note": s.Note, "Value": valueName(s.Predictions), "Fits": s.Fits != nil,
		"Cards": cards, "Classes": classes, "Confusion": confusion(cards),
	})
}
