package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Tensor is a named array, row by row. F32 or F64 holds its numbers. Numbers of 16 bits
// are read as F32; of integers, only name and shape are read.
type Tensor struct {
	Name  string
	Shape []int
	F32   []float32
	F64   []float64
}

// The types of floating-point numbers, as headers name them. The first two are written.
const (
	float32Type  = "F32"
	float64Type  = "F64"
	float16Type  = "F16"
	bfloat16Type = "BF16"
)

// widths are the bytes of one number of each type that can be read.
var widths = map[string]int{
	float32Type: 4, float64Type: 8, float16Type: 2, bfloat16Type: 2,
	"BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "I32": 4, "U32": 4, "I64": 8, "U64": 8,
}

func (t Tensor) dtype() string {
	if t.F64 != nil {
		return float64Type
	}
	return float32Type
}

func (t Tensor) bytes() int { return 4*len(t.F32) + 8*len(t.F64) }

// check returns an error where the shape does not fit the numbers.
func (t Tensor) check() error {
	size, err := sizeOf(t.Shape)
	if err != nil {
		return err
	}
	if t.F32 != nil && t.F64 != nil {
		return &invalid.Error{Want: "either F32 or F64", Got: "both"}
	}
	if n := len(t.F32) + len(t.F64); n != size {
		return &invalid.Error{Want: fmt.Sprintf("%d numbers for shape %v", size, t.Shape), Got: fmt.Sprint(n)}
	}
	return nil
}

// maxNumbers bounds a tensor, so that no product of sizes overflows.
const maxNumbers = 1 << 40

// sizeOf is the product of a shape.
func sizeOf(shape []int) (int, error) {
	size := 1
	for _, n := range shape {
		if n < 0 || (n > 0 && size > maxNumbers/n) {
			return 0, &invalid.Error{Want: fmt.Sprintf("a shape of at most %d numbers", maxNumbers), Got: fmt.Sprint(shape)}
		}
		size *= n
	}
	return size, nil
}

// entry is a tensor in the header.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"` // begin and end, from the end of the header
}

const (
	metadataKey = "__metadata__"
	checksumKey = "sha256" // in the metadata
	lengthBytes = 8
)

// Write writes tensors, which must have different names, and metadata. Equal tensors and
// metadata give equal bytes.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	sum, err := checksum(tensors, metadata)
	if err != nil {
		return err
	}
	all := maps.Clone(metadata)
	if all == nil {
		all = make(map[string]string)
	}
	all[checksumKey] = sum
	h, err := header(tensors, all)
	if err != nil {
		return err
	}
	for len(h)%lengthBytes != 0 {
		h = append(h, ' ') // aligns the numbers
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(h))); err != nil {
		return err
	}
	if _, err := w.Write(h); err != nil {
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
		if err := t.check(); err != nil {
			return nil, invalid.At(fmt.Sprintf("tensor %q", t.Name), err)
		}
		if _, twice := entries[t.Name]; twice || t.Name == metadataKey {
			return nil, &invalid.Error{Where: fmt.Sprintf("tensor %q", t.Name), Want: "a unique name"}
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{} // a scalar, not null
		}
		entries[t.Name] = entry{t.dtype(), shape, []int{end, end + t.bytes()}}
		end += t.bytes()
	}
	return json.Marshal(entries) // sorts the keys
}

// chunk is how many numbers are encoded at a time.
const chunk = 1 << 14

func writeNumbers(w io.Writer, tensors []Tensor) error {
	buffer := make([]byte, 0, 8*chunk)
	for _, t := range tensors {
		for n := t.F32; len(n) > 0; n = n[min(chunk, len(n)):] {
			buffer = buffer[:0]
			for _, v := range n[:min(chunk, len(n))] {
				buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
			}
			if _, err := w.Write(buffer); err != nil {
				return err
			}
		}
		for n := t.F64; len(n) > 0; n = n[min(chunk, len(n)):] {
			buffer = buffer[:0]
			for _, v := range n[:min(chunk, len(n))] {
				buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
			}
			if _, err := w.Write(buffer); err != nil {
				return err
			}
		}
	}
	return nil
}
