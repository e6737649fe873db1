// Package render writes what package predictor answers: predictions as a table, CSV or a page of pictures,
// and the explanation of one as text, JSON or a page; and it says in a sentence why a class is
// predicted.
package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
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
	out := &output{Writer: bufio.NewWriter(w), Predictions: r}
	for _, s := range r.Samples {
		out.id = max(out.id, utf8.RuneCountInString(s.ID))
		out.labelled = out.labelled || s.Class != ""
	}
	if f == CSV {
		return out.csv()
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
		start(s.Index, format.Printable(s.ID), format.Printable(s.Class), name,
			fmt.Sprintf("%.4f", s.Best[0].Value), percent(s.Fit))
		separator := "  "
		for _, b := range next {
			fmt.Fprintf(&line, "%s%s %.4f", separator, names[b.Class], b.Value)
			separator = ", "
		}
		end()
	}
	return out.Flush()
}

// classCount is the number of samples that are predicted as a class.
type classCount struct {
	Name    string
	Samples int
}

// counts lists the predicted classes, those with most samples first.
func counts(samples []predictor.Prediction, names []string) (list []classCount) {
	all := make([]classCount, len(names))
	for _, s := range samples {
		c := &all[s.Best[0].Class]
		c.Name = names[s.Best[0].Class]
		c.Samples++
	}
	list = slices.DeleteFunc(all, func(c classCount) bool { return c.Samples == 0 })
	slices.SortFunc(list, func(a, b classCount) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Name, b.Name))
	})
	return list
}
