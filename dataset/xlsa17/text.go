package xlsa17

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxLine is far above any line of such a file, one description of a class.
const maxLine = 1 << 24

// line is one line of text that is not blank, without the space around it.
type line struct {
	number int // from 1
	text   string
}

// readLines returns the lines of r that are not blank. It takes line ends of Unix
// and Windows, space around the text, and a byte order mark at the start.
func readLines(r io.Reader, file string) ([]line, error) {
	var lines []line
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	n := 0
	for s.Scan() {
		n++
		text := s.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text = strings.TrimSpace(text); text != "" {
			lines = append(lines, line{n, text})
		}
	}
	if err := s.Err(); err != nil {
		return nil, &invalid.Error{Where: file, Field: fmt.Sprintf("line %d", n+1), Err: err}
	}
	return lines, nil
}

// readFile gives the content of a text file to one of the readers below.
func readFile[T any](path string, read func(io.Reader, string) (T, error)) (T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		var none T
		return none, fileError(path, err)
	}
	return read(bytes.NewReader(text), path)
}

// readNumbered returns names, one a line, without the number that may stand in
// front of every one of them ("12 has_bill_shape::dagger", "3\tkiller+whale").
// Where some line has none, numbers are part of the names. Numbers must ascend,
// as it is by their lines that names belong to rows or columns elsewhere.
func readNumbered(r io.Reader, file string) ([]line, error) {
	lines, err := readLines(r, file)
	if err != nil {
		return nil, err
	}
	names := make([]line, len(lines))
	numbers := make([]uint64, len(lines))
	for i, l := range lines {
		number, name, found := cutSpace(l.text)
		if numbers[i], err = strconv.ParseUint(number, 10, 64); err != nil || !found {
			return lines, nil
		}
		names[i] = line{l.number, name}
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] <= numbers[i-1] {
			return nil, &invalid.Error{
				Where: file,
				Field: fmt.Sprintf("line %d", names[i].number),
				Want:  fmt.Sprintf("a number above %d, that of the line before", numbers[i-1]),
				Got:   fmt.Sprint(numbers[i]),
			}
		}
	}
	return names, nil
}

// cutSpace cuts at the first run of space.
func cutSpace(s string) (before, after string, found bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimSpace(s[i:]), true
}

// readMatrix reads numbers, one row a line.
func readMatrix(r io.Reader, file string) (dataset.Matrix[float64], error) {
	var m dataset.Matrix[float64]
	lines, err := readLines(r, file)
	if err != nil {
		return m, err
	}
	for i, l := range lines {
		fields := strings.Fields(l.text)
		if i == 0 {
			m.Cols = len(fields)
		}
		if len(fields) != m.Cols {
			return m, &invalid.Error{
				Where: file,
				Field: fmt.Sprintf("line %d", l.number),
				Want:  fmt.Sprintf("%d numbers, as in the lines before", m.Cols),
				Got:   fmt.Sprint(len(fields)),
			}
		}
		for j, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return m, &invalid.Error{
					Where: file,
					Field: fmt.Sprintf("line %d, number %d", l.number, j+1),
					Want:  "a number",
					Got:   strconv.Quote(field),
				}
			}
			m.Data = append(m.Data, v)
		}
	}
	m.Rows = len(lines)
	if m.Rows == 0 {
		return m, &invalid.Error{Where: file, Want: "at least one line of numbers", Got: "none"}
	}
	return m, nil
}

// firstFile returns the first of several files that is there, or "" for none.
func firstFile(dir string, names ...string) (string, error) {
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		switch _, err := os.Stat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fileError(path, err)
		}
	}
	return "", nil
}
