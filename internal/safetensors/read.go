package safetensors

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// ReadFile reads a regular file. The error is an *invalid.Error.
func ReadFile(path string) (*File, error) {
	f, size, err := fileio.OpenRegular(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return Read(bufio.NewReaderSize(f, 1<<20), size, path, nil)
}

// ReadMetadata reads the metadata of a regular file, without its checksums, which are not verified.
// The error is an *invalid.Error.
func ReadMetadata(path string) (map[string]string, error) {
	file, size, err := fileio.OpenRegular(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	f, _, err := readHeader(&limited{file, size})
	if err != nil {
		return nil, invalid.At(path, err)
	}
	delete(f.Metadata, checksumKey)
	delete(f.Metadata, Added+checksumKey)
	return f.Metadata, nil
}

// Choose returns which tensors of a file are wanted, by their names and shapes, or refuses it before
// its numbers are read.
type Choose func(header *File) (wanted func(tensor string) bool, err error)

// Read reads size bytes from r; name is the file in errors, which are *invalid.Error. The numbers
// of tensors that are not wanted are not kept, unless the file has a checksum; nil wants all. Memory
// is bounded by the size, not by what the header claims.
func Read(r io.Reader, size int64, name string, choose Choose) (*File, error) {
	f, err := read(&limited{r, size}, choose)
	return f, invalid.At(name, err)
}

// limited is a reader of a known length.
type limited struct {
	io.Reader
	left int64
}

// bytes returns the next n bytes, or those that are left. A file that shrank gives fewer.
func (r *limited) bytes(n int64) ([]byte, error) {
	data := make([]byte, min(n, r.left))
	got, err := io.ReadFull(r.Reader, data)
	r.left -= int64(got)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.left, err = 0, nil
	}
	return data[:got], err
}

// skip leaves out the next n bytes.
func (r *limited) skip(n int64) error {
	got, err := io.CopyN(io.Discard, r.Reader, n)
	if r.left -= got; errors.Is(err, io.EOF) {
		return short(fmt.Sprintf("%d bytes of numbers", n), int(got))
	}
	return err
}

// readHeader reads a file up to its numbers.
func readHeader(r *limited) (*File, map[string]entry, error) {
	begin, err := r.bytes(lengthBytes)
	if err != nil {
		return nil, nil, err
	}
	if len(begin) < lengthBytes {
		return nil, nil, short("the length of a header in 8 bytes", len(begin))
	}
	length := binary.LittleEndian.Uint64(begin)
	first, err := r.bytes(int64(min(length, fileio.FormatBytes)))
	if err != nil {
		return nil, nil, err
	}
	if length > maxHeader || len(first) > 0 && first[0] != '{' {
		return nil, nil, otherFormat(append(begin, first...))
	}
	rest, err := r.bytes(int64(length) - int64(len(first)))
	if err != nil {
		return nil, nil, err
	}
	raw := append(first, rest...)
	if uint64(len(raw)) < length {
		return nil, nil, short(fmt.Sprintf("a header of %d bytes", length), len(raw))
	}
	return parseHeader(raw)
}

func read(r *limited, choose Choose) (*File, error) {
	f, entries, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	var end int
	for _, t := range f.Tensors { // all sizes are checked before numbers are read
		e := entries[t.Name]
		if e.Offsets[0] != end {
			return nil, inTensor(t.Name, &invalid.Error{
				Want: fmt.Sprintf("data_offsets from %d, without gaps", end), Got: fmt.Sprint(e.Offsets[0]),
			})
		}
		if end = e.Offsets[1]; int64(end) > r.left {
			return nil, inTensor(t.Name, short(fmt.Sprintf("%d bytes of numbers", end), int(r.left)))
		}
	}
	if int64(end) < r.left {
		return nil, &invalid.Error{
			Want: fmt.Sprintf("the file to end after %d bytes of numbers", end), Got: fmt.Sprint(r.left),
		}
	}
	wanted := func(string) bool { return true }
	if choose != nil && f.Metadata[checksumKey] == "" {
		f.HeaderOnly = true
		if wanted, err = choose(f); err != nil {
			return nil, err
		}
		f.HeaderOnly = false
	}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		if err := t.read(r, entries[t.Name], wanted(t.Name)); err != nil {
			return nil, inTensor(t.Name, err)
		}
	}
	for _, e := range entries {
		if e.Dtype != float32Type && e.Dtype != float64Type {
			return f, nil // not a file of Write, whose checksum this could be
		}
	}
	return f, f.verify()
}

