// Package input reads files, pipes and standard input that the user names. A read ends
// when its context is cancelled, even while a pipe has no data, and ReadFile bounds the
// memory that a file can take.
//
// ParseObject parses JSON objects with unique keys. Package atomicfile writes files.
package input

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	f := &File{ctx: ctx}
	if info.Mode().IsRegular() {
		f.file, err = os.Open(path)
	} else {
		f.pipe = make([]byte, pipeBuffer)
		f.file, err = wait(ctx, func() (*os.File, error) { return os.Open(path) })
	}
	if err == nil {
		return f, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, invalid.File(path, err)
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

// ReadRegular returns the content of a regular file. Unlike ReadFile it knows the size, and
// never waits.
func ReadRegular(path string) ([]byte, error) {
	if _, err := SizeOfRegular(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	return data, invalid.File(path, err)
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

// Member is a key of a JSON object with its value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// ParseObject returns the members of one JSON object in their order. It refuses duplicate
// keys, which encoding/json accepts. Errors are *invalid.Error without a place.
func ParseObject(data []byte) ([]Member, error) {
	notObject := func(found string) error { return &invalid.Error{Want: "one JSON object", Got: found} }
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, notObject("nothing")
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return nil, notObject(fmt.Sprintf("a syntax error in line %d", line))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, notObject("another JSON value")
	}
	var list []Member
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{Key: fmt.Sprint(key)}
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		if seen[m.Key] {
			return nil, &invalid.Error{Field: m.Key, Want: "each key once", Got: "it twice"}
		}
		seen[m.Key] = true
		list = append(list, m)
	}
	return list, nil
}
