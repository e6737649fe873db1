// Package fileio reads the files, pipes and standard input that a user names, and writes files atomically.
//
// A read ends when its context is cancelled, even while a pipe has no data, and ReadFile
// bounds the memory that a file can take. ParseObject parses JSON objects with unique keys.
//
// After a crash, a reader finds the old content of a file that Write writes or the new, never a part of it.
// Write is not a lock: two writers of one path do not mix their bytes; the one that renames last wins.
package fileio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"syscall"
	"unicode/utf8"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

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

// Open opens the file at path. A named pipe is opened once a program writes to it. Errors are *invalid.Error,
// or the context's.
func Open(ctx context.Context, path string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := wait(ctx, func() (*os.File, error) { return os.Open(path) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, invalid.File(path, err)
	}
	f := &File{File: file, ctx: ctx}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		f.pipe = make([]byte, pipeBuffer)
	} else {
		addInput(path, info)
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
	switch mode := info.Mode(); {
	case mode.IsDir():
		return 0, invalid.File(path, syscall.EISDIR)
	case !mode.IsRegular():
		return 0, &invalid.Error{Where: path, Want: "a regular file", Got: "a pipe or device"}
	}
	return info.Size(), nil
}

// Stdin returns the standard input.
func Stdin(ctx context.Context) *File {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
		addInput("-", info)
	}
	return &File{os.Stdin, ctx, make([]byte, pipeBuffer)}
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

// Member is a key of a JSON object with its value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// maxMembers is the largest number of members of an object, far above the tensors of any network.
const maxMembers = 10_000

// ParseObject returns the members of one JSON object in their order. It refuses duplicate
// keys and text that is not UTF-8, which encoding/json accepts. Errors are *invalid.Error without a place.
func ParseObject(data []byte) ([]Member, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	begin, err := d.Token()
	list, seen := []Member{}, map[string]bool{}
	for err == nil && begin == json.Delim('{') && d.More() {
		key, _ := d.Token()
		m := Member{Key: fmt.Sprint(key)}
		switch {
		case seen[m.Key]:
			return nil, invalid.Expected(m.Key, "it twice", "each key once")
		case len(list) == maxMembers:
			return nil, &invalid.Error{Want: fmt.Sprintf("at most %d keys", maxMembers), Got: "more"}
		}
		seen[m.Key] = true
		err = d.Decode(&m.Value)
		list = append(list, m)
	}
	if err := json.Unmarshal(data, new(struct{})); err != nil || begin != json.Delim('{') {
		e := &invalid.Error{Want: "one JSON object", Got: "another JSON value"}
		if syntax := (*json.SyntaxError)(nil); len(bytes.TrimSpace(data)) == 0 {
			e.Got = "nothing"
		} else if errors.As(err, &syntax) {
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			e.Got = fmt.Sprintf("a syntax error in line %d", line)
		}
		return nil, e
	}
	return list, err
}

// WriteJSON writes a value as indented JSON, as Write does.
func WriteJSON(path string, v any) error {
	return Write(path, func(w io.Writer) error { return format.WriteJSON(w, v) })
}

// sealKey begins the last member of a sealed object in compact JSON: the SHA-256, in hex, of
// the compact JSON of the object without this member.
const sealKey = `,"sha256":"`

// WriteSealed writes a value as WriteJSON does, with a checksum as its last member. The value
// must be an object with at least one member.
func WriteSealed(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	seal := fmt.Sprintf(`%s%x"}`, sealKey, sha256.Sum256(text))
	return WriteJSON(path, json.RawMessage(append(text[:len(text)-1], seal...)))
}

// DecodeSealed reads what WriteSealed wrote. Other content, and keys that v does not have, are
// errors: an *invalid.Error, or that of encoding/json.
func DecodeSealed(data []byte, v any) error {
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return err
	}
	seals := bytes.LastIndex(text.Bytes(), []byte(sealKey)) // the content may have the same key
	if seals < 0 {
		return invalid.Expected("sha256", "none", "the checksum of the content")
	}
	content, seal := append(bytes.Clone(text.Bytes()[:seals]), '}'), text.Bytes()[seals:]
	if string(seal) != fmt.Sprintf(`%s%x"}`, sealKey, sha256.Sum256(content)) {
		return &invalid.Error{
			Field: "sha256", Want: "the checksum of the content", Got: "another",
			Hint: "The file was changed or is damaged.",
		}
	}
	return Unmarshal(content, v)
}

// Unmarshal parses JSON as encoding/json does, but keys that v does not have and text that is not
// UTF-8 are errors.
func Unmarshal(data []byte, v any) error {
	if err := checkText(data); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return &invalid.Error{Want: "the end after one JSON value", Got: "more"}
	}
	return nil
}

func checkText(data []byte) error {
	if !utf8.Valid(data) {
		return &invalid.Error{Want: "text in Unicode", Got: "bytes that are not UTF-8"}
	}
	return nil
}

// Format is a file format that is taken for another one.
type Format struct {
	Name string
	Hint string // what to do, where it does not depend on the format that is wanted
}

// Picture is the format of images that are read.
const Picture = "an image"

// ConvertHint says what to do with pictures that are not read.
const ConvertHint = "Convert photographs to JPEG or PNG."

var begins = regexp.MustCompile

// formats are told apart by the first bytes of a file.
var formats = []struct {
	begin      *regexp.Regexp
	name, hint string
}{
	{
		begins(`^version https://git-lfs`), "a git-LFS pointer",
		"It stands for the file: run git lfs pull, or download the file itself.",
	},
	{
		begins(`(?i)^(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|head|body|error)`), "a page of HTML or XML",
		"The server sent a page in place of the file: download it again.",
	},
	{begins(`^(\xff\xfe|\xfe\xff)`), "text in UTF-16", `In Excel, save it as "CSV UTF-8".`},
	{begins(`^\x93NUMPY`), "a NumPy array (.npy)", ""},
	{begins(`^PK\x03\x04`), "a ZIP archive, such as a PyTorch checkpoint (.pt, .pth), .npz or .xlsx", ""},
	{begins(`^\x80[\x02-\x05]`), "a Python pickle, such as an old PyTorch checkpoint (.pt, .pth)", ""},
	{begins(`^\x89HDF`), "an HDF5 file (.h5, or .mat of version 7.3)", ""},
	{begins(`^MATLAB 5`), "a MATLAB file (.mat)", ""},
	{begins(`^(\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd)`), "a compressed file", "Unpack it."},
	{begins(`(?s)^(\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP)`), Picture, ""},
	{begins(`(?s)^.{4}ftyp(hei|hev|mif1|msf1)`), "a HEIC photograph", ConvertHint},
}

// FormatBytes is the number of bytes that FormatOf needs at most.
const FormatBytes = 512

// FormatOf names the format of a file by its first bytes, for the error of a reader of another
// format. It is empty for formats that are not known.
func FormatOf(begin []byte) Format {
	begin = begin[:min(len(begin), FormatBytes)]
	latin := make([]rune, len(begin)) // so that the expressions see bytes
	for i, b := range begin {
		latin[i] = rune(b)
	}
	text := []byte(string(latin))
	for _, f := range formats {
		if f.begin.Match(text) {
			return Format{f.name, f.hint}
		}
	}
	return Format{}
}
