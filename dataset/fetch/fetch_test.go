package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// filled returns files in a folder of an archive.
func filled(folder string, names []string) fstest.MapFS {
	files := make(fstest.MapFS)
	for i, name := range names {
		files[path.Join(folder, name)] = &fstest.MapFile{Data: content(1000 + i)}
	}
	return files
}

func zipped(t testing.TB, all ...fstest.MapFS) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, files := range all {
		testkit.NoError(t, w.AddFS(files))
	}
	testkit.NoError(t, w.Close())
	return b.Bytes()
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// published returns the two archives as they are published, of CUB and of SUN.
func published(t testing.TB) map[string][]byte {
	t.Helper()
	release := append(releaseFiles, "allclasses.txt", "run.m")
	return map[string][]byte{
		"/xlsa17.zip": zipped(t, filled("xlsa17/data/CUB", release), filled("xlsa17/data/SUN", release)),
		"/LAGO.zip":   zipped(t, filled("LAGO-c389ff1/data/CUB", metaFiles), filled("LAGO-c389ff1/data/SUN", metaFiles)),
	}
}

// archives serves files by path.
func archives(t testing.TB, files map[string][]byte) *server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		content, exists := files[r.URL.Path]
		if !exists {
			http.NotFound(w, r)
			return
		}
		whole(content, `"`+sumOf(content)+`"`)(w, r)
	})
}

// options returns those of a fetch from a server to new folders, without waits.
func options(t testing.TB, s *server) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{
		DataDir: filepath.Join(dir, "data"), DownloadDir: filepath.Join(dir, "downloads"),
		ArchiveURL: s.URL + "/xlsa17.zip", MetaURL: s.URL + "/LAGO.zip", Attempts: 3, pause: 1,
	}
}

// in returns what is in a folder, if it exists, but for lock files.
func in(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		testkit.NoError(t, err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

func wantIn(t testing.TB, dir string, want ...string) {
	t.Helper()
	testkit.Equal(t, dir, in(t, dir), want)
}

func TestFetch(t *testing.T) {
	files := published(t)
	good := files["/xlsa17.zip"]
	files["/xlsa17.zip"] = []byte("<html>") // a download that is damaged is removed
	o := options(t, archives(t, files))
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, errArchive.Error(), o.ArchiveURL, "has been removed")
	wantIn(t, o.DataDir)
	wantIn(t, o.DownloadDir)
	files["/xlsa17.zip"] = good
	s := archives(t, files)
	o.ArchiveURL, o.MetaURL = s.URL+"/xlsa17.zip", s.URL+"/LAGO.zip"
	for i, name := range []string{"CUB", "sun"} {
		r := testkit.Must(Fetch(t.Context(), name, o))(t)
		folder := filepath.Join(o.DataDir, strings.ToUpper(name))
		var size int64
		for _, file := range r.Files {
			size += int64(len(testkit.Read(t, filepath.Join(folder, filepath.FromSlash(file)))))
		}
		want := Result{Name: strings.ToLower(name), Folder: folder, Files: r.Files, Bytes: size}
		for k, file := range []string{"/xlsa17.zip", "/LAGO.zip"} {
			kept := r.Archives[k].File
			want.Archives = append(want.Archives, Archive{s.URL + file, kept, int64(len(files[file])), sumOf(files[file]), i == 0, true})
			testkit.Equal(t, kept, sumOf([]byte(testkit.Read(t, kept))), sumOf(files[file]))
		}
		testkit.Equal(t, name, *r, want)
		testkit.Equal(t, "files", len(r.Files), 10-i)
	}
	wantIn(t, o.DataDir, "CUB", "SUN")
	// The second data set needed no download.
	testkit.Equal(t, "requests", s.requests(), []string{"/xlsa17.zip", "/LAGO.zip"})
	// Another address is another archive, of the same name.
	o.ArchiveURL, o.Force = s.URL+"/other/xlsa17.zip", true
	testkit.Fails(Fetch(t.Context(), "sun", o))(t, "/other/xlsa17.zip", "404")
}

// The data archive of LAGO's authors has everything, in other folders. A file of the user is
// not deleted, even if it is damaged.
func TestOneArchiveMayHaveAllFiles(t *testing.T) {
	b := zipped(t, filled("data/CUB/xian2017", releaseFiles), filled("data/CUB", metaFiles))
	o := options(t, archives(t, map[string][]byte{"/xlsa17.zip": b}))
	o.DeleteArchives, o.Force = true, true
	own := testkit.Write(t, t.TempDir(), "mine.zip", string(b))
	for _, source := range []string{o.ArchiveURL, own} {
		o.ArchiveURL = source
		r := testkit.Must(Fetch(t.Context(), "cub", o))(t)
		if len(r.Archives) != 1 || r.Archives[0].Kept != (source == own) {
			t.Errorf("archives %+v", r.Archives)
		}
		wantIn(t, o.DownloadDir)
		wantIn(t, r.Folder, "att_splits.mat", "meta", "res101.mat", "testclasses.txt", "trainclasses1.txt", "trainvalclasses.txt", "valclasses1.txt")
	}
	testkit.Write(t, filepath.Dir(own), "mine.zip", "not an archive")
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, own, "damaged")
	testkit.Read(t, own)
}

