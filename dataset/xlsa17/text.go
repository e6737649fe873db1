package xlsa17

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
)

// maxText bounds the bytes of a text file, far above the descriptions of any data set.
const maxText = 64 << 20

// line is a line of text that is not blank, without the space around it.
type line struct {
	number int // from 1
	text   string
}

func readLines(ctx context.Context, path string) ([]line, error) {
	text, err := fileio.ReadRegularFile(ctx, path, maxText)
	return splitLines(string(text)), err
}

// splitLines returns the lines of a text that are not blank. Line ends may be those of
// Unix or Windows, and a byte order mark may come first.
func splitLines(text string) []line {
	var lines []line
	number := 0
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		number++
		if part = strings.TrimSpace(part); part != "" {
			lines = append(lines, line{number, part})
		}
	}
	return lines
}

// numberedName is a number and a name, as in "12 has_bill_shape::dagger".
var numberedName = regexp.MustCompile(`^(\d{1,18})[ \t]+(\S.*)$`)

// readNames reads names, one per line, without the numbers that may precede them. If some
// line has no number, numbers are part of the names.
func readNames(ctx context.Context, path string) ([]string, error) {
	lines, err := readLines(ctx, path)
	if err != nil {
		return nil, err
	}
	return namesOf(path, lines)
}

// namesOf is readNames of lines. Numbers must ascend, because names belong to rows or columns
// by their lines.
func namesOf(file string, lines []line) ([]string, error) {
	whole, names := make([]string, len(lines)), make([]string, len(lines))
	last, numbered := -1, true
	var disorder error
	for i, l := range lines {
		whole[i] = l.text
		parts := numberedName.FindStringSubmatch(l.text)
		if parts == nil {
			numbered = false
			continue
		}
		n, _ := strconv.Atoi(parts[1]) // of at most 18 digits
		if n <= last && disorder == nil {
			disorder = wrong(file, fmt.Sprintf("line %d", l.number), fmt.Sprintf("a number above %d, that of the line before", last), parts[1])
		}
		names[i], last = parts[2], n
	}
	if !numbered {
		return whole, nil
	}
	return names, disorder
}
