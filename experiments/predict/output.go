package predict

import (
	"bytes"
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

// output writes predictions, block by block, and counts them.
type output struct {
	encoder
	w        io.Writer
	block    bytes.Buffer // rows that are not written
	classes  []string
	among    map[string]bool // classes as a set
	top      int             // classes per sample
	samples  Identified      // nil if neither ids nor true classes are known
	id       int             // length of the longest id, 0 without ids
	labelled bool            // whether true classes are known
	value    string          // "probability" or "score"
	count    Count
}

// encoder appends predictions in one format to the block of an output.
type encoder interface {
	header() error
	row(sample) error
}

// sample is a sample with its prediction. id and class, the true one, are "" if they are not
// known.
type sample struct {
	index     int
	id, class string
	*ranking
}

func newOutput(w io.Writer, classes []string, o Options, src Source) *output {
	out := &output{w: w, classes: classes, among: make(map[string]bool, len(classes)), top: min(o.Top, len(classes)), value: "score"}
	for _, name := range classes {
		out.among[name] = true
	}
	if s, ok := src.(Identified); ok {
		out.samples = s
		out.id, out.labelled = s.Known()
	}
	if o.Temperature > 0 {
		out.value = "probability"
	}
	switch o.Format {
	case CSV:
		out.encoder = &csvEncoder{out, csv.NewWriter(&out.block)}
	case JSONL:
		e := json.NewEncoder(&out.block)
		e.SetEscapeHTML(false)
		out.encoder = &jsonEncoder{out, e}
	default:
		out.encoder = newTableEncoder(out)
	}
	return out
}

func (out *output) flush() error {
	_, err := out.block.WriteTo(out.w)
	return err
}

func (out *output) writeBlock(b *block) error {
	for i := range b.n {
		s := sample{index: b.first + i, ranking: &b.ranked[i]}
		if out.samples != nil {
			s.index, s.id, s.class = out.samples.Sample(s.index)
		}
		out.count.Samples++
		if s.abstain {
			out.count.Abstained++
		}
		if out.among[s.class] {
			out.count.Labelled++
			if !s.abstain && out.classes[s.classes[0]] == s.class {
				out.count.Correct++
			}
		}
		if err := out.row(s); err != nil {
			return err
		}
	}
	return out.flush()
}

type csvEncoder struct {
	*output
	w *csv.Writer
}

// write writes a record without the columns that are not known.
func (e *csvEncoder) write(index, id, class, prediction string, top []string) error {
	record := []string{index}
	if e.id > 0 {
		record = append(record, id)
	}
	if e.labelled {
		record = append(record, class)
	}
	err := e.w.Write(append(append(record, prediction), top...))
	e.w.Flush()
	return err
}

func (e *csvEncoder) header() error {
	var top []string
	for i := 1; i <= e.top; i++ {
		top = append(top, fmt.Sprintf("class_%d", i), fmt.Sprintf("%s_%d", e.value, i))
	}
	return e.write("sample", "id", "true_class", "prediction", top)
}

// row leaves the prediction empty if the model abstains.
func (e *csvEncoder) row(s sample) error {
	prediction := ""
	if !s.abstain {
		prediction = e.classes[s.classes[0]]
	}
	var top []string
	for i, z := range s.classes {
		top = append(top, e.classes[z], strconv.FormatFloat(s.values[i], 'g', 7, 32))
	}
	return e.write(strconv.Itoa(s.index), s.id, s.class, prediction, top)
}

type jsonEncoder struct {
	*output
	w *json.Encoder
}

// jsonClass has either a probability or a score.
type jsonClass struct {
	Class       string   `json:"class"`
	Probability *float32 `json:"probability,omitempty"`
	Score       *float32 `json:"score,omitempty"`
}

func (e *jsonEncoder) header() error { return nil }

func (e *jsonEncoder) row(s sample) error {
	line := struct {
		Sample     int         `json:"sample"`
		ID         string      `json:"id,omitempty"`
		TrueClass  string      `json:"true_class,omitempty"`
		Prediction *string     `json:"prediction"` // null if the model abstains
		Top        []jsonClass `json:"top"`
	}{Sample: s.index, ID: s.id, TrueClass: s.class}
	if !s.abstain {
		line.Prediction = &e.classes[s.classes[0]]
	}
	for i, z := range s.classes {
		value, c := float32(s.values[i]), jsonClass{Class: e.classes[z]}
		if e.value == "score" {
			c.Score = &value
		} else {
			c.Probability = &value
		}
		line.Top = append(line.Top, c)
	}
	return e.w.Encode(line)
}

// tableEncoder has columns of fixed width: internal/table would need all rows in
// memory.
type tableEncoder struct {
	*output
	names               []string // of the classes, printable
	idWidth, classWidth int
}

// maxID is the widest column of ids. Of longer ones it has the end; the other formats have
// all of it.
const maxID = 40

func newTableEncoder(out *output) *tableEncoder {
	e := &tableEncoder{out, slices.Clone(out.classes), min(max(out.id, len("id")), maxID), len("true class")}
	for i, name := range e.names {
		e.names[i] = format.Printable(name)
		e.classWidth = max(e.classWidth, utf8.RuneCountInString(e.names[i]))
	}
	return e
}

// start writes the first columns of a line.
func (e *tableEncoder) start(index any, id, class, prediction, value string) {
	fmt.Fprintf(&e.block, "%8v  ", index)
	if e.id > 0 {
		if r := []rune(id); len(r) > maxID {
			id = "…" + string(r[len(r)-maxID+1:])
		}
		fmt.Fprintf(&e.block, "%-*s  ", e.idWidth, id)
	}
	if e.labelled {
		fmt.Fprintf(&e.block, "%-*s  ", e.classWidth, class)
	}
	fmt.Fprintf(&e.block, "%-*s  %11s", e.classWidth, prediction, value)
}

func (e *tableEncoder) header() error {
	e.start("sample", "id", "true class", "prediction", e.value)
	if e.top > 1 {
		e.block.WriteString("  next")
	}
	return e.block.WriteByte('\n')
}

func (e *tableEncoder) row(s sample) error {
	name, next := e.names[s.classes[0]], 1
	if s.abstain {
		name, next = "(abstain)", 0
	}
	e.start(s.index, format.Printable(s.id), format.Printable(s.class), name, fmt.Sprintf("%.4f", s.values[0]))
	separator := "  "
	for i := next; i < len(s.classes); i++ {
		fmt.Fprintf(&e.block, "%s%s %.4f", separator, e.names[s.classes[i]], s.values[i])
		separator = ", "
	}
	return e.block.WriteByte('\n')
}