// read reads the numbers of t, or skips them.
func (t *Tensor) read(r *limited, e entry, wanted bool) error {
	of, size := types[e.Dtype], e.Offsets[1]-e.Offsets[0]
	if !wanted {
		return r.skip(int64(size))
	}
	raw, err := r.bytes(int64(size))
	switch n := len(raw) / of.width; {
	case err != nil:
		return err
	case len(raw) < size:
		return short(fmt.Sprintf("%d bytes of numbers", size), len(raw))
	case of.number != nil:
		t.F32 = numeric.Decode(make([]float32, n), raw, of.width, of.number)
	case e.Dtype == float64Type:
		t.F64 = numeric.Decode(make([]float64, n), raw, of.width, numeric.Float64)
	}
	return nil
}

// otherFormat returns the error of a file that begins as one of another format.
func otherFormat(begin []byte) error {
	f := fileio.FormatOf(begin)
	return &invalid.Error{
		Want: "a safetensors file", Got: cmp.Or(f.Name, "another format"),
		Hint: cmp.Or(f.Hint, "Weights in other formats are converted with the Python library safetensors "+
			"(safetensors.torch.save_file)."),
	}
}

// verify removes the checksums from the metadata and compares them.
func (f *File) verify() error {
	want, wantAdded := f.Metadata[checksumKey], f.Metadata[Added+checksumKey]
	if want == "" {
		return nil
	}
	delete(f.Metadata, checksumKey)
	delete(f.Metadata, Added+checksumKey)
	if err := f.added(false).compare(want); err != nil {
		return err
	}
	added := f.added(true)
	if len(added.Tensors)+len(added.Metadata) > 0 || wantAdded != "" {
		if err := added.compare(wantAdded); err != nil {
			return err
		}
	}
	f.Checksummed = true
	return nil
}

// compare returns an error unless a file has a checksum.
func (f *File) compare(want string) error {
	got, err := checksum(f.Tensors, f.Metadata)
	if err == nil && got != want {
		err = &invalid.Error{
			Field: "checksum", Want: "sha256 " + want, Got: got, Hint: "The file is damaged.",
		}
	}
	return err
}

func inTensor(name string, err error) error { return invalid.At(fmt.Sprintf("tensor %q", name), err) }

// short is the error of a file that ends early.
func short(want string, got int) error {
	return &invalid.Error{
		Want: want, Got: fmt.Sprintf("%d bytes", got), Hint: "The file is truncated or damaged.",
	}
}

// parseHeader returns the file without its numbers, tensors in the order of their offsets.
func parseHeader(raw []byte) (*File, map[string]entry, error) {
	members, err := fileio.ParseObject(raw)
	if err != nil {
		return nil, nil, invalid.At("header", err)
	}
	f := &File{}
	entries := make(map[string]entry, len(members))
	for _, m := range members {
		if m.Key == metadataKey {
			if err := json.Unmarshal(m.Value, &f.Metadata); err != nil {
				return nil, nil, &invalid.Error{Field: metadataKey, Want: "an object of strings"}
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(m.Value, &e); err != nil {
			return nil, nil, inTensor(m.Key, &invalid.Error{
				Want: "an object with dtype, shape and data_offsets",
			})
		}
		if err := e.check(); err != nil {
			return nil, nil, inTensor(m.Key, err)
		}
		entries[m.Key] = e
		f.Tensors = append(f.Tensors, Tensor{Name: m.Key, Shape: e.Shape})
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int {
		return cmp.Or(slices.Compare(entries[a.Name].Offsets, entries[b.Name].Offsets),
			strings.Compare(a.Name, b.Name))
	})
	return f, entries, nil
}

func (e entry) check() error {
	width := types[e.Dtype].width
	if width == 0 {
		return &invalid.Error{
			Field: "dtype", Want: "one of " + strings.Join(slices.Sorted(maps.Keys(types)), ", "),
			Got: fmt.Sprintf("%q", e.Dtype),
		}
	}
	size, ok := numeric.Count(e.Shape, maxNumbers)
	if e.Shape == nil || !ok {
		return &invalid.Error{
			Field: "shape", Want: fmt.Sprintf("a list of sizes of at most %d numbers", maxNumbers),
			Got: fmt.Sprint(e.Shape),
		}
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1]-e.Offsets[0] != width*size {
		return &invalid.Error{
			Field: "data_offsets",
			Want:  fmt.Sprintf("%d bytes for shape %v of %s", width*size, e.Shape, e.Dtype),
			Got:   fmt.Sprint(e.Offsets),
		}
	}
	return nil
}
