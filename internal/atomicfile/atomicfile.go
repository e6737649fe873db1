package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

// bufferSize is large enough for weights to go out in few system calls.
const bufferSize = 1 << 18

// Write calls write with a buffered writer and puts what it wrote at path, in
// place of any file there. The folder must exist. Content and name are on disk
// when Write returns nil. If anything fails, path is as it was before, with one
// exception: an error that says "sync folder" comes after the rename, when the
// new file stands but might not outlive a power cut.
//
// The bytes go to a hidden file beside path first. A process that is killed
// leaves that file behind; its name is random and begins with a dot, so nothing
// reads it and no later Write meets it.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := createBeside(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	renamed := false
	// Deferred, so that a panic in write leaves nothing behind either.
	defer func() {
		if !renamed {
			err = errors.Join(err, discard(f))
		}
	}()

	b := bufio.NewWriterSize(f, bufferSize)
	if err := write(b); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	renamed = true
	if err := SyncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: sync folder: %w", path, err)
	}
	return nil
}

// createBeside makes a new file in the folder of path. Unlike os.CreateTemp it
// leaves the permissions to the umask, as for any other file of the user.
func createBeside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf("%s.%s.%016x.tmp", dir, base, rand.Uint64())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// discard closes and removes a temporary file; it may be closed already.
func discard(f *os.File) error {
	if err := f.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Remove(f.Name())
}

// SyncFolder makes the names in a folder last, such as one after a rename. Windows has no such call.
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