// A data set that cannot be opened takes the place of nothing. Links in the place of a download
// are not followed.
func TestCheckedBeforeItIsPlaced(t *testing.T) {
	o := options(t, archives(t, published(t)))
	o.Force = true
	o.Check = func(_ context.Context, _, staged string) error {
		return &invalid.Error{Where: filepath.Join(staged, "res101.mat"), Want: "a variable"}
	}
	mine := testkit.Write(t, t.TempDir(), "mine", "mine")
	target := filepath.Dir(testkit.Write(t, o.DataDir, "CUB/notes.txt", "mine"))
	testkit.NoError(t, os.MkdirAll(o.DownloadDir, 0o777))
	archive := filepath.Join(o.DownloadDir, (&fetcher{}).cacheName(o.ArchiveURL))
	testkit.NoError(t, os.Symlink(mine, archive+".part"))
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, o.ArchiveURL+": cub: ", "res101.mat: expected a variable", "Nothing was replaced.", "remove "+archive+" first")
	wantIn(t, o.DataDir, "CUB")
	wantIn(t, target, "notes.txt")
	testkit.Equal(t, "the file that the link leads to", testkit.Read(t, mine), "mine")
}

func TestExistingFolder(t *testing.T) {
	s := archives(t, published(t))
	o := options(t, s)
	target := filepath.Join(o.DataDir, "Cub")
	testkit.Write(t, target, "notes.txt", "mine")
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, target, "exists already", "With force")
	testkit.Equal(t, "downloads before the folder is found", len(s.requests()), 0)
	// A failure leaves the earlier folder.
	o.Force = true
	broken := o
	broken.MetaURL = s.URL + "/absent.zip"
	testkit.Fails(Fetch(t.Context(), "cub", broken))(t, "404")
	wantIn(t, target, "notes.txt")
	// Leftovers of a killed process are removed.
	testkit.Write(t, o.DataDir, ".CUB.new/res101.mat", "half")
	testkit.Write(t, o.DataDir, ".CUB.replaced/old", "half")
	r := testkit.Must(Fetch(t.Context(), "cub", o))(t)
	testkit.Equal(t, "folder", r.Folder, target)
	testkit.Equal(t, "the earlier folder is left", slices.Contains(in(t, target), "notes.txt"), false)
	wantIn(t, o.DataDir, "Cub")
	if err := os.Mkdir(filepath.Join(o.DataDir, "cub"), 0o755); err != nil {
		t.Skip("this file system ignores case")
	}
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, "expected one folder named CUB", "Cub and cub")
}

func TestInterruptedInAnyStep(t *testing.T) {
	files := published(t)
	for _, step := range []string{"downloading features", "checking features", "unpacking CUB", "downloading meta files"} {
		o := options(t, archives(t, files))
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p format.Progress) {
			if p.What == step {
				cancel()
			}
		}
		_, err := Fetch(ctx, "cub", o)
		testkit.WantError(t, err, "interrupted. ", "same command")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, expected it to wrap context.Canceled", step, err)
		}
		wantIn(t, o.DataDir)
		o.Progress = nil
		testkit.Must(Fetch(t.Context(), "cub", o))(t)
	}
}

func TestRefuses(t *testing.T) {
	files := published(t)
	files["/less.zip"] = zipped(t, filled("d/CUB", slices.Concat(releaseFiles[:1], releaseFiles[2:])))
	files["/lessmeta.zip"] = zipped(t, filled("d/CUB", metaFiles[:2]))
	right := sumOf(files["/xlsa17.zip"])
	s := archives(t, files)
	for _, c := range []struct {
		name   string
		change func(o *Options)
		parts  []string
	}{
		{"awa2", func(*Options) {}, []string{s.URL + "/xlsa17.zip: expected the files of AWA2 in a folder of that name, found none named res101.mat, att_splits.mat"}},
		{"cub", func(o *Options) { o.ArchiveURL = s.URL + "/less.zip" }, []string{"/less.zip", "found none named att_splits.mat. "}},
		{"cub", func(o *Options) { o.MetaURL = s.URL + "/lessmeta.zip" }, []string{"/lessmeta.zip", "found none named meta/classes.txt"}},
		{"cub", func(o *Options) { o.SHA256 = strings.Repeat("0", 64) }, []string{"SHA-256: expected 0000", right, s.URL + "/xlsa17.zip"}},
		{"cub", func(o *Options) { o.SHA256 = "abcd" }, []string{`sha256: expected 64 hexadecimal digits, found "abcd"`}},
		{"cub", func(o *Options) { o.ArchiveURL = "ftp://me:s3cret@host/a" }, []string{"archive_url: expected an http or https address", "ftp"}},
		{"resnet50", func(o *Options) { o.ArchiveURL = "w.safetensors" }, []string{"archive_url: expected an http or https address"}},
		{"resnet5", func(*Options) {}, []string{"Did you mean resnet50"}},
	} {
		o := options(t, s)
		c.change(&o)
		_, err := Fetch(t.Context(), c.name, o)
		testkit.WantError(t, err, c.parts...)
		testkit.WantNoText(t, fmt.Sprint(err), LAGOURL, "s3cret")
		wantIn(t, o.DataDir)
	}
}

