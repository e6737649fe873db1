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
	w       io.Writer
	block   bytes.Buffer // rows that are not written
	classes []string
	among   map[string]bool // classes as a set
	samples Identified      // nil if neither ids nor true classes are known
	count   Count
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

// columns are what the formats have in common.
type columns struct {
	classes  []string
	top      int
	id       int    // length of the longest id, 0 without ids
	labelled bool   // whether true classes are known
	value    string // "probability" or "score"
}

func newOutput(w io.Writer, classes []string, o Options, src Source) *output {
	out := &output{w: w, classes: classes, among: make(map[string]bool, len(classes))}
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
		out.encoder = &csvEncoder{columns: c, w: csv.NewWriter(&out.block)}
	case JSONL:
		e := json.NewEncoder(&out.block)
		e.SetEscapeHTML(false)
		out.encoder = &jsonEncoder{columns: c, encoder: e}
	default:
		out.encoder = newTableEncoder(c, &out.block)
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
	columns
	w      *csv.Writer
	record []string
}

// write writes a record that begins with these columns.
func (e *csvEncoder) write(index, id, class, prediction string, top func(place int) (class, value string)) error {
	e.record = append(e.record[:0], index)
	if e.id > 0 {
		e.record = append(e.record, id)
	}
	if e.labelled {
		e.record = append(e.record, class)
	}
	e.record = append(e.record, prediction)
	for i := range e.top {
		class, value := top(i)
		e.record = append(e.record, class, value)
	}
	err := e.w.Write(e.record)
	e.w.Flush()
	return err
}

func (e *csvEncoder) header() error {
	return e.write("sample", "id", "true_class", "prediction", func(i int) (class, value string) {
		return fmt.Sprintf("class_%d", i+1), fmt.Sprintf("%s_%d", e.value, i+1)
	})
}

// row leaves the prediction empty if the model abstains.
func (e *csvEncoder) row(s sample) error {
	prediction := ""
	if !s.abstain {
		prediction = e.classes[s.classes[0]]
	}
	return e.write(strconv.Itoa(s.index), s.id, s.class, prediction, func(i int) (class, value string) {
		return e.classes[s.classes[i]], strconv.FormatFloat(s.values[i], 'g', 7, 32)
	})
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
}

func (e *jsonEncoder) header() error { return nil }

func (e *jsonEncoder) row(s sample) error {
	line := jsonLine{Sample: s.index, ID: s.id, TrueClass: s.class, Top: make([]jsonClass, 0, e.top)}
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
	return e.encoder.Encode(line)
}

// tableEncoder has columns of fixed width: internal/table would need all rows in
// memory.
type tableEncoder struct {
	columns
	b     *bytes.Buffer
	width int // of a class name
}

// maxID is the widest column of ids. Of longer ones it has the end; the other formats have
// all of it.
const maxID = 40

func newTableEncoder(c columns, b *bytes.Buffer) *tableEncoder {
	e := &tableEncoder{columns: c, b: b, width: len("true class")}
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

// start writes the first columns of a line.
func (e *tableEncoder) start(index any, id, class, prediction string, value string) {
	fmt.Fprintf(e.b, "%8v  ", index)
	if e.id > 0 {
		if r := []rune(id); len(r) > maxID {
			id = "…" + string(r[len(r)-maxID+1:])
		}
		fmt.Fprintf(e.b, "%-*s  ", e.id, id)
	}
	if e.labelled {
		fmt.Fprintf(e.b, "%-*s  ", e.width, class)
	}
	fmt.Fprintf(e.b, "%-*s  %11s", e.width, prediction, value)
}

func (e *tableEncoder) header() error {
	e.start("sample", "id", "true class", "prediction", e.value)
	if e.top > 1 {
		e.b.WriteString("  next")
	}
	return e.b.WriteByte('\n')
}

func (e *tableEncoder) row(s sample) error {
	name, next := e.classes[s.classes[0]], 1
	if s.abstain {
		name, next = "(abstain)", 0
	}
	e.start(s.index, format.Printable(s.id), format.Printable(s.class), name, fmt.Sprintf("%.4f", s.values[0]))
	separator := "  "
	for i := next; i < len(s.classes); i++ {
		fmt.Fprintf(e.b, "%s%s %.4f", separator, e.classes[s.classes[i]], s.values[i])
		separator = ", "
	}
	return e.b.WriteByte('\n')
}
