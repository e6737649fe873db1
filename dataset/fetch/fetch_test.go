package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch/internal/unpack"
)

func TestWhatIsFetchedIsADataSet(t *testing.T) {
	for _, c := range []struct {
		name string
		meta []string
	}{
		{"CUB", []string{"attribute_names_with_semantic_group.txt", "class_descriptions_by_attributes.txt", "classes.txt"}},
		{"sun", []string{"attribute_names_with_semantic_group.txt", "class_descriptions_by_attributes.txt"}},
	} {
		s := published(t)
		o := options(t, s)
		r, err := Fetch(t.Context(), c.name, o)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(o.DataDir, strings.ToUpper(c.name))
		if r.Folder != folder || r.Name != strings.ToLower(c.name) {
			t.Errorf("%s in %s, expected %s", r.Name, r.Folder, folder)
		}
		if diff := cmp.Diff(c.meta, names(t, filepath.Join(folder, "meta"))); diff != "" {
			t.Errorf("meta (-want +got):\n%s", diff)
		}
		d, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: o.DataDir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(mini().Groups, d.Groups); diff != "" || d.Features.Rows != 108 {
			t.Errorf("%d samples, groups (-want +got):\n%s", d.Features.Rows, diff)
		}
		// Nothing else is left in the data dir.
		if diff := cmp.Diff([]string{strings.ToUpper(c.name)}, names(t, o.DataDir)); diff != "" {
			t.Errorf("data dir (-want +got):\n%s", diff)
		}
	}
}

