// Package fileio reads the files, pipes and standard input that a user names, and writes
// files atomically.
//
// A read ends when its context is cancelled, even while a pipe has no data, and ReadFile
// bounds the memory that a file can take. ParseObject parses JSON objects with unique keys.
//
// After a crash, a reader finds the old content of a file that Write writes or the new,
// never a part of it. Write is not a lock: two writers of one path do not mix their bytes;
// the one that renames last wins.
//
// Move puts large arrays into temporary files that are mapped into memory, so that a
// transformed copy can be made without holding both. It does not map the user's own files: if
// another program truncated one, reading the array would end the process.
package fileio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Large is the number of values from which Move is worth it: 64 MB of float32.
const Large = 1 << 24

const (
	pipeBuffer = 1 << 16 // bytes that are read from a pipe at once
	bufferSize = 1 << 18 // bytes that are written at once
)

// File is an open file, pipe or device. Reading it returns the context's error once that is cancelled.
type File struct {
	*os.File
	ctx  context.Context
	pipe []byte // buffer for what is no regular file, else nil
}

// writerWait is how long Open waits for a program that writes to a named pipe.
var writerWait = 10 * time.Second

// Open opens the file at path. Errors are *invalid.Error, or the context's.
func Open(ctx context.Context, path string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, writerWait)
	defer cancel()
	file, err := wait(within, func() (*os.File, error) { return os.Open(path) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && within.Err() != nil:
		return nil, &invalid.Error{Where: path, Want: "a file, or a pipe that a program writes to", Got: "a pipe without a writer"}
	case err != nil:
		return nil, invalid.File(path, err)
	}
	f := &File{File: file, ctx: ctx}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		f.pipe = make([]byte, pipeBuffer)
	}
	return f, nil
}

// OpenRegular opens a regular file and returns its size in bytes. Anything else, such as a
// pipe, is refused without waiting for it.
func OpenRegular(ctx context.Context, path string) (f *File, size int64, err error) {
	if size, err = SizeOfRegular(path); err != nil {
		return nil, 0, err
	}
	f, err = Open(ctx, path)
	return f, size, err
}

// SizeOfRegular returns the size in bytes of a regular file, following symbolic links.
// Anything else is an *invalid.Error.
func SizeOfRegular(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, invalid.File(path, err)
	}
	if !info.Mode().IsRegular() {
		return 0, &invalid.Error{Where: path, Want: "a regular file", Got: "a folder, pipe or device"}
	}
	return info.Size(), nil
}

// Stdin returns the standard input.
func Stdin(ctx context.Context) *File { return &File{os.Stdin, ctx, make([]byte, pipeBuffer)} }

// wait returns the result of f, or the context's error as soon as the context is
// cancelled. The goroutine of an abandoned call lives until f returns.
func wait[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Read reads as an io.Reader.
func (f *File) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if f.pipe == nil {
		return f.File.Read(p)
	}
	// An abandoned read may still write to the buffer, so it must not be p.
	buffer := f.pipe[:min(len(p), len(f.pipe))]
	n, err := wait(f.ctx, func() (int, error) { return f.File.Read(buffer) })
	return copy(p, buffer[:n]), err
}

// ReadAt reads as an io.ReaderAt.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}

// ReadRegular returns the content of a regular file, however large. Anything else, such as a
// pipe, is refused without waiting for it. Errors are *invalid.Error.
func ReadRegular(path string) ([]byte, error) {
	return ReadRegularFile(context.Background(), path, math.MaxInt64-1)
}

// ReadRegularFile is ReadFile of a regular file, such as one of a data set. Anything else is
// refused as ReadRegular does.
func ReadRegularFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	if _, err := SizeOfRegular(path); err != nil {
		return nil, err
	}
	return ReadFile(ctx, path, limit)
}

// ReadFile returns the content of at most limit bytes of a file or pipe that the user names in an
// option; a device is refused. Errors are *invalid.Error, or the context's.
func ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	var data bytes.Buffer
	tooLarge := &invalid.Error{Where: path, Want: "at most " + format.Bytes(limit), Got: "more"}
	if info, err := f.Stat(); err == nil {
		if info.Mode()&fs.ModeDevice != 0 {
			return nil, &invalid.Error{Where: path, Want: "a regular file or a pipe", Got: "a device"}
		}
		if info.Mode().IsRegular() && info.Size() > limit {
			return nil, tooLarge
		}
		data.Grow(int(info.Size()) + bytes.MinRead)
	}
	n, err := data.ReadFrom(io.LimitReader(f, limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, invalid.File(path, err)
	case n > limit:
		return nil, tooLarge
	}
	return data.Bytes(), nil
}

