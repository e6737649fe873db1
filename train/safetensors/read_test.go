package safetensors_test

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lago-train/lago-train/train/safetensors"
)

// file puts the length of the header before it and numbers behind it.
func file(header, numbers string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + numbers
}

var malformed = []struct {
	name   string
	data   string
	tensor string // that the error names
	want   string // the message after file and tensor
}{
	{"an empty file", "", "", "expected the 8 bytes of the header's length, found less: EOF"},
	{"half a length", "\x01\x00", "", "expected the 8 bytes of the header's length, found less: unexpected EOF"},
	{"a huge header", "\xff\xff\xff\xff\xff\xff\xff\xff{}", "", "expected a header of at most 100000000 bytes, found 18446744073709551615"},
	{"a header longer than allowed", "\x01\xe1\xf5\x05\x00\x00\x00\x00{}", "", "expected a header of at most 100000000 bytes, found 100000001"},
	{"a header longer than the file", "\x40\x00\x00\x00\x00\x00\x00\x00{}", "", "expected a header of 64 bytes, found 2: EOF"},
	{"no header", file("", ""), "", "header: EOF"},
	{"a header of spaces", file("   ", ""), "", "header: EOF"},
	{"a list", file("[]", ""), "", "header: expected a JSON object, found ["},
	{"no JSON", file("{w}", ""), "", "header: invalid character 'w'"},
	{"half an object", file(`{"w":{"dtype":"F32"`, ""), "", `header: key "w": unexpected EOF`},
	{"a key without a value", file(`{"w"}`, ""), "", `header: key "w": expected colon after object key`},
	{"more after the object", file("{} {}", ""), "", "header: more after the object"},
	{"a key twice", file(`{"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{}}`, ""), "", `header: key "w" stands twice`},
	{"metadata of numbers", file(`{"__metadata__":{"epoch":3}}`, ""), "", "expected __metadata__ of strings, found other: json: cannot unmarshal number"},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, ""), "", `header: key "__metadata__" stands twice`},

	{"a tensor that is a number", file(`{"w":7}`, ""), "w", "json: cannot unmarshal number"},
	{"a tensor of nothing", file(`{"w":null}`, ""), "w", `dtype: expected F32 or F64, found ""`},
	{"an unknown type", file(`{"w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, "\x00\x00"), "w", `dtype: expected F32 or F64, found "BF16"`},
	{"a type that is a number", file(`{"w":{"dtype":32,"shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "json: cannot unmarshal number"},
	{"no shape", file(`{"w":{"dtype":"F32","data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "shape: expected a list of sizes, found none"},
	{"a negative size", file(`{"w":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "shape: expected sizes of at most 1099511627776 numbers together, found [-1 -1]"},
	{"half a size", file(`{"w":{"dtype":"F32","shape":[0.5],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "json: cannot unmarshal number 0.5"},
	{"sizes that overflow to 0", file(`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, ""), "w", "shape: expected sizes of at most 1099511627776 numbers together"},
	{"sizes that overflow to 1", file(`{"w":{"dtype":"F32","shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "shape: expected sizes of at most 1099511627776 numbers together"},
	{"a size past all integers", file(`{"w":{"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "json: cannot unmarshal number 18446744073709551617"},
	{"no offsets", file(`{"w":{"dtype":"F32","shape":[0]}}`, ""), "w", "data_offsets: expected 0 bytes for shape [0] of F32, found []"},
	{"one offset", file(`{"w":{"dtype":"F32","shape":[0],"data_offsets":[0]}}`, ""), "w", "data_offsets: expected 0 bytes for shape [0] of F32, found [0]"},
	{"three offsets", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}`, "\x00\x00\x00\x00"), "w", "data_offsets: expected 4 bytes for shape [1] of F32, found [0 4 8]"},
	{"a negative offset", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, "\x00\x00\x00\x00"), "w", "data_offsets: expected 4 bytes for shape [1] of F32, found [-4 0]"},
	{"offsets that overflow", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[9223372036854775807,-9223372036854775805]}}`, "\x00\x00\x00\x00"), "w", "numbers from offset 0, where those before end, found 9223372036854775807"},
	{"offsets in reverse", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, "\x00\x00\x00\x00"), "w", "data_offsets: expected 4 bytes for shape [1] of F32, found [4 0]"},
	{"more bytes than the shape", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00"), "w", "data_offsets: expected 4 bytes for shape [1] of F32, found [0 8]"},
	{"fewer bytes than the type", file(`{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "data_offsets: expected 8 bytes for shape [1] of F64, found [0 4]"},

	{"a gap at the start", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00"), "w", "expected numbers from offset 0, where those before end, found 4"},
	{"a gap", file(`{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "w", "expected numbers from offset 4, where those before end, found 8"},
	{"an overlap", file(`{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "w", "expected numbers from offset 8, where those before end, found 4"},
	{"the same place twice", file(`{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00"), "w", "expected numbers from offset 4, where those before end, found 0"},
	{"no numbers", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, ""), "w", "4 bytes short of its numbers: EOF"},
	{"a tensor far larger than the file", file(`{"w":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]}}`, "\x00\x00\x00\x00"), "w", "8796093022208 bytes short of its numbers: unexpected EOF"},
	{"junk after the numbers", file(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "\x00\x00\x00\x00\x00"), "", "expected the file to end after 4 bytes of numbers, found more"},
	{"junk after an empty header", file("{}", "\n"), "", "expected the file to end after 0 bytes of numbers, found more"},
}

func TestMalformed(t *testing.T) {
	for _, c := range malformed {
		t.Run(c.name, func(t *testing.T) {
			f, err := safetensors.Read(strings.NewReader(c.data), "bad.safetensors")
			var e *safetensors.Error
			if !errors.As(err, &e) {
				t.Fatalf("Read = %v, %v, expected a *safetensors.Error", f, err)
			}
			place := "bad.safetensors: "
			if c.tensor != "" {
				place += `tensor "` + c.tensor + `": `
			}
			if e.File != "bad.safetensors" || e.Tensor != c.tensor || !strings.HasPrefix(err.Error(), place) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q\nexpected %q, then %q", err, place, c.want)
			}
		})
	}
}

func TestTruncatedAtEachPlace(t *testing.T) {
	for n := range len(twoTensorsFile) {
		f, err := safetensors.Read(strings.NewReader(twoTensorsFile[:n]), "cut")
		var e *safetensors.Error
		if !errors.As(err, &e) || e.File != "cut" {
			t.Errorf("%d of %d bytes: Read = %v, %v, expected a *safetensors.Error", n, len(twoTensorsFile), f, err)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: error %v, expected one that the end of the file caused", n, len(twoTensorsFile), err)
		}
	}
}

// Errors of the disk are told apart from those of the format.
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
		t.Error(`found a tensor "weights" where there is only "weight"`)
	}
}
