package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// entry is what the header says of a tensor.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets []int  `json:"data_offsets"` // begin and end, from the end of the header
}

const (
	metadataKey = "__metadata__"
	lengthBytes = 8
)

// Write writes tensors, which must have names of their own, and metadata. Equal
// tensors and metadata give equal bytes.
func Write(w io.Writer, tensors []Tensor, metadata map[string]string) error {
	h, err := header(tensors, metadata)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(h))); err != nil {
		return err
	}
	if _, err := w.Write(h); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := writeNumbers(w, t); err != nil {
			return err
		}
	}
	return nil
}

// header marshals the header, padded with spaces so that the numbers are aligned.
func header(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	entries := make(map[string]any, len(tensors)+1)
	if len(metadata) > 0 {
		entries[metadataKey] = metadata
	}
	var end int
	for _, t := range tensors {
		if err := t.check(); err != nil {
			return nil, err
		}
		if _, twice := entries[t.Name]; twice || t.Name == metadataKey {
			return nil, fmt.Errorf("tensor %q: expected a name of its own", t.Name)
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{} // a scalar; null is no shape
		}
		entries[t.Name] = entry{t.dtype(), shape, []int{end, end + t.bytes()}}
		end += t.bytes()
	}
	h, err := json.Marshal(entries) // sorts the keys
	for err == nil && len(h)%lengthBytes != 0 {
		h = append(h, ' ')
	}
	return h, err
}

// chunk is how many numbers are encoded at a time.
const chunk = 1 << 14

func writeNumbers(w io.Writer, t Tensor) error {
	buffer := make([]byte, 0, 8*chunk)
	for n := t.F32; len(n) > 0; {
		part := n[:min(chunk, len(n))]
		buffer = buffer[:0]
		for _, v := range part {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
		n = n[len(part):]
	}
	for n := t.F64; len(n) > 0; {
		part := n[:min(chunk, len(n))]
		buffer = buffer[:0]
		for _, v := range part {
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
		}
		if _, err := w.Write(buffer); err != nil {
			return err
		}
		n = n[len(part):]
	}
	return nil
}
