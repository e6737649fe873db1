package descriptions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Empty says what empty cells of a table mean.
type Empty string

// The meanings.
const (
	EmptyUnknown Empty = "unknown"
	EmptyNo      Empty = "no" // in each group in which the class has a yes
)

// Empties lists the meanings.
var Empties = []Empty{EmptyUnknown, EmptyNo}

// EmptyFile is the file of a folder in which it is recorded that empty cells are unknown.
const EmptyFile = "empty.txt"

// KeepUnknown records in a folder that its empty cells are unknown.
func KeepUnknown(dir string) error {
	return fileio.Write(filepath.Join(dir, EmptyFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, EmptyUnknown)
		return err
	})
}

// KeepsUnknown reports whether that is recorded in a folder.
func KeepsUnknown(dir string) (bool, error) {
	path := filepath.Join(dir, EmptyFile)
	text, err := fileio.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) || err != nil {
		return false, ignoreMissing(err)
	}
	if got := strings.TrimSpace(string(text)); got != string(EmptyUnknown) {
		return false, &invalid.Error{
			Where: path, Want: "the word " + string(EmptyUnknown), Got: invalid.Quote(got),
		}
	}
	return true, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// FillEmpty writes no into the empty cells of each group of which a class has an attribute, with one half or
// more; with all, into the empty cells of every class that has any value. It returns their number.
func (t *Table) FillEmpty(all bool) (filled int) {
	u, no, groups := t.Values(), t.Scale()(0), t.Groups()
	for z := range t.Classes {
		row, described := u.Row(z), 0
		for _, p := range row {
			if p == p {
				described++
			}
		}
		for _, g := range groups {
			has := all && described > 0
			for _, m := range g.Members {
				has = has || row[m] >= 0.5
			}
			for _, m := range g.Members {
				if has && row[m] != row[m] {
					t.Set(z, m, no)
					filled++
				}
			}
		}
	}
	return filled
}

// KeepClasses copies classes.csv of the folder to a file beside it, and returns its path.
func (t *Table) KeepClasses() (string, error) {
	text, err := fileio.ReadRegular(filepath.Join(t.stored.dir, ClassesFile))
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := filepath.Join(t.stored.dir, fmt.Sprintf("classes-before-%d.csv", n))
		err := fileio.WriteNew(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}
