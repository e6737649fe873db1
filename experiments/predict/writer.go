package predict

import (
	"io"
)

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
