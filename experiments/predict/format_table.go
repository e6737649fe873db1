package predict

import (
	"fmt"
	"unicode/utf8"
)

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
