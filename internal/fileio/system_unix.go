//go:build unix && !solaris && !illumos && !aix

package fileio

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lago-train/lago-train/internal/invalid"
)

// tryLock locks a file until it is closed, or the process ends.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return errLocked
	}
	return err
}

var mapped sync.Map // the address of the first value -> the mapped bytes

// Move returns a read-only copy of x in a temporary file in dir. The file has no name, and
// the system deletes it when the process ends. Move returns x itself if it was moved before,
// and on Windows. The error is an *invalid.Error.
func Move(dir string, x []float32) ([]float32, error) {
	if _, moved := mapped.Load(unsafe.SliceData(x)); moved || len(x) == 0 {
		return x, nil
	}
	f, err := os.CreateTemp(dir, "features-*.tmp")
	if err != nil {
		return nil, invalid.File(dir, err)
	}
	defer func() { _ = f.Close() }() // the mapping keeps the file
	if err := os.Remove(f.Name()); err != nil {
		return nil, invalid.File(dir, err)
	}
	if _, err := f.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))); err != nil {
		return nil, &invalid.Error{
			Where: dir, Want: fmt.Sprintf("%d MB free for a temporary copy of the features", 4*len(x)>>20),
			Err: err,
		}
	}
	content, err := unix.Mmap(int(f.Fd()), 0, 4*len(x), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, invalid.File(dir, err)
	}
	y := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(content))), len(x))
	mapped.Store(unsafe.SliceData(y), content)
	return y, nil
}

// Drop frees the memory of an array that Move returned; it is read from the file again
// when it is used. Drop does nothing to other arrays.
func Drop(x []float32) {
	if content, moved := mapped.Load(unsafe.SliceData(x)); moved {
		_ = unix.Madvise(content.([]byte), unix.MADV_DONTNEED) // advice only
	}
}
