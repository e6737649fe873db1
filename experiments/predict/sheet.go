package predict

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"io"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/webpage"
)

// Sheet is a contact sheet: a page with the picture, the predicted class and the reason of each
// sample, by class, with the uncertain ones apart.
type Sheet struct {
	Title, Note string
	Confidence  float64 // Options.Confidence
	// Picture returns the picture of the i-th sample, nil if there is none.
	Picture func(i int) (image.Image, error)
	// Reason says why the sample of a row of features is predicted as it is; nil to leave it out.
	Reason func(x dataset.Matrix[float32], row int) (string, error)

	cards []card
	value string // "probability" or "score"
}

// card is one sample on the sheet.
type card struct {
	Name, Class, Reason, Label string
	Value                      float64
	Wrong, abstain             bool
	Picture                    template.URL // "" without one
}

// PictureSide is the largest side of a picture on the sheet in pixels.
const PictureSide = 160

const pictureQuality = 80 // of JPEG

// add adds the i-th sample.
func (s *Sheet) add(i int, from sample, class string) error {
	c := card{Name: cmp.Or(from.id, fmt.Sprint("sample ", from.index)), Class: class, Value: from.values[0], abstain: from.abstain, Label: from.class}
	c.Wrong = c.Label != "" && c.Label != class
	if s.Picture != nil {
		p, err := s.Picture(i)
		if err != nil {
			return err
		}
		if p != nil {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, p, &jpeg.Options{Quality: pictureQuality}); err != nil {
				return err
			}
			c.Picture = template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b.Bytes())) //nolint:gosec // encoded above
		}
	}
	if s.Reason != nil {
		var err error
		if c.Reason, err = s.Reason(from.x, from.row); err != nil {
			return err
		}
	}
	s.cards = append(s.cards, c)
	return nil
}

// sheetSection is the samples of one predicted class, or the uncertain ones.
type sheetSection struct {
	Title string
	Cards []card
}

// sections sorts the samples by class, the most probable first.
func (s *Sheet) sections() (list []sheetSection) {
	cards := slices.Clone(s.cards)
	slices.SortStableFunc(cards, func(a, b card) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(b.Value, a.Value)) })
	var uncertain []card
	for _, c := range cards {
		if c.abstain {
			uncertain = append(uncertain, c)
			continue
		}
		if n := len(list); n == 0 || list[n-1].Cards[0].Class != c.Class {
			list = append(list, sheetSection{Title: format.ClassName(c.Class)})
		}
		list[len(list)-1].Cards = append(list[len(list)-1].Cards, c)
	}
	if len(uncertain) > 0 {
		list = append(list, sheetSection{fmt.Sprintf("Uncertain: a %s below %g", s.value, s.Confidence), uncertain})
	}
	for i, of := range list {
		list[i].Title += fmt.Sprintf(" (%d)", len(of.Cards))
	}
	return list
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

// Write writes the page of the samples that Run predicted: one file that loads nothing else.
func (s *Sheet) Write(w io.Writer) error {
	return sheetPage.Execute(w, map[string]any{"Title": s.Title, "Note": s.Note, "Value": s.value, "Sections": s.sections()})
}
