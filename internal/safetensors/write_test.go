package safetensors_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// twoTensors and twoTensorsFile are the same, the second written by hand after the
// description of the format.
var twoTensors = []safetensors.Tensor{
	{Name: "weight", Shape: []int{2, 2}, F32: []float32{1, -2, 0.5, float32(math.Inf(1))}},
	{Name: "rate", F64: []float64{3}}, // a scalar: no sizes
}

const twoTensorsFile = "\xa0\x00\x00\x00\x00\x00\x00\x00" + // 160 bytes of header
	`{"__metadata__":{"made by":"hand"},` +
	`"rate":{"dtype":"F64","shape":[],"data_offsets":[16,24]},` +
	`"weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}` +
	"       " + // up to a multiple of 8
	"\x00\x00\x80\x3f" + "\x00\x00\x00\xc0" + "\x00\x00\x00\x3f" + "\x00\x00\x80\x7f" +
	"\x00\x00\x00\x00\x00\x00\x08\x40"

func TestReadsTheFormat(t *testing.T) {
	f, err := safetensors.Read(strings.NewReader(twoTensorsFile), "by hand")
	if err != nil {
		t.Fatal(err)
	}
	want := &safetensors.File{Tensors: twoTensors, Metadata: map[string]string{"made by": "hand"}}
	if diff := cmp.Diff(want, f, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// Without the checksum, the bytes are those of the format's description.
func TestBytes(t *testing.T) {
	var b bytes.Buffer
	if err := safetensors.Write(&b, twoTensors, map[string]string{"made by": "hand"}); err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`,"sha256":"[0-9a-f]{64}"`).ReplaceAllString(b.String()[8:], "")
	want := strings.ReplaceAll(twoTensorsFile[8:], "}}       ", "}}")
	if diff := cmp.Diff(want, regexp.MustCompile(`}} *`).ReplaceAllString(written, "}}")); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// drawTensor draws any tensor of up to three axes.
func drawTensor(t *rapid.T, name string) safetensors.Tensor {
	shape := rapid.SliceOfN(rapid.IntRange(0, 7), 0, 3).Draw(t, "shape")
	size := 1
	for _, n := range shape {
		size *= n
	}
	tensor := safetensors.Tensor{Name: name, Shape: shape}
	bits := rapid.Uint64().Draw(t, "bits") // a multiplicative sequence covers NaNs and infinities too
	if rapid.Bool().Draw(t, "float64") {
		tensor.F64 = make([]float64, size)
		for i := range tensor.F64 {
			tensor.F64[i] = math.Float64frombits(bits * uint64(2*i+1))
		}
	} else {
		tensor.F32 = make([]float32, size)
		for i := range tensor.F32 {
			tensor.F32[i] = math.Float32frombits(uint32(bits) * uint32(2*i+1))
		}
	}
	return tensor
}

func drawTensors(t *rapid.T) []safetensors.Tensor {
	names := rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID[string]).
		Filter(func(names []string) bool { return !slices.Contains(names, "__metadata__") }).Draw(t, "names")
	tensors := make([]safetensors.Tensor, len(names))
	for i, name := range names {
		tensors[i] = drawTensor(t, name)
	}
	return tensors
}

// sameBits compares numbers by their bits, since NaN differs from itself.
var sameBits = cmp.Options{
	cmp.Transformer("bits", math.Float32bits),
	cmp.Transformer("bits", math.Float64bits),
	cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b safetensors.Tensor) bool { return a.Name < b.Name }), // empty ones have no order
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &safetensors.File{
			Tensors:  drawTensors(t),
			Metadata: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "metadata"), Checksummed: true,
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, want.Tensors, want.Metadata); err != nil {
			t.Fatal(err)
		}
		written := b.String()
		got, err := safetensors.Read(&b, "round trip")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, sameBits); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
		for _, w := range want.Tensors {
			if g, ok := got.Tensor(w.Name); !ok || (g.F64 == nil) != (w.F64 == nil) {
				t.Errorf("tensor %q: found %v; float64 before %v, after %v", w.Name, ok, w.F64 != nil, g.F64 != nil)
			}
		}
		var again bytes.Buffer
		if err := safetensors.Write(&again, want.Tensors, want.Metadata); err != nil || again.String() != written {
			t.Errorf("equal tensors gave other bytes (%v)", err)
		}
	})
}

// Numbers are written and read in chunks.
func TestRoundTripOfLongTensors(t *testing.T) {
	const part = 1 << 14
	var want []safetensors.Tensor
	for _, n := range []int{part - 1, part, part + 1, 2*part + 1} {
		long := safetensors.Tensor{Name: fmt.Sprint(n, " of float32"), Shape: []int{n}, F32: make([]float32, n)}
		longer := safetensors.Tensor{Name: fmt.Sprint(n, " of float64"), Shape: []int{n}, F64: make([]float64, n)}
		for i := range n {
			long.F32[i], longer.F64[i] = float32(i), float64(i)
		}
		want = append(want, long, longer)
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, want, nil); err != nil {
		t.Fatal(err)
	}
	got, err := safetensors.Read(&b, "long")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Tensors); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := safetensors.Tensor{Name: "w", Shape: []int{1}, F32: []float32{1}}
	for name, tensors := range map[string][]safetensors.Tensor{
		"a shape of more":      {{Name: "w", Shape: []int{2, 3}, F32: make([]float32, 5)}},
		"a shape of less":      {{Name: "w", F64: make([]float64, 2)}},
		"a negative size":      {{Name: "w", Shape: []int{-1, -1}, F32: make([]float32, 1)}},
		"sizes that overflow":  {{Name: "w", Shape: []int{1 << 32, 1 << 32}}},
		"both types":           {{Name: "w", Shape: []int{2}, F32: []float32{1}, F64: []float64{1}}},
		"a name twice":         {one, one},
		"the name of metadata": {{Name: "__metadata__", Shape: []int{0}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := safetensors.Write(&b, tensors, nil)
			var e *invalid.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), `"`+tensors[0].Name+`": expected `) {
				t.Errorf("error %v, expected one on the tensor", err)
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes were written before the error", b.Len())
			}
		})
	}
}

// full is a writer that accepts a limited number of bytes.
type full struct{ room int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestWriteReturnsErrorsOfTheWriter(t *testing.T) {
	for room := range len(twoTensorsFile) {
		if err := safetensors.Write(&full{room}, twoTensors, map[string]string{"made by": "hand"}); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: error %v, expected %v", room, err, errFull)
		}
	}
}
