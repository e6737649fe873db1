// Package safetensors reads and writes the safetensors file format: the length of a JSON
// header in 8 bytes, the header, and the raw numbers of the tensors one after the other,
// all little-endian. The Python library safetensors reads and writes the same files.
//
// Write adds a checksum to the header's metadata, which Read verifies. What Added marks has one of its own,
// so that it can change without the checksum of all else. Tensors are written as float32 or float64; float16
// and bfloat16 are read as well, into float32. Files are not mapped into memory.
package safetensors

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
)

// Tensor is a named array, row by row. F32 or F64 holds its numbers. Numbers of 16 bits
// are read as F32; of integers, only name and shape are read.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	F64   []float64
}

// File is the content of a file.
type File struct {
	Tensors     []Tensor // in the order of their numbers
	Metadata    map[string]string
	Checksummed bool // the file has a checksum, which matches
	HeaderOnly  bool // its numbers are not read
}

// Tensor returns a tensor by its name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// The types of numbers that are written, as headers name them.
const (
	float32Type = "F32"
	float64Type = "F64"
)

// types are those that can be read: the bytes of one number and, if it becomes a float32, how.
var types = map[string]struct {
	width  int
	number func([]byte) float32
}{
	float32Type: {4, matrix.Float32}, "F16": {2, matrix.Float16}, "BF16": {2, matrix.BFloat16},
	float64Type: {8, nil}, "BOOL": {1, nil}, "I8": {1, nil}, "U8": {1, nil}, "I16": {2, nil}, "U16": {2, nil},
	"I32": {4, nil}, "U32": {4, nil}, "I64": {8, nil}, "U64": {8, nil},
}

// maxNumbers bounds a tensor, so that no product of sizes overflows.
const maxNumbers = 1 << 40

// maxHeader is the length up to which the library safetensors reads a header.
const maxHeader = 100_000_000

type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"` // begin and end, from the end of the header
}

const (
	metadataKey = "__metadata__"
	checksumKey = "sha256" // in the metadata; Added + checksumKey is that of what was added
	lengthBytes = 8
)

// Added begins the names of tensors, and the keys of metadata, that are added to those of a file
// which has its checksum.
const Added = "added."

func (f *File) added(is bool) *File {
	part := &File{Metadata: map[string]string{}}
	for _, t := range f.Tensors {
		if strings.HasPrefix(t.Name, Added) == is {
			part.Tensors = append(part.Tensors, t)
		}
	}
	for key, text := range f.Metadata {
		if strings.HasPrefix(key, Added) == is {
			part.Metadata[key] = text
		}
	}
	return part
}

// RemoveAdded removes what Added marks.
func (f *File) RemoveAdded() { *f = *f.added(false) }

// Write writes tensors, which must have different names, and metadata. Equal tensors and
// metadata give equal bytes.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	f := &File{Tensors: tensors, Metadata: metadata}
	sums, err := f.checksums()
	if err != nil {
		return err
	}
	all := map[string]string{}
	maps.Copy(all, metadata)
	maps.Copy(all, sums)
	h, err := header(tensors, all)
	if err != nil {
		return err
	}
	for len(h)%lengthBytes != 0 {
		h = append(h, ' ') // aligns the numbers
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...)); err != nil {
		return err
	}
	return writeNumbers(w, tensors)
}

// checksums returns that of what was added, if anything was, and that of all else, by the keys of the
// metadata. Each is the SHA-256 of the header without checksums and padding, and of the numbers.
func (f *File) checksums() (map[string]string, error) {
	sums := map[string]string{}
	for key, part := range map[string]*File{checksumKey: f.added(false), Added + checksumKey: f.added(true)} {
		if key != checksumKey && len(part.Tensors)+len(part.Metadata) == 0 {
			continue
		}
		h, err := header(part.Tensors, part.Metadata)
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		sum.Write(h) //nolint:errcheck // a hash does not fail
		if err := writeNumbers(sum, part.Tensors); err != nil {
			return nil, err
		}
		sums[key] = hex.EncodeToString(sum.Sum(nil))
	}
	return sums, nil
}

