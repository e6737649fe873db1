package predict

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lago-train/lago-train/internal/format"
)

// Format is the format in which predictions are written.
type Format string

// The formats.
const (
	Table Format = "table" // for people
	CSV   Format = "csv"
	JSONL Format = "jsonl" // one JSON object per line
)

// output writes predictions and counts them.
type output struct {
	encoder
	classes []string
	among   map[string]bool // classes as a set
	samples Identified      // nil if neither ids nor true classes are known
	count   Count
}

// encoder writes predictions in one format.
type encoder interface {
	header() error
	// write writes the prediction of the sample with the given index. id and trueClass are
	// "" if they are not known.
	write(index int, id, trueClass string, r *ranking) error
	flush() error
}

// columns are what the formats have in common.
type columns struct {
	classes  []string
	top      int
	id       int    // length of the longest id, 0 without ids
	labelled bool   // whether true classes are known
	value    string // "probability" or "score"
}

func newOutput(w io.Writer, classes []string, o Options, src Source) *output {
	out := &output{classes: classes, among: make(map[string]bool, len(classes))}
	for _, name := range classes {
		out.among[name] = true
	}
	c := columns{classes: classes, top: min(o.Top, len(classes)), value: "score"}
	if s, ok := src.(Identified); ok {
		out.samples = s
		c.id, c.labelled = s.Known()
	}
	if o.Temperature > 0 {
		c.value = "probability"
	}
	switch o.Format {
	case CSV:
		out.encoder = &csvEncoder{columns: c, w: csv.NewWriter(w)}
	case JSONL:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		out.encoder = &jsonEncoder{columns: c, encoder: e}
	default:
		out.encoder = newTableEncoder(c, w)
	}
	return out
}

func (out *output) writeBlock(b *block) error {
	for i := range b.n {
		r, index, id, trueClass := &b.ranked[i], b.first+i, "", ""
		if out.samples != nil {
			index, id, trueClass = out.samples.Sample(index)
		}
		out.count.Samples++
		if r.abstain {
			out.count.Abstained++
		}
		if out.among[trueClass] {
			out.count.Labelled++
			if !r.abstain && out.classes[r.classes[0]] == trueClass {
				out.count.Correct++
			}
		}
		if err := out.write(index, id, trueClass, r); err != nil {
			return err
		}
	}
	return out.flush()
}

type csvEncoder struct {
	columns
	w      *csv.Writer
	record []string
}

func (e *csvEncoder) header() error {
	record := []string{"sample"}
	if e.id > 0 {
		record = append(record, "id")
	}
	if e.labelled {
		record = append(record, "true_class")
	}
	record = append(record, "prediction")
	for i := range e.top {
		record = append(record, fmt.Sprintf("class_%d", i+1), fmt.Sprintf("%s_%d", e.value, i+1))
	}
	return e.w.Write(record)
}

// write leaves the prediction empty if the model abstains.
func (e *csvEncoder) write(index int, id, trueClass string, r *ranking) error {
	e.record = append(e.record[:0], strconv.Itoa(index))
	if e.id > 0 {
		e.record = append(e.record, id)
	}
	if e.labelled {
		e.record = append(e.record, trueClass)
	}
	prediction := ""
	if !r.abstain {
		prediction = e.classes[r.classes[0]]
	}
	e.record = append(e.record, prediction)
	for i, z := range r.classes {
		e.record = append(e.record, e.classes[z], strconv.FormatFloat(r.values[i], 'g', 7, 32))
	}
	return e.w.Write(e.record)
}

func (e *csvEncoder) flush() error {
	e.w.Flush()
	return e.w.Error()
}

// jsonLine is one line of JSONL.
type jsonLine struct {
	Sample     int         `json:"sample"`
	ID         string      `json:"id,omitempty"`
	TrueClass  string      `json:"true_class,omitempty"`
	Prediction *string     `json:"prediction"` // null if the model abstains
	Top        []jsonClass `json:"top"`
}

// jsonClass has either a probability or a score.
type jsonClass struct {
	Class       string   `json:"class"`
	Probability *float32 `json:"probability,omitempty"`
	Score       *float32 `json:"score,omitempty"`
}

type jsonEncoder struct {
	columns
	encoder *json.Encoder
	top     []jsonClass
}

func (e *jsonEncoder) header() error { return nil }
func (e *jsonEncoder) flush() error  { return nil }

func (e *jsonEncoder) write(index int, id, trueClass string, r *ranking) error {
	line := jsonLine{Sample: index, ID: id, TrueClass: trueClass, Top: e.top[:0]}
	if !r.abstain {
		line.Prediction = &e.classes[r.classes[0]]
	}
	for i, z := range r.classes {
		value, c := float32(r.values[i]), jsonClass{Class: e.classes[z]}
		if e.value == "score" {
			c.Score = &value
		} else {
			c.Probability = &value
		}
		line.Top = append(line.Top, c)
	}
	e.top = line.Top
	return e.encoder.Encode(line)
}

// tableEncoder has columns of fixed width: internal/format would need all rows in
// memory.
type tableEncoder struct {
	columns
	w     io.Writer
	width int // of a class name
	line  []byte
}

// maxID is the widest column of ids. Of longer ones it has the end; the other formats have
// all of it.
const maxID = 40

func lastOf(id string) string {
	if r := []rune(format.Printable(id)); len(r) > maxID {
		return "…" + string(r[len(r)-maxID+1:])
	}
	return format.Printable(id)
}

func newTableEncoder(c columns, w io.Writer) *tableEncoder {
	e := &tableEncoder{columns: c, w: w, width: len("true class")}
	if e.id > 0 {
		e.id = min(max(e.id, len("id")), maxID)
	}
	e.classes = slices.Clone(c.classes)
	for i, name := range e.classes {
		e.classes[i] = format.Printable(name)
		e.width = max(e.width, utf8.RuneCountInString(e.classes[i]))
	}
	return e
}

func (e *tableEncoder) header() error {
	e.line = append(e.line, "  sample  "...)
	if e.id > 0 {
		e.line = fmt.Appendf(e.line, "%-*s  ", e.id, "id")
	}
	if e.labelled {
		e.line = fmt.Appendf(e.line, "%-*s  ", e.width, "true class")
	}
	e.line = fmt.Appendf(e.line, "%-*s  %11s", e.width, "prediction", e.value)
	if e.top > 1 {
		e.line = append(e.line, "  next"...)
	}
	e.line = append(e.line, '\n')
	return nil
}

func (e *tableEncoder) write(index int, id, trueClass string, r *ranking) error {
	e.line = fmt.Appendf(e.line, "%8d  ", index)
	if e.id > 0 {
		e.line = fmt.Appendf(e.line, "%-*s  ", e.id, lastOf(id))
	}
	if e.labelled {
		e.line = fmt.Appendf(e.line, "%-*s  ", e.width, format.Printable(trueClass))
	}
	name, next := e.classes[r.classes[0]], 1
	if r.abstain {
		name, next = "(abstain)", 0
	}
	e.line = fmt.Appendf(e.line, "%-*s  %11.4f", e.width, name, r.values[0])
	separator := "  "
	for i := next; i < len(r.classes); i++ {
		e.line = fmt.Appendf(e.line, "%s%s %.4f", separator, e.classes[r.classes[i]], r.values[i])
		separator = ", "
	}
	e.line = append(e.line, '\n')
	return nil
}

func (e *tableEncoder) flush() error {
	_, err := e.w.Write(e.line)
	e.line = e.line[:0]
	return err
}
