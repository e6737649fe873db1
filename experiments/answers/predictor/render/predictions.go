// Package render writes what package predictor answers: predictions as a table, CSV or a page of pictures,
// and the explanation of one as text, JSON or a page; and it says in a sentence why a class is
// predicted.
package render

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/csv"
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
)

// Format is the format in which answers are written.
type Format string

// The formats.
const (
	Text  Format = "text"  // an explanation for people
	JSON  Format = "json"  // an explanation
	Table Format = "table" // predictions for people
	CSV   Format = "csv"
	HTML  Format = "html" // an explanation, or a contact sheet of predictions
)

// PictureSide is the largest side in pixels that a picture on a page needs.
const PictureSide = 320

// Predictions writes predictions, one per line, as a table or CSV.
func Predictions(w io.Writer, f Format, r *predictor.Predictions) error {
	l := &listing{Predictions: r}
	for _, s := range r.Samples {
		l.longestID = max(l.longestID, utf8.RuneCountInString(s.ID))
		l.labelled = l.labelled || s.Class != ""
	}
	buffered := bufio.NewWriter(w) // keeps the first error, which Flush returns
	if f == CSV {
		l.writeCSV(buffered)
	} else {
		l.writeTable(buffered)
	}
	return buffered.Flush()
}

type listing struct {
	*predictor.Predictions
	longestID int  // 0 without ids
	labelled  bool // whether true classes are known
}

func (l *listing) record(index, id, class, prediction, fit string) []string {
	record := []string{index}
	if l.longestID > 0 {
		record = append(record, id)
	}
	if l.labelled {
		record = append(record, class)
	}
	record = append(record, prediction)
	if l.Fits != nil {
		record = append(record, fit)
	}
	return record
}

func valueName(r *predictor.Predictions) string {
	if r.Temperature > 0 {
		return "probability"
	}
	return "score"
}

func (l *listing) value(v float64) string {
	if l.Temperature > 0 {
		return format.Percent(v)
	}
	return fmt.Sprintf("%.4f", v)
}

// writeCSV leaves the prediction empty if the model abstains.
func (l *listing) writeCSV(to io.Writer) {
	w := csv.NewWriter(to)
	header, value := l.record("sample", "id", "true_class", "prediction", "fit"), valueName(l.Predictions)
	for i := range min(l.Top, len(l.Candidates.Names)) {
		header = append(header, fmt.Sprintf("class_%d", i+1), fmt.Sprintf("%s_%d", value, i+1))
	}
	_ = w.Write(header) // to a buffer
	for _, s := range l.Samples {
		prediction := ""
		if !s.Abstained {
			prediction = l.Candidates.Names[s.Best[0].Class]
		}
		fit := strconv.FormatFloat(s.Fit, 'g', 4, 64)
		record := l.record(strconv.Itoa(s.Index), s.ID, s.Class, prediction, fit)
		for _, b := range s.Best {
			record = append(record, l.Candidates.Names[b.Class], strconv.FormatFloat(b.Value, 'g', 7, 32))
		}
		_ = w.Write(record)
	}
	w.Flush()
}

// maxID is the widest column of ids. Of longer ones it has the end; the other formats have all of it.
const maxID = 40

// writeTable is for many rows: internal/table would keep their texts in memory.
func (l *listing) writeTable(to io.Writer) {
	width := len("true class")
	for _, name := range l.Candidates.Names {
		width = max(width, utf8.RuneCountInString(format.Printable(name)))
	}
	class := fmt.Sprintf("%%-%ds", width)
	id := fmt.Sprintf("%%-%ds", min(max(l.longestID, len("id")), maxID))
	forms := l.record("%8s", id, class, "%s", "%7s")
	write := func(cells []string, next string) {
		for i, form := range forms {
			cells[i] = format.Isolate(fmt.Sprintf(form, cells[i]))
		}
		if next != "" {
			cells = append(cells, next)
		}
		_, _ = fmt.Fprintln(to, strings.Join(cells, "  ")) // see buffered.Flush
	}
	predicted := func(name, value string) string {
		return format.Isolate(fmt.Sprintf(class, format.Printable(name))) + fmt.Sprintf("  %11s", value)
	}
	next := ""
	if min(l.Top, len(l.Candidates.Names)) > 1 {
		next = "next"
	}
	header := predicted("prediction", valueName(l.Predictions))
	write(l.record("sample", "id", "true class", header, "fit"), next)
	for _, s := range l.Samples {
		name, others := l.Candidates.Names[s.Best[0].Class], s.Best[1:]
		if s.Abstained {
			name, others = "(abstain)", s.Best
		}
		id := []rune(format.Printable(s.ID))
		if len(id) > maxID {
			id = append([]rune("…"), id[len(id)-maxID+1:]...)
		}
		prediction := predicted(name, l.value(s.Best[0].Value))
		cells := l.record(strconv.Itoa(s.Index), string(id), format.Printable(s.Class), prediction,
			format.Percent(s.Fit))
		write(cells, l.valued(others, func(name string) string {
			return format.Isolate(format.Printable(name))
		}))
	}
}

