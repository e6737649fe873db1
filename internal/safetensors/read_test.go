package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
)

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
	{"half a length", "\x01\x00", ""},
	{"a huge header", "\xff\xff\xff\xff\xff\xff\xff\xff{}", ""},
	{"a header longer than allowed", "\x01\xe1\xf5\x05\x00\x00\x00\x00{}", ""},
	{"a header longer than the file", "\x40\x00\x00\x00\x00\x00\x00\x00{}", ""},
	{"no header", file("", ""), ""},
	{"a header of spaces", file("   ", ""), ""},
	{"a list", file("[]", ""), ""},
	{"no JSON", file("{w}", ""), ""},
	{"half an object", file(`{"w":{"dtype":"F32"`, ""), ""},
	{"a key without a value", file(`{"w"}`, ""), ""},
	{"more after the object", file("{} {}", ""), ""},
	{"a key twice", file(`{"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{}}`, ""), ""},
	{"metadata of numbers", file(`{"__metadata__":{"epoch":3}}`, ""), ""},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, ""), ""},

	{"a tensor that is a number", file(`{"w":7}`, ""), "w"},
	{"a tensor of nothing", file(`{"w":null}`, ""), "w"},
	{"an unknown type", file(`{"w":{"dtype":"C32","shape":[1],"data_offsets":[0,2]}}`, "\x00\x00"), "w"},
	{"a type that is a number", file(`{"w":{"dtype":32,"shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"no shape", file(`{"w":{"dtype":"F32","data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"a negative size", file(`{"w":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"half a size", file(`{"w":{"dtype":"F32","shape":[0.5],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"sizes that overflow to 0", file(`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, ""), "w"},
	{"sizes that overflow to 1", file(`{"w":{"dtype":"F32","shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"a size past all integers", file(`{"w":{"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"no offsets", file(`{"w":{"dtype":"F32","shape":[0]}}`, ""), "w"},
	{"one offset", file(`{"w":{"dtype":"F32","shape":[0],"data_offsets":[0]}}`, ""), "w"},
	{"three offsets", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}`, "\x00\x00\x00\x00"), "w"},
	{"a negative offset", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, "\x00\x00\x00\x00"), "w"},
	{"offsets that overflow", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[9223372036854775807,-9223372036854775805]}}`, "\x00\x00\x00\x00"), "w"},
	{"offsets in reverse", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, "\x00\x00\x00\x00"), "w"},
	{"more bytes than the shape", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00"), "w"},
	{"fewer bytes than the type", file(`{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},

	{"a gap at the start", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00"), "w"},
	{"a gap", file(`{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "w"},
	{"an overlap", file(`{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "w"},
	{"the same place twice", file(`{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w"},
	{"no numbers", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, ""), "w"},
	{"a tensor far larger than the file", file(`{"w":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]}}`, "\x00\x00\x00\x00"), "w"},
	{"junk after the numbers", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00\x00"), ""},
	{"junk after an empty header", file("{}", "\n"), ""},
}

func TestReadsTypesOfNetworks(t *testing.T) {
	f, err := safetensors.Read(strings.NewReader(file(`{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},`+
		`"b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]},"n":{"dtype":"I64","shape":[],"data_offsets":[6,14]}}`,
		"\x00\x3c\x00\xc0\xc0\x3f\x01\x00\x00\x00\x00\x00\x00\x00")), "network")
	if err != nil {
		t.Fatal(err)
	}
	want := []safetensors.Tensor{
		{Name: "a", Shape: []int{2}, F32: []float32{1, -2}}, {Name: "b", Shape: []int{1}, F32: []float32{1.5}}, {Name: "n", Shape: []int{}},
	}
	if diff := cmp.Diff(want, f.Tensors); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range malformed {
		t.Run(c.name, func(t *testing.T) {
			f, err := safetensors.Read(strings.NewReader(c.data), "bad.safetensors")
			var e *invalid.Error
			if !errors.As(err, &e) {
				t.Fatalf("Read = %v, %v, expected an *invalid.Error", f, err)
			}
			place := "bad.safetensors: "
			if c.tensor != "" {
				place += `tensor "` + c.tensor + `": `
			}
			if !strings.HasPrefix(err.Error(), place) || !strings.Contains(err.Error(), "expected ") {
				t.Errorf("error %q, expected what was expected in %q", err, place)
			}
		})
	}
}

func TestTruncatedAtEachByte(t *testing.T) {
	for n := range len(twoTensorsFile) {
		f, err := safetensors.Read(strings.NewReader(twoTensorsFile[:n]), "cut")
		var e *invalid.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "cut: ") {
			t.Errorf("%d of %d bytes: Read = %v, %v, expected an *invalid.Error", n, len(twoTensorsFile), f, err)
		}
	}
}

// Errors of the reader are returned as they are.
func TestReadReturnsErrorsOfTheReader(t *testing.T) {
	failure := errors.New("input/output error")
	for n := range len(twoTensorsFile) + 1 {
		r := io.MultiReader(strings.NewReader(twoTensorsFile[:n]), iotest.ErrReader(failure))
		if f, err := safetensors.Read(r, "broken disk"); !errors.Is(err, failure) {
			t.Errorf("after %d bytes: Read = %v, %v, expected %v", n, f, err, failure)
		}
	}
}

// Readers may return less than they are asked for.
func TestReadInSmallPieces(t *testing.T) {
	f, err := safetensors.Read(iotest.OneByteReader(strings.NewReader(twoTensorsFile)), "slow")
	if err != nil || len(f.Tensors) != 2 {
		t.Errorf("Read = %v, %v, expected two tensors", f, err)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.safetensors")
	if _, err := safetensors.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected fs.ErrNotExist", err)
	}
	if err := os.WriteFile(path, []byte(twoTensorsFile+"junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("error %v, expected one that names %s", err, path)
	}
	if err := os.WriteFile(path, []byte(twoTensorsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Tensor("weights"); ok {
		t.Error(`found a tensor "weights" in a file with only "weight"`)
	}
}

// No flipped bit of a written file gives other content with a valid checksum.
func TestChecksum(t *testing.T) {
	var b bytes.Buffer
	if err := safetensors.Write(&b, twoTensors, map[string]string{"made by": "test"}); err != nil {
		t.Fatal(err)
	}
	want, err := safetensors.Read(bytes.NewReader(b.Bytes()), "whole")
	if err != nil || !want.Checksummed {
		t.Fatalf("Read = %+v, %v, expected a file with a checksum", want, err)
	}
	for i := range 8 * b.Len() {
		damaged := bytes.Clone(b.Bytes())
		damaged[i/8] ^= 1 << (i % 8)
		got, err := safetensors.Read(bytes.NewReader(damaged), "damaged")
		if err == nil && got.Checksummed && !cmp.Equal(want, got) {
			t.Errorf("bit %d of byte %d was changed without an error", i%8, i/8)
		}
	}
}
