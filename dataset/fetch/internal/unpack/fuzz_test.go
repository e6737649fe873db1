package unpack

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzFiles says of any bytes: nothing is written outside of the folder, nor more
// than the limits allow.
func FuzzFiles(f *testing.F) {
	for _, entries := range [][]entry{
		{{name: "CUB/res101.mat", content: "features", method: zip.Deflate}, {name: "CUB/meta/classes.txt", content: "1 a"}},
		{{name: "../evil", content: "x"}},
		{{name: "a", content: "..", mode: fs.ModeSymlink}, {name: "a/evil", content: "x"}},
		{{name: "a", content: strings.Repeat("\x00", 5000), method: zip.Deflate}},
		{{name: "a", content: "longer than declared", declared: 3}},
		{{name: "a"}, {name: "a/b"}, {name: "/c"}},
	} {
		f.Add(archiveOf(f, entries...))
	}
	limits := Limits{Bytes: 1 << 12, Entries: 50}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := placeOf(t, b)
		files, err := Files(t.Context(), p.archive, p.dir, all, Options{Limits: limits})
		p.untouched(t)
		written := p.files(t)
		total := int64(0)
		for _, content := range written {
			total += int64(len(content))
		}
		if total > limits.Bytes {
			t.Errorf("%d bytes were written, with a limit of %d", total, limits.Bytes)
		}
		if err != nil {
			return
		}
		for _, f := range files {
			if content, there := written[f.Name]; !there || int64(len(content)) != f.Bytes {
				t.Errorf("%q of %d bytes is not among what was written", f.Name, f.Bytes)
			}
		}
		if len(files) != len(written) {
			t.Errorf("%d files were written, %d are told", len(written), len(files))
		}
	})
}

// Names made of the parts that hostile ones are made of.
func TestAnyNamesStayWithinTheFolder(t *testing.T) {
	name := rapid.StringOfN(rapid.SampledFrom([]rune{'.', '.', '/', '\\', 'a', 'B', ':', ' '}), 0, 8, -1)
	rapid.Check(t, func(r *rapid.T) {
		var entries []entry
		for _, n := range rapid.SliceOfN(name, 1, 4).Draw(r, "names") {
			content := "x"
			if strings.HasSuffix(n, "/") {
				content = "" // a folder
			}
			entries = append(entries, entry{name: n, content: content})
		}
		p := placeOf(t, archiveOf(t, entries...))
		defer func() { _ = os.RemoveAll(p.root) }()
		files, err := Files(t.Context(), p.archive, p.dir, all, Options{})
		p.untouched(t)
		switch written := p.files(t); {
		case err == nil && len(written) != len(files):
			r.Errorf("%d files were written, %d are told", len(written), len(files))
		case errors.Is(err, ErrArchive) && len(written) != 0:
			r.Errorf("names are refused before anything is written, but there are %v", written)
		}
	})
}
