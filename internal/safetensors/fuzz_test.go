package safetensors_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// FuzzRead checks that any bytes give either tensors that can be written and read again
// or an *invalid.Error, and that memory is bounded by the size of the input. Keys of the
// header need the most memory per byte.
func FuzzRead(f *testing.F) {
	f.Add([]byte(twoTensorsFile))
	for _, c := range malformed {
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const perByte, base = 1 << 10, 1 << 20
		var file *safetensors.File
		var err error
		if n := allocated(func() { file, err = safetensors.Read(bytes.NewReader(data), "fuzz") }); n > base+perByte*uint64(len(data)) {
			t.Errorf("%d bytes claimed %d", len(data), n)
		}
		if err != nil {
			if e := (*invalid.Error)(nil); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "fuzz: ") {
				t.Errorf("error %v (%T), expected an *invalid.Error that names the file", err, err)
			}
			return
		}
		for _, tensor := range file.Tensors {
			if tensor.F32 == nil && tensor.F64 == nil {
				return // integers, which are not written
			}
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, file.Tensors, file.Metadata); err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
		again, err := safetensors.Read(&b, "again")
		if err != nil {
			t.Fatalf("written, but cannot be read: %v", err)
		}
		file.Checksummed = true
		if diff := cmp.Diff(file, again, sameBits); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}

// allocated returns the bytes that f allocates, including garbage.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
