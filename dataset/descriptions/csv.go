package descriptions

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// byteOrderMark is what some programs begin a text with.
var byteOrderMark = []byte("\ufeff")

const wantHeader = `a header: "class" and the names of attributes, or "class,attribute,value"`

// readCSV reads either form of a CSV file.
func readCSV(f *file, text []byte) {
	t := &table{Reader: csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, byteOrderMark)))}
	t.FieldsPerRecord = -1 // counted here, to tell all that are wrong
	t.TrimLeadingSpace = true
	header, ok := t.next(f)
	if !ok {
		if f.mistakes.Len() == 0 {
			f.wrong("header", 0, "", wantHeader, "an empty file")
		}
		return
	}
	columns := make([]string, len(header))
	for i, name := range header {
		columns[i] = fold(name)
	}
	switch {
	case columns[0] != "class":
		found := quote(header[0])
		if len(header) == 1 && strings.ContainsAny(header[0], ";\t") {
			found += "; columns are parted by commas"
		}
		f.wrong("header", t.line, "", wantHeader, found)
	case slices.Equal(columns, []string{"class", "attribute", "value"}):
		readLong(f, t)
	default:
		readWide(f, t, header[1:])
	}
}

// table reads the records of a CSV file with their lines.
type table struct {
	*csv.Reader
	line int // where the last record starts
}

// next returns the next record, false at the end or where the file is no CSV.
func (t *table) next(f *file) ([]string, bool) {
	record, err := t.Read()
	if err == io.EOF {
		return nil, false
	}
	if err != nil {
		e := &invalid.Error{Where: f.path, Err: err}
		if p := (*csv.ParseError)(nil); errors.As(err, &p) {
			e.Field, e.Err = fmt.Sprintf("line %d, column %d", p.Line, p.Column), p.Err
		}
		f.mistakes.Add("csv", e)
		return nil, false
	}
	t.line, _ = t.FieldPos(0)
	return record, true
}

// readLong reads a row a value.
func readLong(f *file, t *table) {
	for {
		record, ok := t.next(f)
		if !ok {
			return
		}
		if len(record) != 3 {
			f.wrong("columns", t.line, "", "3 columns, class, attribute and value", fmt.Sprint(len(record)))
			continue
		}
		c, m := f.class(t.line, record[0]), f.attribute(t.line, record[1])
		if c != nil && m >= 0 {
			f.describe(t.line, c, m, record[2])
		}
	}
}

// readWide reads a row a class, with columns of the named attributes.
func readWide(f *file, t *table, names []string) {
	columns := make([]int, len(names))
	first := map[int]int{}
	for i, name := range names {
		m := f.attribute(t.line, name)
		columns[i] = m
		other, taken := first[m]
		if m >= 0 && taken {
			f.wrong("column", t.line, "", "each attribute once",
				fmt.Sprintf("%q in column %d and again in column %d", f.vocabulary.names[m], other+2, i+2))
			columns[i] = -1
		} else {
			first[m] = i
		}
	}
	for {
		record, ok := t.next(f)
		if !ok {
			return
		}
		if len(record) != len(names)+1 {
			f.wrong("columns", t.line, "", fmt.Sprintf("%d columns, as in the header", len(names)+1), fmt.Sprint(len(record)))
			continue
		}
		c := f.newClass(t.line, record[0])
		if c == nil {
			continue
		}
		for i, m := range columns {
			if m >= 0 {
				f.describe(t.line, c, m, record[i+1])
			}
		}
	}
}
