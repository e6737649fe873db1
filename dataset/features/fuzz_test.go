package features

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Any bytes give rows of finite numbers, the same in blocks of one row as all at once, or
// an error that names the file; and no more memory is allocated than they can need.
func FuzzOpen(f *testing.F) {
	files, err := filepath.Glob("../../internal/npy/testdata/*.npy")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content, true)
	}
	for _, text := range []string{"", "a,b\n1,2\n", "1,2\r\n3\n", "\ufeff\"1\",nan\n", "1e39\n\n2\n", "0,1,2\n", "\"\n"} {
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, content []byte, isNPY bool) {
		path := filepath.Join(t.TempDir(), map[bool]string{true: "x.npy", false: "x.csv"}[isNPY])
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		var x dataset.Matrix[float32]
		var err error
		const perByte, base = 64, 16 << 20
		if n := allocated(func() { x, err = ReadAll(t.Context(), path) }); n > base+perByte*uint64(len(content)) {
			t.Errorf("%d bytes allocate %d", len(content), n)
		}
		if err != nil {
			var e *invalid.Error
			if !errors.As(err, &e) || e.Where != path {
				t.Fatalf("%#v does not name the file", err)
			}
			return
		}
		if x.Rows < 1 || x.Cols < 1 || len(x.Data) != x.Rows*x.Cols {
			t.Fatalf("%d values for %d x %d", len(x.Data), x.Rows, x.Cols)
		}
		for _, v := range x.Data {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("%v is read", v)
			}
		}
		if again := readBy(t, path, 1); !slices.Equal(x.Data, again.Data) {
			t.Fatalf("row by row %v, at once %v", again.Data, x.Data)
		}
	})
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
