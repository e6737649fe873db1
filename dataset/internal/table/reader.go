package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	// maxRecord bounds the bytes of a line, or of the lines that one quoted cell spans.
	maxRecord     = 16 << 20
	bufferSize    = 1 << 18
	byteOrderMark = "\ufeff"
)

// Reader reads the records of a CSV file.
type Reader struct {
	file  string
	csv   *csv.Reader
	lines *lineReader
	line  int
}

// NewReader returns a reader of text; file is its name in errors.
func NewReader(file string, text io.Reader) *Reader {
	lines := &lineReader{text: bufio.NewReaderSize(text, bufferSize)}
	if mark, err := lines.text.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		_, _ = lines.text.Discard(len(mark)) // it is in the buffer
	}
	r := &Reader{file: file, csv: csv.NewReader(bufio.NewReaderSize(lines, bufferSize)), lines: lines}
	r.csv.FieldsPerRecord = -1 // callers report the lines with another number of cells
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = true
	return r
}

// Read returns the cells of the next record, which are valid until the next call. The
// error is io.EOF at the end, and otherwise an *invalid.Error after which nothing more
// can be read.
func (r *Reader) Read() ([]string, error) {
	r.lines.left = maxRecord
	cells, err := r.csv.Read()
	if err == nil {
		r.line, _ = r.csv.FieldPos(0)
		return cells, nil
	}
	var parse *csv.ParseError
	switch {
	case err == io.EOF:
		return nil, err
	case errors.Is(err, errTooLong):
		return nil, &invalid.Error{Where: r.file, Field: fmt.Sprintf("line %d", r.line+1), Want: "lines of at most " + format.Bytes(maxRecord), Got: "a longer one"}
	case errors.As(err, &parse):
		e := &invalid.Error{Where: r.file, Field: fmt.Sprintf("line %d, character %d", parse.Line, parse.Column), Got: "a quote inside a cell"}
		if errors.Is(err, csv.ErrQuote) {
			e.Got = "a quoted cell that does not end with its closing quote"
		}
		e.Hint = `Put quotes around whole cells, and write "" for a quote inside one.`
		return nil, e
	}
	return nil, invalid.File(r.file, err)
}

// Line returns the number of the line on which the last record begins, counted from 1.
func (r *Reader) Line() int { return r.line }

var errTooLong = errors.New("record too long")

// lineReader returns at most one line per call. The CSV reader therefore reads no
// further than the record that it parses, and left bounds that record.
type lineReader struct {
	text *bufio.Reader
	left int
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, errTooLong
	}
	if _, err := l.text.Peek(1); err != nil {
		return 0, err
	}
	part, _ := l.text.Peek(min(l.text.Buffered(), len(p), l.left)) // all of it is in the buffer
	if end := bytes.IndexByte(part, '\n'); end >= 0 {
		part = part[:end+1]
	}
	n := copy(p, part)
	l.left -= n
	_, err := l.text.Discard(n)
	return n, err
}
