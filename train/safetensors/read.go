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
	"math"
	"os"
	"slices"
	"strings"
)

// File is what a file holds.
type File struct {
	Tensors  []Tensor // in the order of their numbers
	Metadata map[string]string
}

// Tensor returns a tensor by its name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// Error says what is wrong with a file.
type Error struct {
	File   string
	Tensor string // empty where the header as a whole is to blame
	Want   string
	Got    string
	Err    error
}

func (e *Error) Error() string {
	s := e.File
	if e.Tensor != "" {
		s += fmt.Sprintf(": tensor %q", e.Tensor)
	}
	if e.Want != "" {
		s += fmt.Sprintf(": expected %s, found %s", e.Want, e.Got)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// ReadFile reads a whole file.
func ReadFile(path string) (file *File, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return Read(bufio.NewReaderSize(f, 1<<20), path)
}

// maxHeader bounds the header, as the Python library does.
const maxHeader = 100_000_000

// Read reads from r; name stands for the file in errors. What it allocates is
// bounded by what r holds.
func Read(r io.Reader, name string) (*File, error) {
	raw, err := readHeader(r, name)
	if err != nil {
		return nil, err
	}
	f, entries, err := parseHeader(raw, name)
	if err != nil {
		return nil, err
	}
	var end int
	for i := range f.Tensors {
		t := &f.Tensors[i]
		e := entries[t.Name]
		if e.Offsets[0] != end {
			return nil, &Error{File: name, Tensor: t.Name, Want: fmt.Sprintf("numbers from offset %d, where those before end", end), Got: fmt.Sprint(e.Offsets[0])}
		}
		end = e.Offsets[1]
		if err := readNumbers(r, t, e); err != nil {
			return nil, &Error{File: name, Tensor: t.Name, Err: err}
		}
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n != 0:
		return nil, &Error{File: name, Want: fmt.Sprintf("the file to end after %d bytes of numbers", end), Got: "more"}
	case !errors.Is(err, io.EOF):
		return nil, &Error{File: name, Err: err}
	}
	return f, nil
}

func readHeader(r io.Reader, name string) ([]byte, error) {
	var length [lengthBytes]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, &Error{File: name, Want: "the 8 bytes of the header's length", Got: "less", Err: err}
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, &Error{File: name, Want: fmt.Sprintf("a header of at most %d bytes", maxHeader), Got: fmt.Sprint(n)}
	}
	var h bytes.Buffer // grows with what is there, not with what is claimed
	if _, err := io.CopyN(&h, r, int64(n)); err != nil {
		return nil, &Error{File: name, Want: fmt.Sprintf("a header of %d bytes", n), Got: fmt.Sprint(h.Len()), Err: err}
	}
	return h.Bytes(), nil
}

// parseHeader returns the file without its numbers, tensors in the order of their
// offsets.
func parseHeader(raw []byte, name string) (*File, map[string]entry, error) {
	fields, err := uniqueKeys(raw)
	if err != nil {
		return nil, nil, &Error{File: name, Err: fmt.Errorf("header: %w", err)}
	}
	f := &File{}
	entries := make(map[string]entry, len(fields))
	for key, value := range fields {
		if key == metadataKey {
			if err := json.Unmarshal(value, &f.Metadata); err != nil {
				return nil, nil, &Error{File: name, Want: metadataKey + " of strings", Got: "other", Err: err}
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(value, &e); err != nil {
			return nil, nil, &Error{File: name, Tensor: key, Err: err}
		}
		if err := e.check(); err != nil {
			return nil, nil, &Error{File: name, Tensor: key, Err: err}
		}
		entries[key] = e
		f.Tensors = append(f.Tensors, Tensor{Name: key, Shape: e.Shape})
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int {
		ea, eb := entries[a.Name].Offsets, entries[b.Name].Offsets
		return cmp.Or(slices.Compare(ea, eb), strings.Compare(a.Name, b.Name))
	})
	return f, entries, nil
}

// uniqueKeys parses a JSON object; a key that stands twice is an error, which
// encoding/json would pass over.
func uniqueKeys(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	start, err := d.Token()
	if err != nil {
		return nil, err
	}
	if start != json.Delim('{') {
		return nil, fmt.Errorf("expected a JSON object, found %v", start)
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder takes nothing else for a key
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		fields[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more after the object")
	}
	return fields, nil
}

func (e entry) check() error {
	width := map[string]int{float32Type: 4, float64Type: 8}[e.Dtype]
	if width == 0 {
		return fmt.Errorf("dtype: expected %s or %s, found %q", float32Type, float64Type, e.Dtype)
	}
	if e.Shape == nil {
		return errors.New("shape: expected a list of sizes, found none")
	}
	size, err := sizeOf(e.Shape)
	if err != nil {
		return err
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1]-e.Offsets[0] != width*size {
		return fmt.Errorf("data_offsets: expected %d bytes for shape %v of %s, found %v", width*size, e.Shape, e.Dtype, e.Offsets)
	}
	return nil
}

// readNumbers fills t, growing it with what is there.
func readNumbers(r io.Reader, t *Tensor, e entry) error {
	width := 4
	if e.Dtype == float64Type {
		width = 8
		t.F64 = []float64{}
	} else {
		t.F32 = []float32{}
	}
	left := e.Offsets[1] - e.Offsets[0]
	buffer := make([]byte, min(left, 8*chunk))
	for left > 0 {
		part := buffer[:min(left, len(buffer))]
		if _, err := io.ReadFull(r, part); err != nil {
			return fmt.Errorf("%d bytes short of its numbers: %w", left, err)
		}
		for i := 0; i < len(part); i += width {
			if width == 4 {
				t.F32 = append(t.F32, math.Float32frombits(binary.LittleEndian.Uint32(part[i:])))
			} else {
				t.F64 = append(t.F64, math.Float64frombits(binary.LittleEndian.Uint64(part[i:])))
			}
		}
		left -= len(part)
	}
	return nil
}
