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

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
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

// output writes predictions, block by block, and counts them.
type output struct {
	w        io.Writer
	block    bytes.Buffer         // lines that are not written
	encode   func(s sample) error // appends a line to the block
	classes  []string
	among    map[string]bool // classes as a set
	top      int             // classes per sample
	samples  Identified      // nil if neither ids nor true classes are known
	id       int             // length of the longest id, 0 without ids
	labelled bool            // whether true classes are known
	value    string          // "probability" or "score"
	sheet    *Sheet          // nil unless the format is HTML
	count    Count
}

// sample is a sample with its prediction. id and class, the true one, are "" if they are not
// known.
type sample struct {
	index     int
	id, class string
	x         dataset.Matrix[float32] // of its block
	row       int                     // of x
	*ranking
}

// newOutput returns an output whose block is the header.
func newOutput(w io.Writer, classes []string, o Options, src Source) *output {
	out := &output{w: w, classes: classes, among: map[string]bool{}, top: min(o.Top, len(classes)), value: "score"}
	for _, name := range classes {
		out.among[name] = true
	}
	if o.Temperature > 0 {
		out.value = "probability"
	}
	if s, ok := src.(Identified); ok {
		out.samples = s
		for i := range s.Len() {
			_, id, class := s.Sample(i)
			out.id = max(out.id, utf8.RuneCountInString(id))
			out.labelled = out.labelled || class != ""
		}
	}
	switch o.Format {
	case HTML:
		out.sheet, o.Sheet.value = o.Sheet, out.value
		fallthrough
	case CSV:
		out.encode = out.csv()
	case JSONL:
		out.encode = out.jsonLines()
	default:
		out.encode = out.table()
	}
	return out
}

func (out *output) flush() error {
	_, err := out.block.WriteTo(out.w)
	return err
}

func (out *output) writeBlock(b *block) error {
	for i := range b.n {
		s := sample{index: b.first + i, x: b.x, row: i, ranking: &b.ranked[i]}
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
		if err := out.encode(s); err != nil {
			return err
		}
		if out.sheet != nil {
			if err := out.sheet.add(b.first+i, s, out.classes[s.classes[0]]); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

// csv leaves the prediction empty if the model abstains.
func (out *output) csv() func(sample) error {
	w := csv.NewWriter(&out.block)
	write := func(index, id, class, prediction string, top []string) error {
		record := []string{index}
		if out.id > 0 {
			record = append(record, id)
		}
		if out.labelled {
			record = append(record, class)
		}
		err := w.Write(append(append(record, prediction), top...))
		w.Flush()
		return err
	}
	var columns []string
	for i := range out.top {
		columns = append(columns, fmt.Sprintf("class_%d", i+1), fmt.Sprintf("%s_%d", out.value, i+1))
	}
	_ = write("sample", "id", "true_class", "prediction", columns) // to memory
	return func(s sample) error {
		prediction, top := "", []string(nil)
		if !s.abstain {
			prediction = out.classes[s.classes[0]]
		}
		for i, z := range s.classes {
			top = append(top, out.classes[z], strconv.FormatFloat(s.values[i], 'g', 7, 32))
		}
		return write(strconv.Itoa(s.index), s.id, s.class, prediction, top)
	}
}

func (out *output) jsonLines() func(sample) error {
	w := json.NewEncoder(&out.block)
	w.SetEscapeHTML(false)
	return func(s sample) error {
		line := struct {
			Sample     int              `json:"sample"`
			ID         string           `json:"id,omitempty"`
			TrueClass  string           `json:"true_class,omitempty"`
			Prediction *string          `json:"prediction"` // null if the model abstains
			Top        []map[string]any `json:"top"`        // class, and probability or score
		}{Sample: s.index, ID: s.id, TrueClass: s.class}
		if !s.abstain {
			line.Prediction = &out.classes[s.classes[0]]
		}
		for i, z := range s.classes {
			line.Top = append(line.Top, map[string]any{"class": out.classes[z], out.value: float32(s.values[i])})
		}
		return w.Encode(line)
	}
}

// maxID is the widest column of ids. Of longer ones it has the end; the other formats have
// all of it.
const maxID = 40

// table has columns of fixed width: internal/table would need all rows in memory.
func (out *output) table() func(sample) error {
	names, width := slices.Clone(out.classes), len("true class")
	for i, name := range names {
		names[i] = format.Printable(name)
		width = max(width, utf8.RuneCountInString(names[i]))
	}
	start := func(index any, id, class, prediction, value string) {
		fmt.Fprintf(&out.block, "%8v  ", index)
		if out.id > 0 {
			if r := []rune(id); len(r) > maxID {
				id = "…" + string(r[len(r)-maxID+1:])
			}
			fmt.Fprintf(&out.block, "%-*s  ", min(max(out.id, len("id")), maxID), id)
		}
		if out.labelled {
			fmt.Fprintf(&out.block, "%-*s  ", width, class)
		}
		fmt.Fprintf(&out.block, "%-*s  %11s", width, prediction, value)
	}
	start("sample", "id", "true class", "prediction", out.value)
	if out.top > 1 {
		out.block.WriteString("  next")
	}
	out.block.WriteByte('\n')
	return func(s sample) error {
		name, next := names[s.classes[0]], 1
		if s.abstain {
			name, next = "(abstain)", 0
		}
		start(s.index, format.Printable(s.id), format.Printable(s.class), name, fmt.Sprintf("%.4f", s.values[0]))
		separator := "  "
		for i := next; i < len(s.classes); i++ {
			fmt.Fprintf(&out.block, "%s%s %.4f", separator, names[s.classes[i]], s.values[i])
			separator = ", "
		}
		return out.block.WriteByte('\n')
	}
}
