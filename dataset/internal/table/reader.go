package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxRecord bounds the bytes of a line, or of the lines that one quoted cell spans, and maxCells
// its cells, each of which takes about 50 times the memory of its comma.
const (
	maxRecord = 16 << 20
	maxCells  = 1 << 20
)

// bounded reads until a number of bytes or of separators was read.
type bounded struct {
	r            io.Reader
	bytes, cells int
	separator    byte
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.full() {
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(len(p), b.bytes)])
	b.bytes -= n
	b.cells -= bytes.Count(p[:n], []byte{b.separator})
	return n, err
}

func (b *bounded) full() bool { return b.bytes <= 0 || b.cells <= 0 }

// Reader reads the records of a CSV file.
type Reader struct {
	Line int // on which the last record begins, counted from 1

	file   string
	csv    *csv.Reader
	bound  *bounded        // of what is read for one record; what is read ahead is in a buffer
	width  int             // cells of the first record, without empty ones at the right
	signs  map[byte]string // a number with a decimal comma, and one with a point
	asText bool            // numbers stay as they are
	other  fileio.Format   // of a text that is no CSV
}

// NewReader returns a reader of text; file is its name in errors.
func NewReader(file string, text io.Reader) *Reader {
	bound := &bounded{text, maxRecord, maxCells, ','}
	lines := UTF8(bound)
	line := firstLine(lines)
	r := &Reader{
		file: file, bound: bound, signs: map[byte]string{}, other: fileio.FormatOf([]byte(line)),
	}
	bound.separator = separatorOf(line)
	switch {
	case strings.HasPrefix(strings.ToLower(line), "sep="):
		r.other = fileio.Format{Name: "a line " + invalid.Quote(strings.TrimSpace(line)), Hint: "Delete it."}
	case strings.Contains(strings.TrimRight(line, "\r"), "\r"):
		r.other = fileio.Format{Name: "lines that end in CR alone, as of old Macs", Hint: asUTF8}
	}
	r.csv = csv.NewReader(lines)
	r.csv.Comma = rune(bound.separator)
	r.csv.FieldsPerRecord = -1 // callers report the lines with another number of cells
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = bound.separator != '\t'
	return r
}

const byteOrderMark = "\ufeff"

// UTF8 returns a text without a byte order mark.
func UTF8(text io.Reader) *bufio.Reader {
	r := bufio.NewReaderSize(text, 1<<16)
	if mark, _ := r.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // a shorter text has none
		_, _ = r.Discard(len(mark)) // it is in the buffer
	}
	return r
}

// firstLine returns the first line that is not blank, as far as it fits into the buffer, and waits
// for no more than it.
func firstLine(lines *bufio.Reader) string {
	for n := 1; ; n = lines.Buffered() + 1 {
		_, err := lines.Peek(min(n, lines.Size()))
		read, _ := lines.Peek(lines.Buffered())
		line, _, ended := strings.Cut(strings.TrimLeft(string(read), " \r\n"), "\n")
		if ended || err != nil || n > lines.Size() {
			return line
		}
	}
}

var (
	quoted        = regexp.MustCompile(`"[^"]*"`)
	commaInNumber = regexp.MustCompile(`\d,\d`)
	decimal       = regexp.MustCompile(`^\s*[-+]?\d*([.,])\d+([eE][-+]?\d+)?\s*%?\s*$`)
)

// separatorOf returns the most frequent of comma, semicolon and tab in a line, without those in quotes and
// in numbers.
func separatorOf(line string) byte {
	line = quoted.ReplaceAllString(line, "")
	most, found := strings.Count(commaInNumber.ReplaceAllString(line, ""), ","), byte(',')
	for _, separator := range []byte{';', '\t'} {
		if n := strings.Count(line, string(separator)); n > most {
			most, found = n, separator
		}
	}
	return found
}

