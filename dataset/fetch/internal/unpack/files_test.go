package unpack

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilesWritesWhatIsPicked(t *testing.T) {
	var lines strings.Builder
	for i := range bufferSize / 4 {
		fmt.Fprintln(&lines, i)
	}
	long := lines.String()
	p := placeOf(t, archiveOf(t,
		entry{name: "release/CUB/"},
		entry{name: "release/CUB/res101.mat", content: long},
		entry{name: "release/CUB/meta/classes.txt", content: "1 a", method: zip.Deflate},
		entry{name: "release/CUB/empty.txt"},
		entry{name: "release/SUN/res101.mat", content: "not wanted"},
		entry{name: "release/latest", content: "CUB", mode: fs.ModeSymlink},
		entry{name: `release\code\run.m`, content: "not wanted"},
	))
	var last, total int64
	got, err := Files(t.Context(), p.archive, p.dir, func(name string) (string, bool) {
		return strings.CutPrefix(name, "release/CUB/")
	}, Options{
		// Which bound what is read of the directory, not of the files.
		Limits:   Limits{Entries: 10},
		Progress: func(done, of int64) { last, total = done, of },
	})
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(long))
	want := []File{{"res101.mat", n}, {"meta/classes.txt", 3}, {"empty.txt", 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	content := map[string]string{"res101.mat": long, "meta/classes.txt": "1 a", "empty.txt": ""}
	if diff := cmp.Diff(content, p.files(t)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if last != n+3 || total != n+3 {
		t.Errorf("the last progress told is %d of %d, expected %d", last, total, n+3)
	}
	p.untouched(t)
}

func TestFilesOfThePermissionsOfTheUser(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "run", content: "x", mode: 0o777 | fs.ModeSetuid}))
	if _, err := Files(t.Context(), p.archive, p.dir, all, Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(p.dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode(); mode&0o111 != 0 || mode&fs.ModeSetuid != 0 {
		t.Errorf("the file has the mode %v of the archive", mode)
	}
}

func TestFilesOverwritesNothing(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "a", content: "new"}))
	if err := os.WriteFile(filepath.Join(p.dir, "a"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Files(t.Context(), p.archive, p.dir, all, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, expected that the file exists", err)
	}
	if got := p.files(t)["a"]; got != "old" {
		t.Errorf("the file holds %q", got)
	}
}

// A link in the folder, put there by somebody else, leads no write outside.
func TestFilesFollowsNoLinkOutside(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "meta/a", content: "x"}))
	if err := os.Symlink(p.root, filepath.Join(p.dir, "meta")); err != nil {
		t.Skip(err)
	}
	if _, err := Files(t.Context(), p.archive, p.dir, all, Options{}); err == nil {
		t.Error("no error")
	}
	p.untouched(t)
}

func TestFilesEndsWithItsContext(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "a", content: strings.Repeat("abcdefgh", bufferSize)}))
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Progress: func(int64, int64) { cancel() }}
	if _, err := Files(ctx, p.archive, p.dir, all, o); !errors.Is(err, context.Canceled) || errors.Is(err, ErrArchive) {
		t.Errorf("error %v, expected context.Canceled", err)
	}
	if n := len(p.files(t)["a"]); n > 2*bufferSize {
		t.Errorf("%d bytes were written after the end", n)
	}
}

func TestErrorsOfTheSystemAreNotTheArchives(t *testing.T) {
	p := placeOf(t, archiveOf(t, entry{name: "a"}))
	for _, c := range []struct{ archive, dir string }{
		{filepath.Join(p.root, "absent"), p.dir},
		{p.archive, filepath.Join(p.root, "absent")},
		{p.dir, p.dir}, // a folder in place of the archive
	} {
		_, err := Files(t.Context(), c.archive, c.dir, all, Options{})
		if err == nil || errors.Is(err, ErrArchive) {
			t.Errorf("%s into %s: error %v, expected one of the system", c.archive, c.dir, err)
		}
	}
}
