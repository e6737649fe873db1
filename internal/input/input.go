// Package input reads files, pipes and standard input that the user names. A read ends
// when its context is cancelled, even while a pipe has no data, and ReadFile bounds the
// memory that a file can take.
//
// ParseObject parses JSON objects with unique keys. Package atomicfile writes files.
package input

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// pipeBuffer is the number of bytes that are read from a pipe at once.
const pipeBuffer = 1 << 16

// File is an open file, pipe or device.
type File struct {
	ctx  context.Context
	file *os.File
	pipe []byte // buffer for what is no regular file, else nil
}

// Open opens the file at path. A named pipe that nobody writes to is waited for until
// the context is cancelled. Errors are *invalid.Error, or the context's.
func Open(ctx context.Context, path string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, invalid.File(path, err)
	}
	if info.Mode().IsRegular() {
		f, err := os.Open(path)
		if err != nil {
			return nil, invalid.File(path, err)
		}
		return &File{ctx: ctx, file: f}, nil
	}
	f, err := wait(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		if ctx.Err() == nil {
			err = invalid.File(path, err)
		}
		return nil, err
	}
	return &File{ctx: ctx, file: f, pipe: make([]byte, pipeBuffer)}, nil
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
func Stdin(ctx context.Context) *File {
	return &File{ctx: ctx, file: os.Stdin, pipe: make([]byte, pipeBuffer)}
}

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

// Name returns the path that the file was opened by.
func (f *File) Name() string { return f.file.Name() }

// Regular reports whether f is a regular file, whose end is known.
func (f *File) Regular() bool { return f.pipe == nil }

// Read reads as an io.Reader. It returns the context's error once that is cancelled.
func (f *File) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if f.pipe == nil {
		return f.file.Read(p)
	}
	// An abandoned read may still write to the buffer, so it must not be p.
	buffer := f.pipe[:min(len(p), len(f.pipe))]
	n, err := wait(f.ctx, func() (int, error) { return f.file.Read(buffer) })
	return copy(p, buffer[:n]), err
}

// ReadAt reads as an io.ReaderAt. It returns the context's error once that is
// cancelled.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, offset)
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// ReadFile returns the content of a file or pipe of at most limit bytes. Errors are
// *invalid.Error, or the context's.
func ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, invalid.File(path, err)
	case n > limit:
		return nil, &invalid.Error{Where: path, Want: "at most " + format.Bytes(limit), Got: "more"}
	}
	return b.Bytes(), nil
}