// Write calls write with a buffered writer and puts what it wrote at path, in place of
// any file there. The folder must exist. When Write returns nil, content and name are
// on disk; when it fails, the earlier file remains, unless the error is that of
// syncing the folder, which comes after the rename.
//
// Symbolic links to files are followed, and a file keeps its permissions. Devices, named pipes
// and the process's own stdout or stderr are written through as the bytes come, without
// any of these promises.
//
// The bytes go first to a hidden file beside path. Write also removes what killed processes left
// in the folder, of Write and of WriteFolder.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = replace(path, nil, write, os.Rename)
	case err != nil:
	case info.IsDir():
		err = &invalid.Error{Want: "a file", Got: "a folder"}
	case ownStream(info) != nil:
		err = buffered(ownStream(info), write)
	case info.Mode().IsRegular():
		var target string
		if target, err = filepath.EvalSymlinks(path); err == nil {
			err = replace(target, info, write, os.Rename)
		}
	default:
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			err = errors.Join(buffered(f, write), f.Close())
		}
	}
	return ofFile(path, err)
}

// WriteNew is Write for a file that must not exist. Of several writers at a time one succeeds.
func WriteNew(path string, write func(io.Writer) error) error {
	err := replace(path, nil, write, os.Link) // which fails if the path exists
	if errors.Is(err, fs.ErrExist) {
		err = &invalid.Error{Want: "a new file", Got: "a file that exists"}
	}
	return ofFile(path, err)
}

// WriteNamed is Write for a file in dir whose path write returns. A file or link there is replaced.
func WriteNamed(dir string, write func(io.Writer) (path string, err error)) error {
	path := ""
	return ofFile(dir, replace(filepath.Join(dir, "file"), nil, func(w io.Writer) (err error) {
		path, err = write(w)
		return err
	}, func(from, _ string) error { return os.Rename(from, path) }))
}

// ofFile returns the error of writing a file. One that names another place, such as the input of the
// caller, is not one of the file.
func ofFile(path string, err error) error {
	if named := (*invalid.Error)(nil); err == nil || errors.As(err, &named) && named.Where != "" {
		return err
	}
	err = invalid.File(path, err)
	if e := (*invalid.Error)(nil); errors.Is(err, fs.ErrNotExist) && errors.As(err, &e) {
		e.Hint = "Create the folder first."
	}
	return err
}

// ownStream returns stdout or stderr where that is the file, else nil. Where stdout is redirected
// to a file, /dev/stdout is that file. To replace it would lose what else is printed.
func ownStream(info fs.FileInfo) *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := f.Stat(); err == nil && os.SameFile(info, own) {
			return f
		}
	}
	return nil
}

// WriteCSV writes rows as CSV, as Write does.
func WriteCSV(path string, rows [][]string) error {
	return Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// replace writes a temporary file, and gives it its name by os.Rename or os.Link. old is the file that
// is there, if any.
func replace(path string, old fs.FileInfo, write func(io.Writer) error, name func(from, to string) error) (err error) {
	f, err := createTemporary(path, old)
	if err != nil {
		return err
	}
	// Deferred, so that a panic in write leaves nothing behind either.
	defer func() {
		_ = f.Close() // which unlocks it: its other names are on disk, or it is of no use any more
		if failed := os.Remove(f.Name()); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}()
	if err := buffered(f, write); err != nil {
		return err
	}
	err = f.Sync()
	if err == nil && runtime.GOOS == "windows" { // which renames no file that is open
		err = f.Close()
	}
	if err == nil { // the file is closed, and so unlocked, only after it has its name
		err = name(f.Name(), path)
	}
	if err == nil {
		err = SyncFolder(filepath.Dir(path))
	}
	return err
}

// WriteFolder calls write with a hidden folder beside path, and gives it that path when write
// returns nil. At path there must be nothing, or an empty folder. When it fails, nothing is left.
// The error is write's or an *invalid.Error.
func WriteFolder(path string, write func(dir string) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return invalid.File(path, err)
	}
	// Unlike os.MkdirTemp, which makes folders that only the user can read.
	f, err := createLocked(path, func(name string) (*os.File, error) {
		if err := os.Mkdir(name, 0o777); err != nil {
			return nil, err
		}
		return os.Open(name)
	})
	if err != nil {
		return invalid.File(path, err)
	}
	// After the renaming there is nothing left to remove.
	defer func() { err = errors.Join(err, os.RemoveAll(f.Name())) }()
	defer func() { _ = f.Close() }() // it holds only the lock
	if err := write(f.Name()); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which renames no folder that is open
		_ = f.Close()
	}
	_ = os.Remove(path) // an empty one
	return invalid.File(path, Rename(f.Name(), path))
}

func buffered(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, bufferSize)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
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
