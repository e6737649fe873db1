package fileio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gofrs/flock"
)

// createTemporary makes a locked file in the folder of a path, with the permissions of the old
// file. Unlike os.CreateTemp it leaves those of a new file to the umask.
func createTemporary(path string, old fs.FileInfo) (*os.File, error) {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = old.Mode().Perm()
	}
	f, err := createLocked(path, func(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm) })
	if err != nil || old == nil {
		return f, err
	}
	if err := f.Chmod(perm); err != nil { // whatever the umask is
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// createLocked calls create for a hidden name beside a path, and locks what it returns, so that
// no other process takes it for abandoned.
func createLocked(path string, create func(name string) (*os.File, error)) (*os.File, error) {
	dir, base := filepath.Split(path)
	removeAbandoned(dir)
	for {
		name := fmt.Sprintf("%s.%s.%016x.tmp", dir, base, rand.Uint64())
		f, err := create(name)
		if errors.Is(err, fs.ErrNotExist) && isFolder(dir) {
			continue // another process removed it before it was open
		}
		if err != nil {
			return nil, err
		}
		// Another process may have removed it before it was locked.
		if tryLock(f) != errLocked && isAt(f, name) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

func isFolder(dir string) bool {
	info, err := os.Stat(cmp.Or(dir, "."))
	return err == nil && info.IsDir()
}

// temporary matches the names that createLocked gives.
var temporary = regexp.MustCompile(`^\.(.+)\.[0-9a-f]{16}\.tmp$`)

// TemporaryOf returns the name of the file that a temporary one is to replace, "" for another file.
func TemporaryOf(name string) string {
	if match := temporary.FindStringSubmatch(name); match != nil {
		return match[1]
	}
	return ""
}

// errLocked is the error of tryLock for a file that another writer has locked.
var errLocked = errors.New("the file is locked")

// removeAbandoned removes the temporary files and folders in a folder whose writers were
// killed, which are those without a lock. They stay in a folder that cannot be read and on a
// file system without locks.
func removeAbandoned(dir string) {
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if !e.Type().IsRegular() && !e.IsDir() || !temporary.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if tryLock(f) == nil && isAt(f, path) {
			_ = os.RemoveAll(path) // another process may have done it
		}
		_ = f.Close() // nothing was written
	}
}

// isAt reports whether an open file is the one that a path leads to.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	there, missing := os.Lstat(path)
	return err == nil && missing == nil && os.SameFile(open, there)
}

// Lock locks a file that stays: for the caller alone, or for all that share it. While another
// process has the lock, it calls waiting once and waits; the system frees the lock of a process
// that dies.
func Lock(ctx context.Context, path string, shared bool, waiting func()) (*flock.Flock, error) {
	if _, err := SizeOfRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // opening a named pipe would block
	}
	lock := flock.New(path, flock.SetPermissions(0o666)) // less the umask
	try, wait := lock.TryLock, lock.TryLockContext
	if shared {
		try, wait = lock.TryRLock, lock.TryRLockContext
	}
	held, err := try()
	if err == nil && !held {
		waiting()
		_, err = wait(ctx, 200*time.Millisecond)
	}
	return lock, err
}