func TestResultTellsFilesAndArchives(t *testing.T) {
	s := published(t)
	o := options(t, s)
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, name := range r.Files {
		info, err := os.Stat(filepath.Join(r.Folder, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if len(r.Files) != 10 || r.Bytes != size {
		t.Errorf("%d files of %d bytes, expected 10 of %d: %v", len(r.Files), r.Bytes, size, r.Files)
	}
	for i, name := range []string{"/xlsa17.zip", "/LAGO.zip"} {
		a := r.Archives[i]
		content := s.files[name]
		if a.Source != s.URL+name || a.SHA256 != sumOf(content) || a.Bytes != int64(len(content)) || !a.Downloaded || !a.Kept {
			t.Errorf("%s: %+v", name, a)
		}
		if kept, err := os.ReadFile(a.File); err != nil || sumOf(kept) != a.SHA256 {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
}

func TestASecondDataSetNeedsNoDownload(t *testing.T) {
	s := published(t)
	o := options(t, s)
	for i, name := range []string{"cub", "sun"} {
		r, err := Fetch(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		if first := i == 0; r.Archives[0].Downloaded != first || r.Archives[1].Downloaded != first {
			t.Errorf("%s: archives %+v", name, r.Archives)
		}
	}
	if diff := cmp.Diff([]string{"/xlsa17.zip", "/LAGO.zip"}, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	// Another address is another archive, of whatever name.
	o.ArchiveURL = s.URL + "/other/xlsa17.zip"
	o.Force = true
	if _, err := Fetch(t.Context(), "sun", o); err == nil {
		t.Error("the archive of one address stands in for that of another")
	}
}

func TestArchivesAreDeletedWhereThatIsWanted(t *testing.T) {
	o := options(t, published(t))
	o.DeleteArchives = true
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	if left := names(t, o.DownloadDir); len(left) != 0 || r.Archives[0].Kept || r.Archives[1].Kept {
		t.Errorf("there are %v; archives %+v", left, r.Archives)
	}
}

// The data archive of LAGO's authors has everything, in folders of its own.
func TestOneArchiveMayHaveItAll(t *testing.T) {
	s := serve(t, map[string][]byte{"/LAGO_data.zip": zipped(t, release(t, "data/CUB/xian2017"), meta("data/CUB/meta"))})
	o := options(t, s)
	o.ArchiveURL, o.MetaURL = s.URL+"/LAGO_data.zip", s.URL+"/absent"
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Archives) != 1 {
		t.Errorf("archives %+v", r.Archives)
	}
	if _, err := catalog.Open(t.Context(), "cub", catalog.Options{DataDir: o.DataDir, NoCache: true}); err != nil {
		t.Error(err)
	}
}

func TestAnArchiveMayBeAFile(t *testing.T) {
	s := published(t)
	o := options(t, s)
	o.ArchiveURL = filepath.Join(t.TempDir(), "mine.zip")
	if err := os.WriteFile(o.ArchiveURL, s.files["/xlsa17.zip"], 0o644); err != nil {
		t.Fatal(err)
	}
	o.DeleteArchives = true
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Archives[0]; a.Downloaded || !a.Kept || a.File != o.ArchiveURL {
		t.Errorf("archive %+v", a)
	}
	if _, err := os.Stat(o.ArchiveURL); err != nil {
		t.Errorf("the user's own file was deleted: %v", err)
	}
	o.Force = true
	if err := os.WriteFile(o.ArchiveURL, []byte("no archive"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Fetch(t.Context(), "cub", o)
	mustSay(t, err, o.ArchiveURL)
	if _, err := os.Stat(o.ArchiveURL); err != nil {
		t.Errorf("the user's own file was deleted: %v", err)
	}
	o.ArchiveURL = t.TempDir()
	_, err = Fetch(t.Context(), "cub", o)
	mustSay(t, err, o.ArchiveURL, "expected a zip archive")
}

func TestAFolderThatIsThereIsLeft(t *testing.T) {
	for _, folder := range []string{"CUB", "cub"} {
		s := published(t)
		o := options(t, s)
		mine := filepath.Join(o.DataDir, folder, "notes.txt")
		if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Fetch(t.Context(), "cub", o)
		var exists *Exists
		if !errors.As(err, &exists) || exists.Folder != filepath.Dir(mine) {
			t.Errorf("error %v, expected an *Exists of %s", err, filepath.Dir(mine))
		}
		mustSay(t, err, "--force")
		if len(s.requests()) != 0 {
			t.Error("something was downloaded before the folder was seen")
		}
		o.Force = true
		r, err := Fetch(t.Context(), "cub", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(mine); err == nil || r.Folder != filepath.Dir(mine) {
			t.Errorf("--force left the older folder, and made %s", r.Folder)
		}
		if diff := cmp.Diff([]string{folder}, names(t, o.DataDir)); diff != "" {
			t.Errorf("data dir (-want +got):\n%s", diff)
		}
	}
}

func TestTwoFoldersThatDifferByCaseAreNotChosenBetween(t *testing.T) {
	o := options(t, published(t))
	o.Force = true
	for _, folder := range []string{"CUB", "Cub"} {
		if err := os.MkdirAll(filepath.Join(o.DataDir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if len(names(t, o.DataDir)) != 2 {
		t.Skip("this file system knows no case")
	}
	_, err := Fetch(t.Context(), "cub", o)
	mustSay(t, err, "expected one folder", "CUB", "Cub")
}

func TestAFailureLeavesTheOlderFolder(t *testing.T) {
	s := published(t)
	s.files["/LAGO.zip"] = zipped(t, meta("LAGO/data/AWA2/meta"))
	o := options(t, s)
	o.Force = true
	mine := filepath.Join(o.DataDir, "CUB", "notes.txt")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), "cub", o); err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff([]string{"notes.txt"}, names(t, filepath.Dir(mine))); diff != "" {
		t.Errorf("the older folder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CUB"}, names(t, o.DataDir)); diff != "" {
		t.Errorf("data dir (-want +got):\n%s", diff)
	}
}

func TestWhatAKillLeftIsNoHindrance(t *testing.T) {
	o := options(t, published(t))
	for _, left := range []string{".CUB.unpacking/res101.mat", ".CUB.replaced/old", ".CUB.lock"} {
		path := filepath.Join(o.DataDir, filepath.FromSlash(left))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"CUB"}, names(t, o.DataDir)); diff != "" {
		t.Errorf("data dir (-want +got):\n%s", diff)
	}
}

func TestCancelledInAnyStepGoesOn(t *testing.T) {
	for _, step := range []string{"downloading features", "checking features", "unpacking CUB", "downloading meta files"} {
		s := published(t)
		o := options(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p Progress) {
			if p.Step == step {
				cancel()
			}
		}
		_, err := Fetch(ctx, "cub", o)
		var cancelled *Cancelled
		if !errors.As(err, &cancelled) || !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: error %v, expected a *Cancelled", step, err)
		}
		mustSay(t, err, "stopped fetching cub", "the same command goes on")
		if left := names(t, o.DataDir); len(left) != 0 {
			t.Errorf("%s: the data dir holds %v", step, left)
		}
		o.Progress = nil
		if _, err := Fetch(t.Context(), "cub", o); err != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// A download that is ended in the middle leaves a part, which the next call goes on
// from.
func TestCancelledInTheMiddleOfADownload(t *testing.T) {
	s := published(t)
	s.pause = len(s.files["/xlsa17.zip"]) / 2
	o := options(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(Progress) { cancel() }
	_, err := Fetch(ctx, "cub", o)
	var cancelled *Cancelled
	if !errors.As(err, &cancelled) || cancelled.Done == 0 {
		t.Fatalf("error %v, expected a *Cancelled with a part", err)
	}
	if info, err := os.Stat(cancelled.Part); err != nil || info.Size() != cancelled.Done {
		t.Errorf("the part of %d bytes is not there: %v", cancelled.Done, err)
	}
	mustSay(t, err, cancelled.Part)
	s.pause, s.asked = 0, nil
	o.Progress = nil
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Fatal(err)
	}
	if got, want := s.requests()[0], fmt.Sprintf("/xlsa17.zip bytes=%d-", cancelled.Done); got != want {
		t.Errorf("the second call asked for %s, expected %s", got, want)
	}
}

func TestHostileAndDamagedArchivesAreRemoved(t *testing.T) {
	good := zipped(t, release(t, "data/CUB"), meta("data/CUB/meta"))
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)/3]++
	hostile := zipped(t, release(t, "data/CUB"), release(t, "again/CUB"))
	for name, b := range map[string][]byte{"a page": []byte("<html>"), "flipped": flipped, "twice": hostile} {
		s := serve(t, map[string][]byte{"/xlsa17.zip": b})
		o := options(t, s)
		_, err := Fetch(t.Context(), "cub", o)
		if !errors.Is(err, unpack.ErrArchive) {
			t.Errorf("%s: error %v, expected ErrArchive", name, err)
		}
		mustSay(t, err, o.ArchiveURL, "was removed")
		if left := append(names(t, o.DataDir), names(t, o.DownloadDir)...); len(left) != 0 {
			t.Errorf("%s: it left %v", name, left)
		}
		s.files["/xlsa17.zip"] = good
		if _, err := Fetch(t.Context(), "cub", o); err != nil {
			t.Errorf("%s, and then a good one: %v", name, err)
		}
	}
}
