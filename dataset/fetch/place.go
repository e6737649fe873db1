package fetch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset/fetch/internal/durable"
	"github.com/lago-train/lago-train/internal/invalid"
)

// folders are the paths of a data set below the data dir. All but target begin with
// a dot, and are there only while a data set is fetched, or after a kill.
type folders struct {
	target  string // of the data set
	there   bool   // there is something at target
	lock    string // file
	staging string // gets the files before they are a data set
	aside   string // is what target was, until it is replaced
}

func (s source) foldersIn(dataDir string) folders {
	hidden := filepath.Join(dataDir, "."+s.folder)
	return folders{
		target:  filepath.Join(dataDir, s.folder),
		lock:    hidden + ".lock",
		staging: hidden + ".unpacking",
		aside:   hidden + ".replaced",
	}
}

// find looks for a folder of the data set that is there, in any case, as package
// catalog does.
func (f *folders) find() error {
	dir, name := filepath.Split(f.target)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var found []string
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	switch len(found) {
	case 0:
	case 1:
		f.target, f.there = found[0], true
	default:
		return &invalid.Error{Where: dir, Field: name, Want: "one folder of this name", Got: strings.Join(found, " and ")}
	}
	return nil
}

// stage makes the folder for the files, without what a kill may have left in it.
func (f folders) stage() error {
	if err := os.RemoveAll(f.staging); err != nil {
		return err
	}
	return os.Mkdir(f.staging, 0o777)
}

// place makes the staged folder the data set's. A kill in the middle of a
// replacement leaves the older folder aside, from where the next fetch removes it
// when it has placed a newer one.
func (f folders) place() error {
	if f.there {
		if err := os.RemoveAll(f.aside); err != nil {
			return err
		}
		if err := durable.Rename(f.target, f.aside); err != nil {
			return err
		}
	}
	if err := durable.Rename(f.staging, f.target); err != nil {
		if f.there {
			err = errors.Join(err, os.Rename(f.aside, f.target))
		}
		return err
	}
	if err := os.RemoveAll(f.aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
