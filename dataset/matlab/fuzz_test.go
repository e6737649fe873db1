package matlab

import (
	"os"
	"path/filepath"
	"testing"
)

// Any bytes give arrays that agree with their headers or an *invalid.Error, and no more
// memory is allocated than they can need: deflate compresses at most 1032 bytes into
// one, a byte can be a number or a row of text, and appending reallocates.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.mat")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, w := range []writer{little, big} {
		nested := w.array("x", Cell, 0, []int{1, 1}, w.array("", Cell, 0, []int{1, 1}, w.word("", "deep")))
		f.Add(w.file(nested, w.doubles("y", []int{1, 2}, 1, 2)))
		f.Add(w.file(w.compressed(w.char("x", []int{2, 1}, 'a', 'b'))))
	}
	f.Add(little.file(little.compressed(overstated(1 << 28))))
	f.Fuzz(func(t *testing.T, data []byte) {
		const perByte, base = 1032 * 64, 8 << 20
		headers, err := list(data)
		if err != nil {
			checkError(t, err)
			return
		}
		for _, h := range headers {
			var arrays map[string]*Array
			var err error
			if n := allocated(func() { arrays, err = read(data, h.Name) }); n > base+perByte*uint64(len(data)) {
				t.Errorf("%d bytes claimed %d", len(data), n)
			}
			if err != nil {
				checkError(t, err)
				continue
			}
			checkArray(t, arrays[h.Name])
		}
	})
}

func checkArray(t *testing.T, a *Array) {
	t.Helper()
	n, ok := elements(a.Dims)
	if a.Class.numeric() != (a.Float32 != nil) || a.Class.numeric() && (!ok || int64(len(a.Float32)) != n) {
		t.Errorf("%v has %d numbers", a.Header, len(a.Float32))
	}
}
