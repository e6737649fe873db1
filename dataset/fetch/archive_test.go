package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestSHA256(t *testing.T) {
	s := published(t)
	o := options(t, s)
	right := sumOf(s.files["/xlsa17.zip"])
	o.SHA256 = strings.Repeat("0", 64)
	_, err := Fetch(t.Context(), "cub", o)
	mustSay(t, err, "SHA-256: expected 0000", right, o.ArchiveURL, "remove it")
	if left := names(t, o.DataDir); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
	// What was downloaded is what another checksum, or none, may be for.
	o.SHA256 = strings.ToUpper(right)
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"abc", strings.Repeat("z", 64), right + "00"} {
		o.SHA256 = wrong
		_, err := Fetch(t.Context(), "sun", o)
		mustSay(t, err, "64 hexadecimal digits", wrong)
	}
}

func TestWhatLacksIsListed(t *testing.T) {
	without := func(files fstest.MapFS, names ...string) fstest.MapFS {
		for _, name := range names {
			if _, there := files[name]; !there {
				t.Fatalf("there is no %s", name)
			}
			delete(files, name)
		}
		return files
	}
	s := published(t)
	o := options(t, s)
	_, err := Fetch(t.Context(), "awa2", o)
	mustSay(t, err, o.ArchiveURL, "expected the files of AWA2", "res101.mat, att_splits.mat, trainclasses1.txt")

	s.files["/less.zip"] = zipped(t, without(release(t, "d/CUB"), "d/CUB/testclasses.txt", "d/CUB/att_splits.mat"))
	o.ArchiveURL = s.URL + "/less.zip"
	_, err = Fetch(t.Context(), "cub", o)
	mustSay(t, err, o.ArchiveURL, "found none named att_splits.mat, testclasses.txt")

	o = options(t, s)
	s.files["/LAGO.zip"] = zipped(t, without(meta("d/CUB/meta"), "d/CUB/meta/classes.txt"))
	_, err = Fetch(t.Context(), "cub", o)
	mustSay(t, err, o.MetaURL, "found none named meta/classes.txt")
	if left := names(t, o.DataDir); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
	// An archive that lacks one data set may have another.
	if left := names(t, o.DownloadDir); len(left) != 2 {
		t.Errorf("of the archives, %v are left", left)
	}
	if strings.Contains(err.Error(), LAGOURL) {
		t.Errorf("whoever chose an address is told of another: %v", err)
	}
}

func TestErrorsOfTheServerNameTheAddress(t *testing.T) {
	o := options(t, serve(t, nil))
	_, err := Fetch(t.Context(), "cub", o)
	mustSay(t, err, o.ArchiveURL, "404 Not Found")
}

func TestElsewhereIsToldOfTheAddressesThatAreBuiltIn(t *testing.T) {
	failure := errors.New("404 Not Found")
	mustSay(t, elsewhere(failure, true), "404 Not Found", "--archive-url "+LAGOURL)
	full := &fs.PathError{Op: "write", Path: "x", Err: errors.New("disk full")}
	if err := elsewhere(full, true); err != full {
		t.Errorf("a full disk is told as %v", err)
	}
	if err := elsewhere(failure, false); err != failure {
		t.Errorf("a failure with an address that was given is told as %v", err)
	}
}

func TestUnknownNames(t *testing.T) {
	_, err := Fetch(t.Context(), "apy", Options{DataDir: t.TempDir()})
	mustSay(t, err, `"apy"`, "cub, awa2, sun")
}

func TestTheCacheIsTheUsers(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	user, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	o := options(t, published(t))
	o.DownloadDir = ""
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(user, "lago-train", "downloads"); filepath.Dir(r.Archives[0].File) != want {
		t.Errorf("the archive is %s, expected it in %s", r.Archives[0].File, want)
	}
}

func TestCacheNames(t *testing.T) {
	seen := make(map[string]string)
	for _, address := range []string{
		XianURL, MetaURL, LAGOURL, "http://other.org/xlsa17.zip", "http://other.org/xlsa17.zip?v=2", "http://other.org/",
		"http://other.org/..", "http://other.org/get?file=../../x.zip", "http://other.org/a%2F..%2Fb.zip",
	} {
		name := cacheName(address)
		if filepath.Base(name) != name || !strings.HasSuffix(name, ".zip") {
			t.Errorf("%s is kept as %q", address, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s are both kept as %s", address, other, name)
		}
		seen[name] = address
	}
	if name := cacheName(XianURL); !strings.HasPrefix(name, "xlsa17-") {
		t.Errorf("%s is kept as %s", XianURL, name)
	}
}

func TestTwoFetchesAtATime(t *testing.T) {
	s := published(t)
	o := options(t, s)
	var told []string
	errs := make(chan error, 1)
	o.Progress = func(p Progress) {
		if p.Step != "unpacking CUB" || told != nil {
			return
		}
		told = []string{} // once
		other := o
		other.Progress = nil
		waiting := make(chan struct{})
		other.Notice = func(text string) { told = append(told, text); close(waiting) }
		go func() {
			_, err := Fetch(context.Background(), "cub", other)
			errs <- err
		}()
		select {
		case <-waiting:
		case <-time.After(5 * time.Second):
			t.Error("the second doesn't wait")
		}
	}
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Fatal(err)
	}
	if err := <-errs; !errors.As(err, new(*Exists)) {
		t.Errorf("the second ended with %v, expected an *Exists", err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "waiting for another process that fetches CUB") {
		t.Errorf("notices %q", told)
	}
}