func (l *listing) valued(list []predictor.Value, name func(string) string) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, name(l.Candidates.Names[v.Class])+" "+l.value(v.Value))
	}
	return strings.Join(texts, ", ")
}

// Sheet is a contact sheet: a page with the picture, the predicted class and the reason of each sample, the
// least certain first.
type Sheet struct {
	*predictor.Predictions
	Note string
	// Picture returns the picture of a prediction, nil if there is none.
	Picture func(s predictor.Prediction) (image.Image, error)
}

type card struct {
	predictor.Prediction
	Name, Predicted string
	Value           string
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

func (s *Sheet) card(from predictor.Prediction) (c card, err error) {
	best, l := from.Best[0], &listing{Predictions: s.Predictions}
	c = card{
		Prediction: from, Name: cmp.Or(from.ID, fmt.Sprint("sample ", from.Index)),
		Predicted: s.Candidates.Names[best.Class], Value: l.value(best.Value),
		Next: l.valued(from.Best[1:], format.ClassName),
	}
	c.Outside = c.Class != "" && !slices.Contains(s.Candidates.Names, c.Class)
	c.Wrong = c.Class != "" && c.Class != c.Predicted && !c.Outside
	switch {
	case s.Fits != nil && from.Fit < s.Listing.Fit:
		c.Unsure = noneOfThese
	case from.Abstained:
		c.Unsure = uncertain
	}
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
			cmp.Compare(a.Best[0].Value, b.Best[0].Value))
	})
	return cards, nil
}

type classCount struct {
	Name    string
	Samples int
}

func counts(samples []predictor.Prediction, names []string) (list []classCount) {
	byClass := map[int]int{}
	for _, s := range samples {
		byClass[s.Best[0].Class]++
	}
	for z, n := range byClass {
		list = append(list, classCount{names[z], n})
	}
	slices.SortFunc(list, func(a, b classCount) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func (s *Sheet) summary() string {
	n := s.Count()
	text := format.Count(n.Samples, "prediction")
	if n.Known > 0 {
		text = fmt.Sprintf("%d of %d correct", n.Correct, n.Known-n.Outside)
		if n.Outside < n.Known {
			text += fmt.Sprintf(" (%s)", format.Percent(float64(n.Correct)/float64(n.Known-n.Outside)))
		}
		switch n.Outside {
		case 0:
		case 1:
			text += "; 1 is of a class that is no candidate"
		default:
			text += fmt.Sprintf("; %d are of classes that are no candidates", n.Outside)
		}
	}
	if n.Abstained > 0 {
		text += fmt.Sprintf("; %d uncertain", n.Abstained)
	}
	return text
}

func states(cards []card) (list [][2]string) {
	for _, state := range []struct {
		class, text string
		has         func(c card) bool
	}{
		{"wrong", "wrong", func(c card) bool { return c.Wrong }},
		{"outside", "true class is no candidate", func(c card) bool { return c.Outside }},
		{"unsure", "uncertain", func(c card) bool { return c.Unsure != "" }},
	} {
		if slices.ContainsFunc(cards, state.has) {
			list = append(list, [2]string{state.class, state.text})
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
		"name": format.ClassName, "percent": format.Percent,
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
		"Title": s.summary(), "Note": s.Note, "Value": valueName(s.Predictions), "Fits": s.Fits != nil,
		"Cards": cards, "Classes": classes, "States": states(cards),
	})
}
