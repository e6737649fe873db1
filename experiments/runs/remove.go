package runs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// Removal is runs to delete, which no other process can train until Close.
type Removal []removed

type removed struct {
	name, dir string // as given, and absolute
	status    train.Status
	files     []string // beside the lock, trial.json last
	bytes     int64
	lock      *flock.Flock
}

// Hold locks the runs of folders to delete them. The error is that of the first folder that is
// no run, has other files, or is one that another process trains; then it locks none.
func Hold(dirs ...string) (Removal, error) {
	var all Removal
	for _, name := range dirs {
		dir, err := filepath.Abs(name)
		if err == nil && !slices.ContainsFunc(all, func(r removed) bool { return r.dir == dir }) {
			var r removed
			r, err = hold(dir)
			r.name = name
			all = append(all, r)
		}
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	return all, nil
}

func hold(dir string) (removed, error) {
	run, _, _ := lab.ReadRun(dir) // a damaged one may be deleted
	r := removed{dir: dir, status: lineOf(run).Status}
	if info, err := os.Lstat(dir); err != nil {
		return r, invalid.File(dir, err)
	} else if _, err := os.Lstat(filepath.Join(dir, train.TrialFile)); err != nil || !info.IsDir() { // also a link, whose folder may be in use elsewhere
		return r, noRun(dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return r, invalid.File(dir, err)
	}
	for _, e := range entries {
		name := e.Name()
		info, err := e.Info()
		switch {
		case err != nil:
			return r, invalid.File(filepath.Join(dir, name), err)
		case e.IsDir() || !slices.Contains(train.Files, name) && !strings.HasPrefix(name, "."): // hidden ones are temporary
			return r, &invalid.Error{Where: dir, Want: "only the files of a run", Got: name, Hint: "Move it elsewhere."}
		case name != train.TrialFile && name != train.LockFile:
			r.files = append(r.files, name)
		}
		r.bytes += info.Size()
	}
	r.files = append(r.files, train.TrialFile) // last, so that what is left of a deletion is still a run
	r.lock, err = train.Lock(dir)
	return r, invalid.At(dir, err)
}

// Close lets other processes train the runs.
func (all Removal) Close() (err error) {
	for _, r := range all {
		if r.lock != nil {
			err = errors.Join(err, r.lock.Close())
		}
	}
	return err
}

// Table lists the runs with their sizes.
func (all Removal) Table() *table.Table {
	total := int64(0)
	t := table.New("", "run", "status", "size")
	for _, r := range all {
		t.Row(r.name, r.status, format.Bytes(r.bytes))
		total += r.bytes
	}
	t.Title = fmt.Sprintf("%s, %s", format.Count(len(all), "run"), format.Bytes(total))
	return t
}

// Delete deletes the runs.
func (all Removal) Delete() error {
	for _, r := range all {
		for _, name := range r.files {
			if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
				return invalid.File(r.dir, err)
			}
		}
		err := errors.Join(r.lock.Close(), os.Remove(r.lock.Path()), os.Remove(r.dir)) // an open file cannot be deleted on Windows
		if err != nil {
			return invalid.File(r.dir, err)
		}
	}
	return nil
}