// Read returns the cells of the next record that has any, which are valid until the next call. The error is
// io.EOF at the end, and otherwise an *invalid.Error after which nothing more can be read.
func (r *Reader) Read() ([]string, error) {
	if r.other.Name != "" {
		return nil, &invalid.Error{
			Where: r.file, Want: dataset.FormOfTables, Got: r.other.Name,
			Hint: cmp.Or(r.other.Hint, "Save a spreadsheet as CSV; in Python, pandas reads other tables, "+
				`and to_csv("table.csv", index=False) writes them.`),
		}
	}
	for {
		cells, err := r.read()
		if err != nil {
			return nil, err
		}
		n, blank := len(cells), true
		for n > r.width && strings.TrimSpace(cells[n-1]) == "" {
			n--
		}
		if r.width == 0 {
			r.width = n
		}
		for i, cell := range cells[:n] {
			blank = blank && strings.TrimSpace(cell) == ""
			if r.asText {
				continue
			}
			if err = r.checkDigits(cell); err == nil && r.bound.separator != ',' {
				cells[i], err = r.withPoint(cell)
			}
			if err != nil {
				return nil, err
			}
		}
		if !blank {
			return cells[:n], nil
		}
	}
}

// withPoint returns a cell with a point in place of a decimal comma. A file has one of both.
func (r *Reader) withPoint(cell string) (string, error) {
	at := decimal.FindStringSubmatchIndex(cell)
	if at == nil {
		return cell, nil
	}
	sign := cell[at[2]]
	r.signs[sign] = strings.TrimSpace(cell)
	if len(r.signs) > 1 {
		return "", &invalid.Error{
			Where: r.file, Field: fmt.Sprintf("line %d", r.Line), Want: "numbers with one decimal sign",
			Got: r.signs[','] + " and " + r.signs['.'], Hint: "Write them without separators of thousands.",
		}
	}
	return strings.Replace(cell, ",", ".", 1), nil
}

// checkDigits refuses a number in digits of another script.
func (r *Reader) checkDigits(cell string) error {
	if !dataset.OtherDigits(cell) {
		return nil
	}
	return &invalid.Error{
		Where: r.file, Field: fmt.Sprintf("line %d", r.Line), Want: "digits from 0 to 9",
		Got: invalid.Quote(cell) + ", digits of another script",
		Hint: `In Python: "".join(str(unicodedata.decimal(c, c)) for c in ` +
			`unicodedata.normalize("NFKC", text)).replace("٫", ".").`,
	}
}

func (r *Reader) read() ([]string, error) {
	r.bound.bytes, r.bound.cells = maxRecord, maxCells
	cells, err := r.csv.Read()
	switch parse := (*csv.ParseError)(nil); {
	case r.bound.full():
		want := fmt.Sprintf("lines of at most %s and %d cells", format.Bytes(maxRecord), maxCells)
		return nil, &invalid.Error{
			Where: r.file, Field: fmt.Sprintf("line %d", r.Line+1), Want: want, Got: "a longer one",
		}
	case err == nil:
		r.Line, _ = r.csv.FieldPos(0)
		return cells, nil
	case err == io.EOF:
		return nil, err
	case errors.As(err, &parse):
		return nil, &invalid.Error{
			Where: r.file, Field: fmt.Sprintf("line %d, character %d", parse.Line, parse.Column),
			Want: "cells that are quoted whole or not at all", Got: "another quote",
			Hint: `Write "" for a quote inside a cell, and commas between cells. In R, write.csv does; in ` +
				`pandas, read_csv(FILE, sep="\t", quoting=3).to_csv(NEW, index=False) of a text with tabs.`,
		}
	}
	return nil, invalid.File(r.file, err)
}

// Number returns the number in a cell, with the precision of float32 (32 bits) or float64 (64):
// a decimal number as every program reads it, NaN or an infinity. Error is that of
// strconv.ParseFloat, whose underscores and hexadecimal numbers, as in Go's source, are refused.
func Number(cell string, bits int) (float64, error) {
	cell = strings.TrimSpace(cell)
	if strings.ContainsAny(cell, "_xXpP") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(cell, bits)
}
