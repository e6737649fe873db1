package unpack

import (
	"archive/zip"
	"bytes"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is one of an archive that a test makes. Where declared is set, the archive
// lies about the length of the content.
type entry struct {
	name     string
	content  string
	mode     fs.FileMode
	method   uint16
	flags    uint16
	declared uint64
}

// archiveOf writes an archive, and returns its bytes.
func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method, Flags: e.flags}
		h.SetMode(e.mode)
		if e.declared == 0 && e.flags == 0 && e.method <= zip.Deflate {
			to, err := w.CreateHeader(h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := to.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		h.CRC32 = crc32.ChecksumIEEE([]byte(e.content))
		h.CompressedSize64, h.UncompressedSize64 = uint64(len(e.content)), uint64(len(e.content))
		if e.declared != 0 {
			h.UncompressedSize64 = e.declared
		}
		to, err := w.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// all picks every entry under its own name.
func all(name string) (string, bool) { return name, true }

// place is a folder of a test: an archive, and beside it the folder to unpack into.
type place struct{ root, archive, dir string }

func placeOf(t testing.TB, archive []byte) place {
	t.Helper()
	root := t.TempDir()
	p := place{root, filepath.Join(root, "archive.zip"), filepath.Join(root, "into")}
	if err := os.WriteFile(p.archive, archive, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// untouched says that outside of the folder everything is as it was.
func (p place) untouched(t testing.TB) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(p.root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"archive.zip", "into"}, names); diff != "" {
		t.Errorf("beside the folder (-want +got):\n%s", diff)
	}
}

// files returns what is in the folder, by paths with slashes.
func (p place) files(t testing.TB) map[string]string {
	t.Helper()
	found := make(map[string]string)
	dir := os.DirFS(p.dir)
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			t.Errorf("%s is no regular file but %v", path, d.Type())
		}
		content, err := fs.ReadFile(dir, path)
		found[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
