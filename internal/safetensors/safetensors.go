// Package safetensors reads and writes the safetensors file format: the length of a JSON
// header in 8 bytes, the header, and the raw numbers of the tensors one after the other,
// all little-endian. The Python library safetensors reads and writes the same files.
//
// Write adds a checksum to the header's metadata, which Read verifies. What Added marks has one of its own,
// so that it can change without the checksum of all else. Tensors are written as float32 or float64; float16
// and bfloat16 are read as well, into float32. Files are not mapped into memory.
package safetensors

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// Tensor is a named array, row by row. F32 or F64 holds its numbers. Numbers of 16 bits
// are read as F32; of integers, only name and shape are read.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	F64   []float64
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
	float32Type: {4, numeric.Float32}, "F16": {2, numeric.Float16}, "BF16": {2, numeric.BFloat16},
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

// added selects what was added, or all else.
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
	all := map[string]string{}
	maps.Copy(all, metadata)
	for key, part := range map[string]*File{checksumKey: f.added(false), Added + checksumKey: f.added(true)} {
		sum, err := checksum(part.Tensors, part.Metadata)
		if err != nil {
			return err
		}
		if key == checksumKey || len(part.Tensors)+len(part.Metadata) > 0 {
			all[key] = sum
		}
	}
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

// checksum is the SHA-256 of the header without checksum and padding, and the numbers.
func checksum(tensors []Tensor, metadata map[string]string) (string, error) {
	h, err := header(tensors, metadata)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(h) //nolint:errcheck // a hash does not fail
	err = writeNumbers(sum, tensors)
	return hex.EncodeToString(sum.Sum(nil)), err
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
		size, ok := numeric.Count(t.Shape, maxNumbers)
		if both := t.F32 != nil && t.F64 != nil; !ok || both || len(t.F32)+len(t.F64) != size {
			want := fmt.Sprintf("numbers of one type for shape %v", t.Shape)
			return nil, inTensor(t.Name, &invalid.Error{
				Want: want, Got: fmt.Sprintf("%d F32 and %d F64", len(t.F32), len(t.F64)),
			})
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
		if err := cmp.Or(numeric.Write(w, t.F32), numeric.Write(w, t.F64)); err != nil {
			return err
		}
	}
	return nil
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
