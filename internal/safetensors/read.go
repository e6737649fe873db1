package safetensors

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// File is the content of a file.
type File struct {
	Tensors     []Tensor // in the order of their numbers
	Metadata    map[string]string
	Checksummed bool // the file has a checksum, which matches
}

// Tensor returns a tensor by its name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// ReadFile reads a regular file. The error is an *invalid.Error.
func ReadFile(path string) (*File, error) {
	if _, err := input.SizeOfRegular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, invalid.File(path, err)
	}
	defer func() { _ = f.Close() }() // only read
	return Read(bufio.NewReaderSize(f, 1<<20), path)
}

// maxHeader is the limit of the Python library, in bytes.
const maxHeader = 100_000_000

// Read reads from r; name is the file in errors, which are *invalid.Error. Memory is
// bounded by what r holds, not by what the header claims.
func Read(r io.Reader, name string) (*File, error) {
	f, err := read(r)
	return f, invalid.At(name, err)
}

func read(r io.Reader) (*File, error) {
	raw, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	f, entries, err := parseHeader(raw)
	if err != nil {
		return nil, err
	}
	var end int
	for i := range f.Tensors {
		t := &f.Tensors[i]
		e := entries[t.Name]
		if e.Offsets[0] != end {
			return nil, inTensor(t.Name, &invalid.Error{Want: fmt.Sprintf("data_offsets from %d, without gaps", end), Got: fmt.Sprint(e.Offsets[0])})
		}
		end = e.Offsets[1]
		if err := readNumbers(r, t, e); err != nil {
			return nil, inTensor(t.Name, err)
		}
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n != 0:
		return nil, &invalid.Error{Want: fmt.Sprintf("the file to end after %d bytes of numbers", end), Got: "more"}
	case !errors.Is(err, io.EOF):
		return nil, &invalid.Error{Err: err}
	}
	for _, e := range entries {
		if e.Dtype != float32Type && e.Dtype != float64Type {
			return f, nil // not a file of Write, whose checksum this could be
		}
	}
	return f, f.verify()
}

// verify removes the checksum from the metadata and compares it.
func (f *File) verify() error {
	want, ok := f.Metadata[checksumKey]
	if !ok {
		return nil
	}
	delete(f.Metadata, checksumKey)
	got, err := checksum(f.Tensors, f.Metadata)
	if err != nil {
		return err
	}
	if got != want {
		return &invalid.Error{Field: "checksum", Want: "sha256 " + want, Got: got, Hint: "The file is damaged."}
	}
	f.Checksummed = true
	return nil
}

func inTensor(name string, err error) error { return invalid.At(fmt.Sprintf("tensor %q", name), err) }

func readHeader(r io.Reader) ([]byte, error) {
	var length [lengthBytes]byte
	if n, err := io.ReadFull(r, length[:]); err != nil {
		return nil, short("a header length of 8 bytes", n, err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, &invalid.Error{Want: fmt.Sprintf("a header of at most %d bytes", maxHeader), Got: fmt.Sprint(n)}
	}
	var h bytes.Buffer // grows with the data read, not with the claimed length
	if _, err := io.CopyN(&h, r, int64(n)); err != nil {
		return nil, short(fmt.Sprintf("a header of %d bytes", n), h.Len(), err)
	}
	return h.Bytes(), nil
}

// short is the error of a file that ends early, or that cannot be read.
func short(want string, got int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &invalid.Error{Want: want, Got: fmt.Sprintf("%d bytes", got)}
	}
	return &invalid.Error{Err: err}
}

// parseHeader returns the file without its numbers, tensors in the order of their
// offsets.
func parseHeader(raw []byte) (*File, map[string]entry, error) {
	members, err := input.ParseObject(raw)
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
			return nil, nil, inTensor(m.Key, &invalid.Error{Want: "an object with dtype, shape and data_offsets"})
		}
		if err := e.check(); err != nil {
			return nil, nil, inTensor(m.Key, err)
		}
		entries[m.Key] = e
		f.Tensors = append(f.Tensors, Tensor{Name: m.Key, Shape: e.Shape})
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int {
		return cmp.Or(slices.Compare(entries[a.Name].Offsets, entries[b.Name].Offsets), strings.Compare(a.Name, b.Name))
	})
	return f, entries, nil
}

func (e entry) check() error {
	width := widths[e.Dtype]
	if width == 0 {
		return &invalid.Error{Field: "dtype", Want: "one of " + strings.Join(slices.Sorted(maps.Keys(widths)), ", "), Got: fmt.Sprintf("%q", e.Dtype)}
	}
	if e.Shape == nil {
		return &invalid.Error{Field: "shape", Want: "a list of sizes", Got: "none"}
	}
	size, err := sizeOf(e.Shape)
	if err != nil {
		return err
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1]-e.Offsets[0] != width*size {
		return &invalid.Error{
			Field: "data_offsets", Want: fmt.Sprintf("%d bytes for shape %v of %s", width*size, e.Shape, e.Dtype), Got: fmt.Sprint(e.Offsets),
		}
	}
	return nil
}

// readNumbers fills t, which grows with the data read.
func readNumbers(r io.Reader, t *Tensor, e entry) error {
	width := widths[e.Dtype]
	switch e.Dtype {
	case float64Type:
		t.F64 = []float64{}
	case float32Type, float16Type, bfloat16Type:
		t.F32 = []float32{}
	}
	all := e.Offsets[1] - e.Offsets[0]
	buffer := make([]byte, min(all, 8*chunk))
	for left := all; left > 0; {
		part := buffer[:min(left, len(buffer))]
		if n, err := io.ReadFull(r, part); err != nil {
			return short(fmt.Sprintf("%d bytes of numbers", all), all-left+n, err)
		}
		left -= len(part)
		for ; len(part) > 0; part = part[width:] {
			switch e.Dtype {
			case float64Type:
				t.F64 = append(t.F64, math.Float64frombits(binary.LittleEndian.Uint64(part)))
			case float32Type:
				t.F32 = append(t.F32, math.Float32frombits(binary.LittleEndian.Uint32(part)))
			case float16Type:
				t.F32 = append(t.F32, numeric.Float16(binary.LittleEndian.Uint16(part)))
			case bfloat16Type:
				t.F32 = append(t.F32, numeric.BFloat16(binary.LittleEndian.Uint16(part)))
			}
		}
	}
	return nil
}
