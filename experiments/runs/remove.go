package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// Removal is runs to delete, which no other process can train until Close.
type Removal []removed

type removed struct {
	name, dir string   // as given, and absolute
	files     []string // beside trial.json and the lock
	bytes     int64
	lock      *flock.Flock
}

// Hold locks the runs of folders to delete them. The error is that of the first folder that is
// no run, has other files, or is one that another process trains; then none is locked.
func Hold(dirs ...string) (all Removal, err error) {
	for _, name := range dirs {
		r := removed{name: name}
		if r.dir, err = filepath.Abs(name); err == nil && slices.ContainsFunc(all, func(other removed) bool { return other.dir == r.dir }) {
			continue
		}
		if err == nil {
			err = r.hold()
		}
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// nameOfRun is the form of the names of runs, which end in a digest of their settings.
var nameOfRun = regexp.MustCompile(`-(dev|test)-seed[0-9]+-[0-9a-f]{12}$`)

func (r *removed) hold() error {
	// The folder of a link may be in use elsewhere. The settings of a damaged run, or of another version, give no name.
	record, err := train.ReadRecord(r.dir)
	if info, failed := os.Lstat(r.dir); failed != nil || !info.IsDir() || errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(invalid.File(r.name, failed), noRun(r.name))
	}
	if base := filepath.Base(r.dir); !nameOfRun.MatchString(base) || err == nil && record.Name() != base {
		return &invalid.Error{Where: r.name, Want: "a folder whose name ends in the digest of its settings", Got: "another name", Hint: "Delete it by hand if it is not needed."}
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return invalid.File(r.name, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return invalid.File(r.name, err)
		}
		if !info.Mode().IsRegular() || !slices.Contains(train.Files, cmp.Or(fileio.TemporaryOf(e.Name()), e.Name())) {
			return &invalid.Error{Where: r.name, Want: "only the files of a run", Got: e.Name(), Hint: "Move it elsewhere."}
		}
		if e.Name() != train.LockFile && e.Name() != train.TrialFile {
			r.files = append(r.files, e.Name())
		}
		r.bytes += info.Size()
	}
	r.lock, err = train.Lock(r.dir)
	return invalid.At(r.name, err)
}

// Close lets other processes train the runs.
func (all Removal) Close() {
	for _, r := range all {
		_ = r.lock.Close() // of an empty file
	}
}

// Table lists the runs with their sizes.
func (all Removal) Table() *table.Table {
	total := int64(0)
	t := table.New("")
	for _, r := range all {
		run, _, _ := lab.ReadRun(r.dir)                                           // a damaged one may be deleted
		t.Note("  %s: %s, %s", r.name, lineOf(run).Status, format.Bytes(r.bytes)) // the name stays whole
		total += r.bytes
	}
	t.Title = fmt.Sprintf("%s, %s", format.Count(len(all), "run"), format.Bytes(total))
	return t
}

// Delete deletes the runs. What an interruption leaves of one is still a run.
func (all Removal) Delete() error {
	for _, r := range all {
		for _, name := range append(r.files, train.TrialFile) {
			if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
				return invalid.File(r.name, err)
			}
		}
		err := errors.Join(r.lock.Close(), os.Remove(r.lock.Path()), os.Remove(r.dir)) // Windows deletes no open file
		if err != nil {
			return invalid.File(r.name, err)
		}
	}
	return nil
}