func TestTwoFetchesAtATime(t *testing.T) {
	o := options(t, archives(t, published(t)))
	errs, logged := make(chan error, 1), logtest.NewGlobal()
	t.Cleanup(func() { logrus.StandardLogger().ReplaceHooks(logrus.LevelHooks{}) })
	other := o
	o.Progress = func(p format.Progress) {
		if p.What != "unpacking CUB" || logged.LastEntry() != nil {
			return
		}
		go func() {
			_, err := Fetch(context.Background(), "cub", other)
			errs <- err
		}()
		for until := time.Now().Add(10 * time.Second); logged.LastEntry() == nil && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	testkit.Must(Fetch(t.Context(), "cub", o))(t)
	testkit.WantText(t, logged.AllEntries()[0].Message, "waiting for another process that fetches to "+o.DataDir)
	testkit.WantError(t, <-errs, "exists already")
}

func TestFetchWeights(t *testing.T) {
	file := content(3 * worthwhile)
	s := serve(t, breaking(whole(file, `"1"`), worthwhile)) // more often than is forgiven, but it advances each time
	o := options(t, s)
	o.ArchiveURL, o.SHA256, o.Attempts = s.URL+"/model.safetensors", sumOf(file), 2
	r := testkit.Must(Fetch(t.Context(), "ResNet50", o))(t)
	path := filepath.Join(o.DataDir, "resnet50.safetensors")
	want := &Result{"resnet50", o.DataDir, []string{"resnet50.safetensors"}, int64(len(file)), []Archive{{o.ArchiveURL, path, int64(len(file)), sumOf(file), true, true}}}
	testkit.Equal(t, "result", r, want)
	testkit.Equal(t, "weights", sumOf([]byte(testkit.Read(t, path))), sumOf(file))
	// What a killed process left beside good weights is removed.
	testkit.Write(t, o.DataDir, ".resnet50.safetensors.new.part", "some")
	testkit.Write(t, o.DataDir, ".resnet50.safetensors.new.part.validator", `"1"`)
	o.SHA256 = ""
	testkit.Fails(Fetch(t.Context(), "resnet50", o))(t, path, "exists already")
	wantIn(t, o.DataDir, "resnet50.safetensors", "resnet50.safetensors.sha256")
	// What the check refuses takes the place of nothing, and is not kept.
	o.Force = true
	o.Check = func(_ context.Context, name, staged string) error {
		if name != "resnet50" || testkit.Read(t, staged) != string(file) {
			t.Errorf("%s was checked at %s", name, staged)
		}
		return &invalid.Error{Where: staged, Want: "a header"}
	}
	testkit.Write(t, o.DataDir, "resnet50.safetensors", "old")
	testkit.Fails(Fetch(t.Context(), "resnet50", o))(t, o.ArchiveURL+": resnet50: expected a header. ", "login page", "Nothing was replaced.")
	wantIn(t, o.DataDir, "resnet50.safetensors", "resnet50.safetensors.sha256")
	testkit.Equal(t, "the earlier weights", testkit.Read(t, path), "old")
}

// The SHA-256 of the first download of weights is recorded, and others are refused later from any
// address, unless they are asked for.
func TestRecordedSum(t *testing.T) {
	file, other := content(1000), content(2000)
	s := archives(t, map[string][]byte{"/a": file, "/mirror": other})
	o := options(t, s)
	o.Force = true
	fetch := func(from, sum string) error {
		o.ArchiveURL, o.SHA256 = s.URL+from, sum
		_, err := Fetch(t.Context(), "dinov2-small", o)
		return err
	}
	recorded := filepath.Join(o.DataDir, "dinov2-small.safetensors.sha256")
	testkit.NoError(t, fetch("/a", ""))
	testkit.NoError(t, fetch("/a", ""))
	testkit.WantError(t, fetch("/mirror", ""), "/mirror: SHA-256: expected "+sumOf(file), sumOf(other), "remove "+recorded)
	testkit.NoError(t, fetch("/mirror", sumOf(other)))
	testkit.Equal(t, "recorded", testkit.Read(t, recorded), sumOf(other)+"  dinov2-small.safetensors\n")
}
