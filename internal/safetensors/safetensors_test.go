package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
)

// twoTensors and twoTensorsFile are the same, the second written by hand after the description of the format.
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

// handmade is the metadata of twoTensorsFile.
var handmade = map[string]string{"made by": "hand"}

func write(t testkit.TB, tensors []safetensors.Tensor, metadata map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.NoError(t, safetensors.Write(&b, tensors, metadata))
	return b.Bytes()
}

// Tensors that are not kept have no numbers, unless the file has a checksum; a file that is shorter
// than its size is truncated.
func TestKeep(t *testing.T) {
	size := int64(len(twoTensorsFile))
	f, err := safetensors.Read(strings.NewReader(twoTensorsFile), size, "x", func(*safetensors.File) (func(string) bool, error) {
		return func(name string) bool { return name == twoTensors[1].Name }, nil
	})
	testkit.NoError(t, err)
	a, _ := f.Tensor("weight")
	if b, ok := f.Tensor("rate"); !ok || a.F32 != nil || a.F64 != nil || !cmp.Equal(b, twoTensors[1], cmpopts.EquateEmpty()) {
		t.Errorf("kept %v and %v", a, b)
	}
	testkit.Fails(safetensors.Read(strings.NewReader(twoTensorsFile[:size-1]), size, "x", nil))(t, "truncated")
}

// Without the checksum, the bytes are those of the format's description.
func TestFormat(t *testing.T) {
	r := iotest.OneByteReader(strings.NewReader(twoTensorsFile))
	f := testkit.Must(safetensors.Read(r, int64(len(twoTensorsFile)), "in small pieces", nil))(t)
	testkit.Equal(t, "read", f, &safetensors.File{Tensors: twoTensors, Metadata: handmade}, cmpopts.EquateEmpty())
	written := string(write(t, twoTensors, handmade)[8:])
	written = regexp.MustCompile(`,"sha256":"[0-9a-f]{64}"`).ReplaceAllString(written, "")
	want := strings.ReplaceAll(twoTensorsFile[8:], "}}       ", "}}")
	testkit.Equal(t, "written", regexp.MustCompile(`}} *`).ReplaceAllString(written, "}}"), want)
}

func TestReadsTypesOfNetworks(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "network", file(`{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},`+
		`"b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]},"n":{"dtype":"I64","shape":[],"data_offsets":[6,14]}}`,
		"\x00\x3c\x00\xc0\xc0\x3f\x01\x00\x00\x00\x00\x00\x00\x00"))
	f := testkit.Must(safetensors.ReadFile(path))(t)
	want := []safetensors.Tensor{
		{Name: "a", Shape: []int{2}, F32: []float32{1, -2}}, {Name: "b", Shape: []int{1}, F32: []float32{1.5}}, {Name: "n", Shape: []int{}},
	}
	testkit.Equal(t, "found", f.Tensors, want)
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
		written := write(t, want.Tensors, want.Metadata)
		got := testkit.Must(safetensors.Read(bytes.NewReader(written), int64(len(written)), "round trip", nil))(t)
		testkit.Equal(t, "read", got, want, sameBits)
		if !bytes.Equal(written, write(t, want.Tensors, want.Metadata)) {
			t.Errorf("equal tensors gave other bytes")
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	one := safetensors.Tensor{Name: "w", Shape: []int{1}, F32: []float32{1}}
	for name, tensors := range map[string][]safetensors.Tensor{
		"a shape of more":      {{Name: "w", Shape: []int{2, 3}, F32: make([]float32, 5)}},
		"a negative size":      {{Name: "w", Shape: []int{-1, -1}, F32: make([]float32, 1)}},
		"sizes that overflow":  {{Name: "w", Shape: []int{1 << 32, 1 << 32}}},
		"both types":           {{Name: "w", Shape: []int{2}, F32: []float32{1}, F64: []float64{1}}},
		"a name twice":         {one, one},
		"the name of metadata": {{Name: "__metadata__", Shape: []int{0}}},
	} {
		var b bytes.Buffer
		err := safetensors.Write(&b, tensors, nil)
		if e := (*invalid.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), `"`+tensors[0].Name+`": expected `) || b.Len() > 0 {
			t.Errorf("%s: error %v after %d bytes, expected one on the tensor", name, err, b.Len())
		}
	}
}

// file makes a file of a header and numbers.
func file(header, numbers string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + numbers
}

