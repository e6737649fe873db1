package predict

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format is how predictions are written.
type Format string

// The formats.
const (
	Table Format = "table" // for people
	CSV   Format = "csv"
	JSONL Format = "jsonl" // a JSON object a line
)

// UnmarshalText reads "table", "csv" or "jsonl".
func (f *Format) UnmarshalText(text []byte) error {
	switch Format(text) {
	case Table, CSV, JSONL:
		*f = Format(text)
		return nil
	}
	return fmt.Errorf("expected table, csv or jsonl, found %q", text)
}

// sample is a prediction as it is written.
type sample struct {
	row   int    // in the file or the data set, from 0
	class string // its own, where that is known
	*ranked
}

// format appends lines to a buffer.
type format interface {
	head(b []byte) []byte
	line(b []byte, s sample) []byte
}

// writer writes predictions, block by block.
type writer struct {
	w       io.Writer
	format  format
	buffer  []byte
	classes []string
	origin  labelled        // nil where samples have no classes
	among   map[string]bool // the classes that are chosen between
	count   Count
}

func newWriter(w io.Writer, classes []string, o Options, src Source) *writer {
	out := &writer{w: w, classes: classes, among: make(map[string]bool, len(classes))}
	for _, name := range classes {
		out.among[name] = true
	}
	out.origin, _ = src.(labelled)
	c := columns{classes: classes, top: min(o.Top, len(classes)), probabilities: o.Temperature > 0, labelled: out.origin != nil}
	switch o.Format {
	case CSV:
		out.format = csvFormat{c, quoted(classes, csvCell)}
	case JSONL:
		out.format = jsonFormat{c, quoted(classes, jsonText)}
	default:
		out.format = newTableFormat(c)
	}
	return out
}

func (w *writer) head() error {
	_, err := w.w.Write(w.format.head(nil))
	return err
}

func (w *writer) write(b *block) error {
	w.buffer = w.buffer[:0]
	for i := range b.n {
		s := sample{row: b.first + i, ranked: &b.ranked[i]}
		if w.origin != nil {
			s.row, s.class = w.origin.sample(s.row)
		}
		w.tally(s)
		w.buffer = w.format.line(w.buffer, s)
	}
	_, err := w.w.Write(w.buffer)
	return err
}

func (w *writer) tally(s sample) {
	w.count.Samples++
	if s.unsure {
		w.count.Unsure++
	}
	if w.origin != nil && w.among[s.class] {
		w.count.Labelled++
		if !s.unsure && w.classes[s.ranked.classes[0]] == s.class {
			w.count.Right++
		}
	}
}

// columns are what a line tells.
type columns struct {
	classes       []string
	top           int
	probabilities bool // else scores
	labelled      bool
}

// value names the number of a class.
func (c columns) value() string {
	if c.probabilities {
		return "probability"
	}
	return "score"
}

// number appends a probability or a score with the digits that float32 has.
func number(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'g', 7, 32) }

// quoted are texts as a format writes them.
func quoted(texts []string, quote func(string) string) []string {
	q := make([]string, len(texts))
	for i, t := range texts {
		q[i] = quote(t)
	}
	return q
}

type csvFormat struct {
	columns
	names []string
}

func csvCell(text string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write([]string{text}); err != nil {
		panic(err) // a buffer takes all
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

func (f csvFormat) head(b []byte) []byte {
	b = append(b, "sample"...)
	if f.labelled {
		b = append(b, ",true_class"...)
	}
	b = append(b, ",prediction"...)
	for i := range f.top {
		b = fmt.Appendf(b, ",class_%d,%s_%d", i+1, f.value(), i+1)
	}
	return append(b, '\n')
}

// line leaves the prediction empty where the model is unsure.
func (f csvFormat) line(b []byte, s sample) []byte {
	b = strconv.AppendInt(b, int64(s.row), 10)
	if f.labelled {
		b = append(append(b, ','), csvCell(s.class)...)
	}
	b = append(b, ',')
	if !s.unsure {
		b = append(b, f.names[s.classes[0]]...)
	}
	for i, z := range s.classes {
		b = append(append(append(b, ','), f.names[z]...), ',')
		b = number(b, s.values[i])
	}
	return append(b, '\n')
}

type jsonFormat struct {
	columns
	names []string
}

func jsonText(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // any string has an encoding
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f jsonFormat) head(b []byte) []byte { return b }

// line gives null for the prediction where the model is unsure.
func (f jsonFormat) line(b []byte, s sample) []byte {
	b = append(b, `{"sample":`...)
	b = strconv.AppendInt(b, int64(s.row), 10)
	if f.labelled {
		b = append(append(b, `,"true_class":`...), jsonText(s.class)...)
	}
	b = append(b, `,"prediction":`...)
	if s.unsure {
		b = append(b, "null"...)
	} else {
		b = append(b, f.names[s.classes[0]]...)
	}
	b = append(b, `,"top":[`...)
	for i, z := range s.classes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"class":`...), f.names[z]...)
		b = append(append(append(b, `,"`...), f.value()...), `":`...)
		b = append(number(b, s.values[i]), '}')
	}
	return append(b, "]}\n"...)
}

// tableFormat has columns of one width from the first line on: a table that is drawn
// when all lines are known would hold them in memory.
type tableFormat struct {
	columns
	width int // of a class
}

// unsure is what a table has for the class that a model is not sure enough of.
const unsure = "unsure"

func newTableFormat(c columns) tableFormat {
	f := tableFormat{c, len("true class")}
	for _, name := range c.classes {
		f.width = max(f.width, utf8.RuneCountInString(name))
	}
	return f
}

const indexWidth = 8

func (f tableFormat) head(b []byte) []byte {
	b = fmt.Appendf(b, "%*s  ", indexWidth, "sample")
	if f.labelled {
		b = fmt.Appendf(b, "%-*s  ", f.width, "true class")
	}
	b = fmt.Appendf(b, "%-*s  %11s", f.width, "prediction", f.value())
	if f.top > 1 {
		b = append(b, "  next"...)
	}
	return append(b, '\n')
}

func (f tableFormat) line(b []byte, s sample) []byte {
	b = fmt.Appendf(b, "%*d  ", indexWidth, s.row)
	if f.labelled {
		b = fmt.Appendf(b, "%-*s  ", f.width, s.class)
	}
	name, next := f.classes[s.classes[0]], 1
	if s.unsure {
		name, next = unsure, 0
	}
	b = fmt.Appendf(b, "%-*s  %11.4f", f.width, name, s.values[0])
	for i := next; i < len(s.classes); i++ {
		separator := ", "
		if i == next {
			separator = "  "
		}
		b = fmt.Appendf(b, "%s%s %.4f", separator, f.classes[s.classes[i]], s.values[i])
	}
	return append(b, '\n')
}
