package fetch

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFileOf(t *testing.T) {
	cub, sun := sources[0], sources[2]
	for _, c := range []struct {
		s     source
		entry string
		want  string // empty where it isn't wanted
	}{
		{cub, "xlsa17/data/CUB/res101.mat", "res101.mat"},
		{cub, "CUB/res101.mat", "res101.mat"},
		{cub, "data/cub/allclasses.txt", "allclasses.txt"},
		{cub, "data/CUB/xian2017/att_splits.mat", "att_splits.mat"},
		{cub, "LAGO-c389ff1/data/CUB/meta/classes.txt", "meta/classes.txt"},
		{cub, `xlsa17\data\CUB\res101.mat`, "res101.mat"}, // which is refused later
		{cub, "../CUB/res101.mat", "res101.mat"},          // so is this
		{sun, "data/SUN/meta/class_descriptions_by_attributes.txt", "meta/class_descriptions_by_attributes.txt"},
		{sun, "data/SUN/meta/classes.txt", ""},
		{cub, "res101.mat", ""},
		{cub, "xlsa17/data/SUN/res101.mat", ""},
		{cub, "xlsa17/data/CUB/", ""},
		{cub, "xlsa17/data/CUB/README", ""},
		{cub, "xlsa17/data/CUB/images/res101.mat", ""},
		{cub, "data/CUB/xian2017/meta/classes.txt", ""},
		{cub, "data/CUB/xian2017/../res101.mat", ""},
		{cub, "data/CUB/meta/res101.mat", ""},
		{cub, "data/CUB/classes.txt", ""},
		{cub, "__MACOSX/xlsa17/data/CUB/._res101.mat", ""},
		{cub, "", ""},
	} {
		got, ok := c.s.fileOf(c.entry)
		if ok != (c.want != "") || (ok && got != c.want) {
			t.Errorf("%s: %q is %q, %v, expected %q", c.s.folder, c.entry, got, ok, c.want)
		}
	}
}

func TestOnlyFilesOfTheLayoutAreTaken(t *testing.T) {
	element := rapid.SampledFrom([]string{"CUB", "cub", "meta", "xian2017", "..", ".", "", "res101.mat", "classes.txt", `a\b`})
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(sources).Draw(r, "source")
		entry := filepath.ToSlash(filepath.Join(rapid.SliceOf(element).Draw(r, "elements")...))
		file, ok := s.fileOf(entry)
		if ok && !slices.Contains(s.needed(), file) && !slices.Contains(optionalFiles, file) {
			r.Errorf("%q is taken as %q", entry, file)
		}
	})
}

func TestHoldLetsGoAndWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	free, err := hold(t.Context(), path, func() { t.Error("there is nobody to wait for") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	waited := false
	if _, err := hold(ctx, path, func() { waited = true }); err == nil || !waited {
		t.Errorf("a lock is held twice, or without a word: %v", err)
	}
	if err := free(); err != nil {
		t.Fatal(err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 0 {
		t.Errorf("the lock left %v", left)
	}
	free, err = hold(t.Context(), path, func() { t.Error("the lock is free") })
	if err != nil {
		t.Fatal(err)
	}
	if err := free(); err != nil {
		t.Fatal(err)
	}
}