var malformed = []struct {
	name   string
	data   string
	tensor string // that the error names
}{
	{"an empty file", "", ""},
	{"a huge header", "\xff\xff\xff\xff\xff\xff\xff\xff{}", ""},
	{"a key twice", file(`{"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{}}`, ""), ""},
	{"metadata of numbers", file(`{"__metadata__":{"epoch":3}}`, ""), ""},

	{"a tensor of nothing", file(`{"w":null}`, ""), "w"},
	{"an unknown type", file(`{"w":{"dtype":"C32","shape":[1],"data_offsets":[0,2]}}`, "\x00\x00"), "w"},
	{"a negative size", file(`{"w":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"sizes that overflow to 0", file(`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, ""), "w"},
	{"offsets that overflow", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[9223372036854775807,-9223372036854775805]}}`, "\x00\x00\x00\x00"), "w"},
	{"more bytes than the shape", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00"), "w"},

	{"a gap", file(`{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "w"},
	{"no numbers", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, ""), "w"},
	{"a tensor far larger than the file", file(`{"w":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]}}`, "\x00\x00\x00\x00"), "w"},
	{"junk after the numbers", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00\x00"), ""},
}

// wantInvalid reports an error that is not an *invalid.Error on the given place.
func wantInvalid(t testkit.TB, what, place string, err error) {
	t.Helper()
	if e := (*invalid.Error)(nil); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), place) {
		t.Errorf("%s: error %v, expected an *invalid.Error of %q", what, err, place)
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range malformed {
		_, err := safetensors.Read(strings.NewReader(c.data), int64(len(c.data)), "bad", nil)
		place := "bad: "
		if c.tensor != "" {
			place += fmt.Sprintf("tensor %q: ", c.tensor)
		}
		wantInvalid(t, c.name, place, err)
		testkit.WantError(t, err, "expected ")
	}
	for n := range len(twoTensorsFile) {
		_, err := safetensors.Read(strings.NewReader(twoTensorsFile[:n]), int64(n), "cut", nil)
		wantInvalid(t, fmt.Sprint(n, " bytes"), "cut: ", err)
	}
}

// No flipped bit of a written file gives other content with a valid checksum.
func TestChecksum(t *testing.T) {
	added := append(slices.Clone(twoTensors), safetensors.Tensor{Name: safetensors.Added + "c", Shape: []int{1}, F32: []float32{7}})
	metadata := maps.Clone(handmade)
	metadata[safetensors.Added+"why"] = "later"
	written := write(t, added, metadata)
	want, err := safetensors.Read(bytes.NewReader(written), int64(len(written)), "whole", nil)
	if err != nil || !want.Checksummed {
		t.Fatalf("Read = %+v, %v, expected a file with a checksum", want, err)
	}
	for i := range 8 * len(written) {
		damaged := bytes.Clone(written)
		damaged[i/8] ^= 1 << (i % 8)
		got, err := safetensors.Read(bytes.NewReader(damaged), int64(len(damaged)), "damaged", nil)
		if err == nil && got.Checksummed && !cmp.Equal(want, got) {
			t.Errorf("bit %d of byte %d was changed without an error", i%8, i/8)
		}
	}
}

// What is added does not change the checksum of all else.
func TestAdded(t *testing.T) {
	sum := regexp.MustCompile(`"sha256":"[0-9a-f]+"`)
	with := write(t, twoTensors, map[string]string{"a": "1", safetensors.Added + "b": "2"})
	if alone := write(t, twoTensors, map[string]string{"a": "1"}); !bytes.Equal(sum.Find(alone), sum.Find(with)) {
		t.Errorf("%s and %s", sum.Find(alone), sum.Find(with))
	}
	path := testkit.Write(t, t.TempDir(), "model", string(with))
	testkit.Equal(t, "metadata", testkit.Must(safetensors.ReadMetadata(path))(t)[safetensors.Added+"b"], "2")
}

// FuzzRead checks that any bytes give either tensors that can be written and read again or an *invalid.Error,
// and that memory is bounded by the size of the input. Keys of the header need the most memory per byte.
func FuzzRead(f *testing.F) {
	f.Add([]byte(twoTensorsFile))
	for _, c := range malformed {
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const perByte, base = 1 << 10, 1 << 20
		var file *safetensors.File
		var err error
		if n := testkit.Allocated(func() { file, err = safetensors.Read(bytes.NewReader(data), int64(len(data)), "fuzz", nil) }); n > base+perByte*uint64(len(data)) {
			t.Errorf("%d bytes claimed %d", len(data), n)
		}
		if err != nil {
			wantInvalid(t, "any bytes", "fuzz: ", err)
			return
		}
		for _, tensor := range file.Tensors {
			if tensor.F32 == nil && tensor.F64 == nil {
				return // integers, which are not written
			}
		}
		written := write(t, file.Tensors, file.Metadata)
		again := testkit.Must(safetensors.Read(bytes.NewReader(written), int64(len(written)), "again", nil))(t)
		file.Checksummed = true
		testkit.Equal(t, "again", again, file, sameBits)
	})
}

func TestOtherFormats(t *testing.T) {
	for begin, want := range map[string]string{
		"\x93NUMPY\x01\x00v\x00": "found a NumPy array (.npy). Weights in other formats are converted with", "not weights": "found another format",
	} {
		testkit.Fails(safetensors.Read(strings.NewReader(begin), int64(len(begin)), "x", nil))(t, "x: expected a safetensors file, "+want)
	}
}
