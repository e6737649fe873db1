// Package predict writes predictions: as a table, CSV, JSON lines or a page of pictures. Package
// predictor makes them.
package predict

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/webpage"
)

// Format is the format in which predictions are written.
type Format string

// The formats.
const (
	Table Format = "table" // for people
	CSV   Format = "csv"
	JSONL Format = "jsonl" // one JSON object per line
	HTML  Format = "html"  // a contact sheet, with a CSV file beside it
)

// Write writes predictions, one per line, as a table, CSV or JSON lines.
func Write(w io.Writer, f Format, r *predictor.Predictions) error {
	out := &output{Writer: bufio.NewWriter(w), Predictions: r}
	for _, s := range r.Samples {
		out.id = max(out.id, utf8.RuneCountInString(s.ID))
		out.labelled = out.labelled || s.Class != ""
	}
	switch f {
	case CSV:
		return out.csv()
	case JSONL:
		return out.jsonLines()
	}
	return out.table()
}

// output is predictions on their way to a file.
type output struct {
	*bufio.Writer // keeps the first error, which Flush returns
	*predictor.Predictions
	id       int  // length of the longest id, 0 without ids
	labelled bool // whether true classes are known
}

// valueName says what the values of predictions are.
func valueName(r *predictor.Predictions) string {
	if r.Temperature > 0 {
		return "probability"
	}
	return "score"
}

// csv leaves the prediction empty if the model abstains.
func (out *output) csv() error {
	w, value := csv.NewWriter(out), valueName(out.Predictions)
	write := func(index, id, class, prediction, fit string, top []string) {
		record := []string{index}
		if out.id > 0 {
			record = append(record, id)
		}
		if out.labelled {
			record = append(record, class)
		}
		record = append(record, prediction)
		if out.Fits != nil {
			record = append(record, fit)
		}
		_ = w.Write(append(record, top...)) // to a buffer
	}
	var columns []string
	for i := range min(out.Top, len(out.Candidates.Names)) {
		columns = append(columns, fmt.Sprintf("class_%d", i+1), fmt.Sprintf("%s_%d", value, i+1))
	}
	write("sample", "id", "true_class", "prediction", "fit", columns)
	for _, s := range out.Samples {
		prediction, top := "", []string(nil)
		if !s.Abstained {
			prediction = out.Candidates.Names[s.Best[0].Class]
		}
		for _, b := range s.Best {
			top = append(top, out.Candidates.Names[b.Class], strconv.FormatFloat(b.Value, 'g', 7, 32))
		}
		write(strconv.Itoa(s.Index), s.ID, s.Class, prediction, strconv.FormatFloat(s.Fit, 'g', 4, 64), top)
	}
	w.Flush()
	return out.Flush()
}

func (out *output) jsonLines() error {
	w, value := json.NewEncoder(out), valueName(out.Predictions)
	w.SetEscapeHTML(false)
	for _, s := range out.Samples {
		line := struct {
			Sample     int              `json:"sample"`
			ID         string           `json:"id,omitempty"`
			TrueClass  string           `json:"true_class,omitempty"`
			Prediction *string          `json:"prediction"` // null if the model abstains
			Fit        *float64         `json:"fit,omitempty"`
			Top        []map[string]any `json:"top"` // class, and probability or score
		}{Sample: s.Index, ID: s.ID, TrueClass: s.Class}
		if !s.Abstained {
			line.Prediction = &out.Candidates.Names[s.Best[0].Class]
		}
		if out.Fits != nil {
			line.Fit = &s.Fit
		}
		for _, b := range s.Best {
			line.Top = append(line.Top, map[string]any{"class": out.Candidates.Names[b.Class], value: float32(b.Value)})
		}
		if err := w.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// maxID is the widest column of ids. Of longer ones it has the end; the other formats have all of it.
const maxID = 40

// table is for many rows: internal/table would keep their texts in memory.
func (out *output) table() error {
	names, width := slices.Clone(out.Candidates.Names), len("true class")
	for i, name := range names {
		names[i] = format.Printable(name)
		width = max(width, utf8.RuneCountInString(names[i]))
	}
	var line bytes.Buffer
	start := func(index any, id, class, prediction, value, fit string) {
		fmt.Fprintf(&line, "%8v  ", index)
		if out.id > 0 {
			if r := []rune(id); len(r) > maxID {
				id = "…" + string(r[len(r)-maxID+1:])
			}
			fmt.Fprintf(&line, "%-*s  ", min(max(out.id, len("id")), maxID), id)
		}
		if out.labelled {
			fmt.Fprintf(&line, "%-*s  ", width, class)
		}
		fmt.Fprintf(&line, "%-*s  %11s", width, prediction, value)
		if out.Fits != nil {
			fmt.Fprintf(&line, "  %5s", fit)
		}
	}
	end := func() {
		line.WriteByte('\n')
		_, _ = line.WriteTo(out) // see Flush
	}
	start("sample", "id", "true class", "prediction", valueName(out.Predictions), "fit")
	if min(out.Top, len(names)) > 1 {
		line.WriteString("  next")
	}
	end()
	for _, s := range out.Samples {
		name, next := names[s.Best[0].Class], s.Best[1:]
		if s.Abstained {
			name, next = "(abstain)", s.Best
		}
		start(s.Index, format.Printable(s.ID), format.Printable(s.Class), name, fmt.Sprintf("%.4f", s.Best[0].Value), percent(s.Fit))
		separator := "  "
		for _, b := range next {
			fmt.Fprintf(&line, "%s%s %.4f", separator, names[b.Class], b.Value)
			separator = ", "
		}
		end()
	}
	return out.Flush()
}

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

// PictureSide is the largest side of a picture on the sheet in pixels.
const PictureSide = 320

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
