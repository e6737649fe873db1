package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

// entry is one of an archive that a test makes. If declared is set, the archive lies
// about the length of the content.
type entry struct {
	name, content string
	mode          fs.FileMode
	method        uint16
	declared      uint64
}

// archiveOf returns the bytes of an archive.
func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: e.method}
		h.SetMode(e.mode)
		create := w.CreateHeader
		if e.declared != 0 || e.method > zip.Deflate {
			create = w.CreateRaw
			h.CRC32 = crc32.ChecksumIEEE([]byte(e.content))
			h.CompressedSize64, h.UncompressedSize64 = uint64(len(e.content)), e.declared
		}
		testkit.Must(testkit.Must(create(h))(t).Write([]byte(e.content)))(t)
	}
	testkit.NoError(t, w.Close())
	return b.Bytes()
}

// unpackAll unpacks the files of CUB from an archive to a new folder, and returns what is there.
func unpackAll(ctx context.Context, t testing.TB, b []byte) (files map[string]string, f *fetcher, err error) {
	t.Helper()
	root := t.TempDir()
	archive := testkit.Write(t, root, "archive.zip", string(b))
	f = &fetcher{Options: Options{maxBytes: 1000}, folder: "CUB", sizes: map[string]int64{}}
	testkit.NoError(t, f.setDefaults())
	err = f.unpack(ctx, archive, filepath.Join(root, "into"), slices.Concat(releaseFiles, metaFiles))
	files = make(map[string]string)
	dir := os.DirFS(root)
	testkit.NoError(t, fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		below, inside := strings.CutPrefix(path, "into/")
		switch {
		case err != nil || d.IsDir() || path == "archive.zip":
			return err
		case !inside || !d.Type().IsRegular():
			t.Errorf("%s of %v, expected regular files in the folder only", path, d.Type())
			return nil
		}
		content, err := fs.ReadFile(dir, path)
		files[below] = string(content)
		return err
	}))
	return files, f, err
}

func TestHostileArchivesAreRefused(t *testing.T) {
	const name = "CUB/res101.mat"
	zeros := strings.Repeat("\x00", 900)
	flipped := archiveOf(t, entry{name: name, content: strings.Repeat("content", 100)})
	flipped[100]++
	for what, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"symbolic link":         {archiveOf(t, entry{name: name, content: "/etc", mode: fs.ModeSymlink}), "expected a regular file that is not encrypted, found mode L"},
		"name twice":            {archiveOf(t, entry{name: name, content: "1"}, entry{name: "../" + name, content: "2"}), "expected one entry for res101.mat"},
		"bomb by many files":    {archiveOf(t, entry{name: name, content: zeros}, entry{name: "CUB/meta/classes.txt", content: zeros}), "at most 100 more bytes, found 900"},
		"length that lies low":  {archiveOf(t, entry{name: name, content: zeros, declared: 10}), `entry "CUB/res101.mat"`},
		"length that lies high": {archiveOf(t, entry{name: name, content: zeros, declared: 950}), "unexpected EOF"},
		"unknown method":        {archiveOf(t, entry{name: name, content: "x", declared: 1, method: 99}), "unsupported compression"},
		"another byte":          {flipped, "checksum"},
		"page":                  {[]byte("<!DOCTYPE html><html>not found</html>"), "expected a ZIP archive, found a page of HTML or XML"},
	} {
		_, _, err := unpackAll(t.Context(), t, c.archive)
		testkit.WantError(t, err, "archive.zip: the archive is damaged or unsafe: ", c.want)
		if !errors.Is(err, errArchive) {
			t.Errorf("%s: error %v, expected errArchive", what, err)
		}
	}
}

// Whatever the bytes are, nothing is written outside of the folder, nor more than the limits allow.
func FuzzUnpack(f *testing.F) {
	for _, entries := range [][]entry{
		{{name: "data/CUB/"}, {name: `..\CUB\run.m`}, {name: "CUB/res101.mat", content: "features", method: zip.Deflate, mode: 0o777 | fs.ModeSetuid}},
		{{name: "../evil", content: "x"}, {name: "../CUB/res101.mat", content: "x"}, {name: "CUB/meta/classes.txt", content: "1 a"}},
		{{name: "CUB", content: "..", mode: fs.ModeSymlink}, {name: "CUB/res101.mat", content: "x"}},
		{{name: "CUB/res101.mat", content: strings.Repeat("\x00", 5000), method: zip.Deflate}},
		{{name: "CUB/res101.mat", content: "longer than declared", declared: 3}},
	} {
		f.Add(archiveOf(f, entries...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		files, fetched, err := unpackAll(t.Context(), t, b)
		total := 0
		for name, content := range files {
			total += len(content)
			if err == nil && fetched.sizes[name] != int64(len(content)) {
				t.Errorf("%q has %d bytes, reported are %d", name, len(content), fetched.sizes[name])
			}
		}
		if total > 1000 || (err == nil && len(fetched.sizes) != len(files)) {
			t.Errorf("%d files of %d bytes were written, %d are reported", len(files), total, len(fetched.sizes))
		}
	})
}

func TestFileOf(t *testing.T) {
	for entry, want := range map[string]string{ // "" if it is not wanted
		"xlsa17/data/CUB/res101.mat":             "res101.mat",
		"data/cub/testclasses.txt":               "testclasses.txt",
		"data/CUB/xian2017/att_splits.mat":       "att_splits.mat",
		"LAGO-c389ff1/data/CUB/meta/classes.txt": "meta/classes.txt",
		"xlsa17/data/CUB/RES101.MAT":             "",
		"data/CUB/xian2017/../res101.mat":        "",
		"res101.mat":                             "",
		"data/SUN/meta/classes.txt":              "",
	} {
		f := fetcher{folder: "CUB"}
		testkit.Equal(t, entry, f.fileOf(entry, slices.Concat(releaseFiles, metaFiles)), want)
	}
}
