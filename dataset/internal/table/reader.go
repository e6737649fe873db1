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
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

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
	before int // lines before the first record, as far as csv does not count them
	first  int // cells of the first record
	csv    *csv.Reader
	bound  *bounded      // of what is read for one record; what is read ahead is in a buffer
	width  int           // cells of the first record, without empty ones at the right
	comma  string        // a number with a decimal comma; the first, unless one may have thousands
	point  string        // the same with a decimal point
	commas []int         // cells of the last record in which a point replaces a decimal comma
	quoted bool          // the first cells of the last record were in quotes
	other  fileio.Format // of a text that is no CSV
}

// NewReader returns a reader of text; file is its name in errors.
func NewReader(file string, text io.Reader) *Reader {
	bound := &bounded{text, maxRecord, maxCells, ','}
	lines := UTF8(bound)
	line := firstLine(lines)
	r := &Reader{file: file, bound: bound, other: fileio.FormatOf([]byte(line))}
	bound.separator = separatorOf(line)
	if m := excelSeparator.FindStringSubmatch(line); m != nil {
		for read := ""; !strings.Contains(read, m[0]); r.before++ {
			read, _ = lines.ReadString('\n') // it is in the buffer
		}
		bound.separator = m[1][0]
	} else if strings.Contains(strings.TrimRight(line, "\r"), "\r") {
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

// UTF8 returns a text as UTF-8 without a byte order mark. It may be UTF-16 with one.
func UTF8(text io.Reader) *bufio.Reader {
	const bufferSize = 1 << 16
	r := bufio.NewReaderSize(text, bufferSize)
	switch mark, _ := r.Peek(2); string(mark) { // a shorter text has none
	case "\xff\xfe", "\xfe\xff":
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
		return bufio.NewReaderSize(transform.NewReader(r, utf16.NewDecoder()), bufferSize)
	case byteOrderMark[:2]:
		if mark, _ := r.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
			_, _ = r.Discard(len(mark)) // it is in the buffer
		}
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
	quoted = regexp.MustCompile(`"[^"]*"`)
	// excelSeparator matches a line above the header from which Excel takes the separator.
	excelSeparator = regexp.MustCompile(`^(?i)sep=([,;\t])\s*$`)
	decimalComma   = regexp.MustCompile(`^\s*[-+]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?\s*%?\s*$`)
	// thousands matches a number that may have separators of thousands.
	thousands = regexp.MustCompile(`^\s*[-+]?[1-9]\d{0,2}([.,]\d{3})+([.,]\d+)?\s*$`)
)

// separatorOf returns what separates the cells of a line: commas if there are some outside of quotes,
// numbers and text, which has a space behind them; else the most frequent of comma, semicolon and tab.
func separatorOf(line string) byte {
	line = quoted.ReplaceAllString(line, "")
	most, found := 0, byte(',')
	for cell := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ';' || r == '\t' }) {
		inText := strings.Count(cell, ", ")
		switch {
		case decimalComma.MatchString(cell):
		case strings.Count(cell, ",") > inText:
			return ','
		default:
			most += inText
		}
	}
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
			Where: r.file, Want: "a CSV file", Got: r.other.Name,
			Hint: cmp.Or(r.other.Hint, "Save a spreadsheet as CSV."),
		}
	}
	for {
		cells, err := r.read()
		if err != nil {
			return nil, err
		}
		n, blank := len(cells), true
		r.commas = nil
		for n > r.width && strings.TrimSpace(cells[n-1]) == "" {
			n--
		}
		if r.width == 0 {
			r.first, r.width = len(cells), n
		}
		for i, cell := range cells[:n] {
			blank = blank && strings.TrimSpace(cell) == ""
			if r.bound.separator == ',' {
				continue
			}
			if cells[i], err = r.withPoint(cell); err != nil {
				return nil, err
			}
			if cells[i] != cell {
				r.commas = append(r.commas, i)
			}
		}
		if !blank {
			return cells[:n], nil
		}
	}
}

// Quoted reports whether the first two cells of the last record are in quotes.
func (r *Reader) Quoted() bool { return r.quoted }

// withPoint returns a cell with a point in place of a decimal comma. In a file with decimal commas and
// points, numbers that may have separators of thousands are an error.
func (r *Reader) withPoint(cell string) (string, error) {
	first := strings.IndexAny(cell, ",.")
	if first < 0 {
		return cell, nil
	}
	known, number, large := &r.point, cell, thousands.MatchString(cell)
	if cell[first] == ',' {
		known, number = &r.comma, strings.Replace(cell, ",", ".", 1)
	}
	if large || *known == "" {
		if _, err := Number(strings.TrimSuffix(number, "%"), 64); err == nil || large {
			*known = strings.TrimSpace(cell)
		}
	}
	both := large && strings.Contains(cell, ",") && strings.Contains(cell, ".")
	if both || r.comma != "" && r.point != "" &&
		(thousands.MatchString(r.comma) || thousands.MatchString(r.point)) {
		return "", &invalid.Error{
			Where: r.file, Field: fmt.Sprintf("line %d", r.Line),
			Want: "numbers with one decimal sign, a comma or a point",
			Got: strings.Join(slices.DeleteFunc([]string{r.comma, r.point}, func(s string) bool {
				return s == ""
			}), " and "), Hint: "Write them without separators of thousands.",
		}
	}
	if decimalComma.MatchString(cell) {
		return number, nil
	}
	return cell, nil
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
		var first, second int
		r.Line, first = r.csv.FieldPos(0)
		if r.quoted = len(cells) > 1; r.quoted {
			_, second = r.csv.FieldPos(1)
			r.quoted = second-first == len(cells[0])+3 // with two quotes and a separator
		}
		r.Line += r.before
		return cells, nil
	case err == io.EOF:
		return nil, err
	case errors.As(err, &parse):
		return nil, &invalid.Error{
			Where: r.file, Field: fmt.Sprintf("line %d, character %d", r.before+parse.Line, parse.Column),
			Want: "cells that are quoted whole or not at all", Got: "another quote",
			Hint: `Write "" for a quote inside a cell, and commas between cells.`,
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
