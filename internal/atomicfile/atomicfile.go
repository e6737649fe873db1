// Package atomicfile writes files atomically: after a crash, a reader finds the old
// content or the new, never a part of it.
//
// It is not a lock. Two writers of one path do not mix their bytes; the one that
// renames last wins.
package atomicfile

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// bufferSize is large enough that weights are written in few system calls.
const bufferSize = 1 << 18

// Write calls write with a buffered writer and puts what it wrote at path, in place of
// any file there. The folder must exist. When Write returns nil, content and name are
// on disk; when it fails, the earlier file remains, unless the error is that of
// syncing the folder, which comes after the rename.
//
// Symbolic links are followed, and a file keeps its permissions. Devices, named pipes
// and the process's own stdout or stderr are written through as the bytes come, without
// any of these promises.
//
// The bytes go first to a hidden file beside path. Write also removes those that killed
// processes left in the folder.
func Write(path string, write func(io.Writer) error) error {
	target, err := resolve(path)
	if err == nil {
		err = writeTarget(target, write)
	}
	return wrap(path, err)
}

// WriteJSON writes a value as indented JSON, as Write does.
func WriteJSON(path string, v any) error {
	return Write(path, func(w io.Writer) error { return format.WriteJSON(w, v) })
}

// WriteCSV writes rows as CSV, as Write does.
func WriteCSV(path string, rows [][]string) error {
	return Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// wrap says what to do about the errors that a path given by a user can cause. An error that
// names a place of its own, such as the input of the caller, is not one of the file.
func wrap(path string, err error) error {
	if named := (*invalid.Error)(nil); err == nil || errors.As(err, &named) && named.Where != "" {
		return err
	}
	e, _ := invalid.File(path, err).(*invalid.Error)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "Create the folder first."
	case errors.Is(err, errFolder):
		e.Want, e.Got, e.Err = "a file", "a folder", nil
	}
	return e
}

var errFolder = errors.New("is a folder")

// target is where the bytes of a path go.
type target struct {
	path   string      // without symbolic links
	perm   fs.FileMode // of the new file, before the umask
	exists bool        // a file with these permissions exists
	stream *os.File    // what is written through; nil for a regular file
}

func resolve(path string) (target, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		path, err = followLinks(path) // the last of them may lead to a new file
		return target{path: path, perm: 0o666}, err
	}
	if err != nil {
		return target{}, err
	}
	// Where stdout is redirected to a file, /dev/stdout is that file. To replace it
	// would lose what else is printed.
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := f.Stat(); err == nil && os.SameFile(info, own) {
			return target{stream: f}, nil
		}
	}
	switch {
	case info.IsDir():
		return target{}, errFolder
	case info.Mode().IsRegular():
		path, err = filepath.EvalSymlinks(path)
		return target{path: path, perm: info.Mode().Perm(), exists: true}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	return target{stream: f}, err
}

// followLinks returns where a chain of symbolic links ends, though nothing may be there.
func followLinks(path string) (string, error) {
	for range 40 { // as many as Linux follows
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many symbolic links")
}

func writeTarget(t target, write func(io.Writer) error) (err error) {
	f := t.stream
	if f == nil {
		if f, err = createTemporary(t); err != nil {
			return err
		}
	}
	// Deferred, so that a panic in write leaves nothing behind either.
	renamed := false
	defer func() {
		switch {
		case f == os.Stdout || f == os.Stderr || renamed:
		case t.stream != nil:
			err = errors.Join(err, f.Close())
		default:
			_ = f.Close() // the file is of no use any more
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()

	b := bufio.NewWriterSize(f, bufferSize)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil || t.stream != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which renames no file that is open
		if err := f.Close(); err != nil {
			return err
		}
	}
	// The file is closed, and so unlocked, only after it has its name.
	if err := os.Rename(f.Name(), t.path); err != nil {
		return err
	}
	renamed = true
	if err := f.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return SyncFolder(filepath.Dir(t.path))
}

// createTemporary makes a locked file in the folder of a target. Unlike os.CreateTemp
// it leaves the permissions of a new file to the umask.
func createTemporary(t target) (*os.File, error) {
	dir, base := filepath.Split(t.path)
	removeAbandoned(dir)
	for {
		name := fmt.Sprintf("%s.%s.%016x.tmp", dir, base, rand.Uint64())
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, t.perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Another process may have removed the file before it was locked.
		if tryLock(f) == errLocked || !isAt(f, name) {
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if t.exists { // whatever the umask is
			if err := f.Chmod(t.perm); err != nil {
				return nil, errors.Join(err, f.Close(), os.Remove(name))
			}
		}
		return f, nil
	}
}

// temporary matches the names that createTemporary gives.
var temporary = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.tmp$`)

// errLocked is the error of tryLock for a file that another writer has locked.
var errLocked = errors.New("the file is locked")

// removeAbandoned removes the temporary files in a folder whose writers were killed,
// which are those without a lock. They stay in a folder that cannot be read and on a file
// system without locks.
func removeAbandoned(dir string) {
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if tryLock(f) == nil && isAt(f, path) {
			_ = os.Remove(path) // another process may have done it
		}
		_ = f.Close() // nothing was written
	}
}

// isAt reports whether an open file is the one that a path leads to.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// Rename moves a file or folder within a file system and returns when its new name is
// on disk. The content must have been synced.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(SyncFolder(filepath.Dir(to)), SyncFolder(filepath.Dir(from)))
}

// SyncFolder waits until the names in a folder are on disk. On Windows, which has no such
// call, it does nothing.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
