package matlab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead holds that any bytes end in arrays that agree with their headers or in
// an *Error, and that they claim no more memory than what they hold can need:
// deflate packs at most 1032 bytes into one, a byte can be a number or a row of
// text, and appending to a slice claims it several times over.
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
	f.Add(little.file(little.compressed(lying(1 << 28))))
	f.Fuzz(func(t *testing.T, data []byte) {
		const perByte, base = 1032 * 64, 8 << 20
		var arrays map[string]*Array
		var err error
		if n := allocated(func() { arrays, err = read(data) }); n > base+perByte*uint64(len(data)) {
			t.Errorf("%d bytes claimed %d", len(data), n)
		}
		if err != nil {
			checkError(t, err)
			return
		}
		headers, err := listBytes(data)
		if err != nil {
			t.Fatalf("read, but cannot be listed: %v", err)
		}
		checkArrays(t, arrays, headers)
		for _, h := range headers {
			if _, err := read(data, h.Name); err != nil && !errors.Is(err, ErrUnsupported) {
				t.Errorf("%v: listed, but cannot be read: %v", h, err)
			}
		}
	})
}

func checkArrays(t *testing.T, arrays map[string]*Array, headers []Header) {
	t.Helper()
	listed := make(map[string]bool)
	for _, h := range headers {
		listed[h.Name] = true
	}
	for name, a := range arrays {
		if !listed[name] || a.Name != name {
			t.Errorf("%q was read as %q, and listed: %v", name, a.Name, listed[name])
		}
		n, ok := elements(a.Dims)
		if a.Class.numeric() != (a.Float32 != nil) || a.Class.numeric() && (!ok || int64(len(a.Float32)) != n) {
			t.Errorf("%s: %v of %v has %d numbers", name, a.Class, a.Dims, len(a.Float32))
		}
	}
}