func header(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	entries := make(map[string]any, len(tensors)+1)
	if len(metadata) > 0 {
		entries[metadataKey] = metadata
	}
	var end int
	for _, t := range tensors {
		if _, twice := entries[t.Name]; twice || t.Name == metadataKey {
			return nil, inTensor(t.Name, &invalid.Error{Want: "a unique name"})
		}
		size, ok := matrix.Count(t.Shape, maxNumbers)
		if both := t.F32 != nil && t.F64 != nil; !ok || both || len(t.F32)+len(t.F64) != size {
			got := fmt.Sprintf("%d F32 and %d F64", len(t.F32), len(t.F64))
			return nil, inTensor(t.Name, invalid.Expected("", got, "numbers of one type for shape %v",
				t.Shape))
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{} // a scalar, not null
		}
		e := entry{float32Type, shape, []int{end, end + 4*size}}
		if t.F64 != nil {
			e = entry{float64Type, shape, []int{end, end + 8*size}}
		}
		entries[t.Name] = e
		end = e.Offsets[1]
	}
	return json.Marshal(entries) // sorts the keys
}

func writeNumbers(w io.Writer, tensors []Tensor) error {
	for _, t := range tensors {
		if err := cmp.Or(matrix.Write(w, t.F32), matrix.Write(w, t.F64)); err != nil {
			return err
		}
	}
	return nil
}

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
		other := fileio.FormatOf(append(begin, first...))
		return nil, nil, &invalid.Error{
			Want: "a safetensors file", Got: cmp.Or(other.Name, "another format"),
			Hint: cmp.Or(other.Hint, "Weights in other formats are converted with the Python library "+
				"safetensors (safetensors.torch.save_file)."),
		}
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
			return nil, inTensor(t.Name, invalid.Expected("", e.Offsets[0],
				"data_offsets from %d, without gaps", end))
		}
		if end = e.Offsets[1]; int64(end) > r.left {
			return nil, inTensor(t.Name, short(fmt.Sprintf("%d bytes of numbers", end), int(r.left)))
		}
	}
	if int64(end) < r.left {
		return nil, invalid.Expected("", r.left, "the file to end after %d bytes of numbers", end)
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

func (t *Tensor) read(r *limited, e entry, wanted bool) error {
	of, size := types[e.Dtype], e.Offsets[1]-e.Offsets[0]
	if !wanted {
		skipped, err := io.CopyN(io.Discard, r.Reader, int64(size))
		r.left -= skipped
		return err
	}
	raw, err := r.bytes(int64(size))
	switch n := len(raw) / of.width; {
	case err != nil:
		return err
	case len(raw) < size:
		return short(fmt.Sprintf("%d bytes of numbers", size), len(raw))
	case of.number != nil:
		t.F32 = matrix.Decode(make([]float32, n), raw, of.width, of.number)
	case e.Dtype == float64Type:
		t.F64 = matrix.Decode(make([]float64, n), raw, of.width, matrix.Float64)
	}
	return nil
}

// verify removes the checksums from the metadata and compares them.
func (f *File) verify() error {
	stored := map[string]string{}
	for _, key := range []string{checksumKey, Added + checksumKey} {
		stored[key] = f.Metadata[key]
		delete(f.Metadata, key)
	}
	if stored[checksumKey] == "" {
		return nil
	}
	sums, err := f.checksums()
	if err != nil {
		return err
	}
	for key, want := range stored {
		if got := sums[key]; got != want {
			return &invalid.Error{
				Field: "checksum", Want: "sha256 " + want, Got: got, Hint: "The file is damaged.",
			}
		}
	}
	f.Checksummed = true
	return nil
}

func inTensor(name string, err error) error { return invalid.At(fmt.Sprintf("tensor %q", name), err) }

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
	slices.SortStableFunc(f.Tensors, func(a, b Tensor) int {
		return slices.Compare(entries[a.Name].Offsets, entries[b.Name].Offsets)
	})
	return f, entries, nil
}

func (e entry) check() error {
	width := types[e.Dtype].width
	if width == 0 {
		return invalid.Expected("dtype", fmt.Sprintf("%q", e.Dtype), "one of %s",
			strings.Join(slices.Sorted(maps.Keys(types)), ", "))
	}
	size, ok := matrix.Count(e.Shape, maxNumbers)
	if e.Shape == nil || !ok {
		return invalid.Expected("shape", e.Shape, "a list of sizes of at most %d numbers", maxNumbers)
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1]-e.Offsets[0] != width*size {
		return invalid.Expected("data_offsets", e.Offsets, "%d bytes for shape %v of %s", width*size, e.Shape,
			e.Dtype)
	}
	return nil
}
