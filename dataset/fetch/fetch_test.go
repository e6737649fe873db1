package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset/catalog"
)

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestFetch(t *testing.T) {
	files := published(t)
	s := archives(t, files)
	o := options(t, s)
	for i, c := range []struct {
		name string
		meta []string
	}{{"CUB", metaFiles}, {"sun", metaFiles[:2]}} {
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
		var size int64
		for _, name := range r.Files {
			info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if want := len(names(t, folder)) - 1 + len(c.meta); len(r.Files) != want || r.Bytes != size || !slices.IsSorted(r.Files) {
			t.Errorf("%d files of %d bytes, expected %d of %d: %v", len(r.Files), r.Bytes, want, size, r.Files)
		}
		for k, name := range []string{"/xlsa17.zip", "/LAGO.zip"} {
			a := r.Archives[k]
			want := Archive{s.URL + name, a.File, int64(len(files[name])), sumOf(files[name]), i == 0, true}
			if diff := cmp.Diff(want, a); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if kept, err := os.ReadFile(a.File); err != nil || sumOf(kept) != a.SHA256 {
				t.Errorf("%s is not kept: %v", name, err)
			}
		}
		d, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: o.DataDir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(mini().Groups, d.Groups); diff != "" || d.Features.Rows != 108 {
			t.Errorf("%d samples, groups (-want +got):\n%s", d.Features.Rows, diff)
		}
	}
	if diff := cmp.Diff([]string{"CUB", "SUN"}, names(t, o.DataDir)); diff != "" {
		t.Errorf("data dir (-want +got):\n%s", diff)
	}
	// The second data set needed no download.
	if diff := cmp.Diff([]string{"/xlsa17.zip", "/LAGO.zip"}, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	// Another address is another archive, of whatever name.
	o.ArchiveURL, o.Force = s.URL+"/other/xlsa17.zip", true
	if _, err := Fetch(t.Context(), "sun", o); err == nil {
		t.Error("the archive of one address stands in for that of another")
	}
}

// The data archive of LAGO's authors has everything, in other folders.
func TestOneArchiveMayHaveAllFiles(t *testing.T) {
	s := archives(t, map[string][]byte{"/xlsa17.zip": zipped(t, release(t, "data/CUB/xian2017"), meta("data/CUB/meta"))})
	o := options(t, s)
	o.DeleteArchives = true
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	if left := names(t, o.DownloadDir); len(r.Archives) != 1 || r.Archives[0].Kept || len(left) != 0 {
		t.Errorf("archives %+v, in the folder %v", r.Archives, left)
	}
	if _, err := catalog.Open(t.Context(), "cub", catalog.Options{DataDir: o.DataDir, NoCache: true}); err != nil {
		t.Error(err)
	}
}

func TestLocalArchive(t *testing.T) {
	files := published(t)
	o := options(t, archives(t, files))
	o.DeleteArchives = true
	o.ArchiveURL = filepath.Join(t.TempDir(), "mine.zip")
	put(t, o.ArchiveURL, string(files["/xlsa17.zip"]))
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Archives[0]; a.Downloaded || !a.Kept || a.File != o.ArchiveURL {
		t.Errorf("archive %+v", a)
	}
	o.Force = true
	put(t, o.ArchiveURL, "not an archive")
	_, err = Fetch(t.Context(), "cub", o)
	wantError(t, err, o.ArchiveURL, "damaged")
	if _, err := os.Stat(o.ArchiveURL); err != nil {
		t.Errorf("the user's own file was deleted: %v", err)
	}
	o.ArchiveURL = t.TempDir()
	_, err = Fetch(t.Context(), "cub", o)
	wantError(t, err, o.ArchiveURL, "expected a regular file")
	o.ArchiveURL = "absent.zip"
	_, err = Fetch(t.Context(), "cub", o)
	wantError(t, err, "absent.zip: expected an http or https address, or the path of an archive")
}

func TestExistingFolder(t *testing.T) {
	files := published(t)
	for _, folder := range []string{"CUB", "cub"} {
		s := archives(t, files)
		o := options(t, s)
		mine := filepath.Join(o.DataDir, folder, "notes.txt")
		put(t, mine, "mine")
		_, err := Fetch(t.Context(), "cub", o)
		wantError(t, err, filepath.Dir(mine), "--force")
		if len(s.requests()) != 0 {
			t.Error("something was downloaded before the folder was found")
		}
		// A failure leaves the earlier folder.
		o.Force = true
		broken := o
		broken.MetaURL = s.URL + "/absent.zip"
		if _, err := Fetch(t.Context(), "cub", broken); err == nil {
			t.Error("no error")
		}
		if diff := cmp.Diff([]string{"notes.txt"}, names(t, filepath.Dir(mine))); diff != "" {
			t.Errorf("the earlier folder (-want +got):\n%s", diff)
		}
		r, err := Fetch(t.Context(), "cub", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(mine); err == nil || r.Folder != filepath.Dir(mine) {
			t.Errorf("--force left the earlier folder, and made %s", r.Folder)
		}
		if diff := cmp.Diff([]string{folder}, names(t, o.DataDir)); diff != "" {
			t.Errorf("data dir (-want +got):\n%s", diff)
		}
		if err := os.Mkdir(filepath.Join(o.DataDir, "Cub"), 0o755); err != nil {
			t.Skip("this file system ignores case")
		}
		_, err = Fetch(t.Context(), "cub", o)
		wantError(t, err, "expected one folder named CUB", folder, "Cub")
	}
}

// A replacement that fails between its two renames puts the earlier folder back.
func TestPlacePutsTheEarlierFolderBack(t *testing.T) {
	f := &fetcher{Options: Options{DataDir: t.TempDir()}, source: sources[0]}
	target := filepath.Join(f.DataDir, "CUB")
	put(t, filepath.Join(target, "notes.txt"), "mine")
	if err := f.place(filepath.Join(f.DataDir, "absent"), target, true); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff([]string{"notes.txt"}, names(t, target)); diff != "" {
		t.Errorf("the earlier folder (-want +got):\n%s", diff)
	}
}

func TestLeftoversOfAKilledProcess(t *testing.T) {
	o := options(t, archives(t, published(t)))
	for _, left := range []string{".CUB.unpacking/res101.mat", ".CUB.replaced/old", ".fetch.lock"} {
		put(t, filepath.Join(o.DataDir, filepath.FromSlash(left)), "half")
	}
	for _, want := range [][]string{{".CUB.replaced", "CUB"}, {"CUB"}} {
		if _, err := Fetch(t.Context(), "cub", o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, names(t, o.DataDir)); diff != "" {
			t.Errorf("data dir (-want +got):\n%s", diff)
		}
		o.Force = true
	}
}

func TestInterruptedInAnyStep(t *testing.T) {
	files := published(t)
	for _, step := range []string{"downloading features", "checking features", "unpacking CUB", "downloading meta files"} {
		o := options(t, archives(t, files))
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(p Progress) {
			if p.Step == step {
				cancel()
			}
		}
		_, err := Fetch(ctx, "cub", o)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: error %v, expected it to wrap context.Canceled", step, err)
		}
		wantError(t, err, "interrupted", "same command")
		if left := names(t, o.DataDir); len(left) != 0 {
			t.Errorf("%s: the data dir holds %v", step, left)
		}
		o.Progress = nil
		if _, err := Fetch(t.Context(), "cub", o); err != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
}

func TestInterruptedDownloadIsResumed(t *testing.T) {
	files := published(t)
	file := files["/xlsa17.zip"]
	s := serve(t, pausing(file, 3000), whole(file, `"a"`), whole(files["/LAGO.zip"], `"b"`))
	o := options(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(Progress) { cancel() }
	_, err := Fetch(ctx, "cub", o)
	part := filepath.Join(o.DownloadDir, cacheName(o.ArchiveURL)) + ".part"
	wantError(t, err, "interrupted. 3.0 kB are kept in "+part)
	o.Progress = nil
	var notices strings.Builder
	o.Notice = func(text string) { notices.WriteString(text) }
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Fatal(err)
	}
	if got := s.requests()[1]; got != "/xlsa17.zip bytes=3000-" {
		t.Errorf("the second call requested %s", got)
	}
	if !strings.Contains(notices.String(), "resuming after 3.0 kB") {
		t.Errorf("notices %q, expected that the download is resumed", &notices)
	}
}

func TestDamagedDownloadsAreRemoved(t *testing.T) {
	good := zipped(t, release(t, "data/CUB"), meta("data/CUB/meta"))
	flipped := slices.Clone(good)
	flipped[len(flipped)/3]++
	twice := zipped(t, release(t, "data/CUB"), release(t, "again/CUB"))
	for name, b := range map[string][]byte{"page": []byte("<html>"), "flipped": flipped, "twice": twice} {
		files := map[string][]byte{"/xlsa17.zip": b}
		o := options(t, archives(t, files))
		_, err := Fetch(t.Context(), "cub", o)
		if !errors.Is(err, errArchive) {
			t.Errorf("%s: error %v, expected errArchive", name, err)
		}
		wantError(t, err, o.ArchiveURL, "has been removed")
		if left := append(names(t, o.DataDir), names(t, o.DownloadDir)...); len(left) != 0 {
			t.Errorf("%s: it left %v", name, left)
		}
		files["/xlsa17.zip"] = good
		if _, err := Fetch(t.Context(), "cub", o); err != nil {
			t.Errorf("%s, and then a good one: %v", name, err)
		}
	}
}

func TestSHA256(t *testing.T) {
	files := published(t)
	o := options(t, archives(t, files))
	right := sumOf(files["/xlsa17.zip"])
	o.SHA256 = strings.Repeat("0", 64)
	_, err := Fetch(t.Context(), "cub", o)
	wantError(t, err, "SHA-256: expected 0000", right, o.ArchiveURL, "remove it")
	if left := names(t, o.DataDir); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
	o.SHA256 = strings.ToUpper(right)
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"abc", strings.Repeat("z", 64), right + "00"} {
		o.SHA256 = wrong
		_, err := Fetch(t.Context(), "sun", o)
		wantError(t, err, "expected 64 hexadecimal digits", wrong)
	}
}

func TestMissingFilesAreListed(t *testing.T) {
	without := func(files fstest.MapFS, names ...string) fstest.MapFS {
		for _, name := range names {
			delete(files, name)
		}
		return files
	}
	files := published(t)
	files["/less.zip"] = zipped(t, without(release(t, "d/CUB"), "d/CUB/testclasses.txt", "d/CUB/att_splits.mat"))
	files["/lessmeta.zip"] = zipped(t, without(meta("d/CUB/meta"), "d/CUB/meta/classes.txt"))
	s := archives(t, files)
	for _, c := range []struct{ name, archive, meta, want string }{
		{"awa2", "/xlsa17.zip", "/LAGO.zip", "/xlsa17.zip: expected the files of AWA2 in a folder of that name, found none named res101.mat, att_splits.mat"},
		{"cub", "/less.zip", "/LAGO.zip", "/less.zip: expected the files of CUB in a folder of that name, found none named att_splits.mat, testclasses.txt"},
		{"cub", "/xlsa17.zip", "/lessmeta.zip", "/lessmeta.zip: expected the files of CUB in a folder of that name, found none named meta/classes.txt"},
	} {
		o := options(t, s)
		o.ArchiveURL, o.MetaURL = s.URL+c.archive, s.URL+c.meta
		_, err := Fetch(t.Context(), c.name, o)
		wantError(t, err, s.URL+c.want)
		if strings.Contains(err.Error(), LAGOURL) {
			t.Errorf("another address is suggested to who gave one: %v", err)
		}
		// An archive that lacks one data set may have another.
		if left := names(t, o.DownloadDir); len(names(t, o.DataDir)) != 0 || len(left) == 0 {
			t.Errorf("data dir %v, downloads %v", names(t, o.DataDir), left)
		}
	}
	if alternative(XianURL) == "" || alternative(MetaURL) == "" {
		t.Error("no other address is suggested for the built-in ones")
	}
}

// Passwords in addresses are sent, but never shown or stored.
func TestPasswordsAreRedacted(t *testing.T) {
	files := published(t)
	authorised := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "me" || password != "s3cret" {
				answer(401, nil)(w, r)
				return
			}
			h(w, r)
		}
	}
	s := serve(t, authorised(answer(500, nil)), authorised(breaking(whole(files["/xlsa17.zip"], `"a"`), 3000)), answer(401, nil),
		authorised(whole(files["/xlsa17.zip"], `"a"`)), authorised(whole(files["/LAGO.zip"], `"b"`)))
	o := options(t, s)
	o.ArchiveURL = strings.Replace(o.ArchiveURL, "://", "://me:s3cret@", 1)
	o.MetaURL = strings.Replace(o.MetaURL, "://", "://me:s3cret@", 1)
	var shown strings.Builder
	o.Notice = func(text string) { shown.WriteString(text) }
	_, err := Fetch(t.Context(), "cub", o)
	wantError(t, err, "me:xxxxx@", "401")
	shown.WriteString(err.Error())
	for _, name := range names(t, o.DownloadDir) {
		if strings.HasSuffix(name, ".json") {
			content, _ := os.ReadFile(filepath.Join(o.DownloadDir, name))
			shown.Write(content)
		}
	}
	r, err := Fetch(t.Context(), "cub", o)
	if err != nil {
		t.Fatal(err)
	}
	shown.WriteString(r.Archives[0].Source + r.Archives[1].Source + r.Archives[0].File)
	for _, address := range []string{"ftp://me:s3cret@host/a", "http://me:s3cret/x@host/a", "http://me:s3cret%zz@host/", "http://me:s3cret@[/a"} {
		o.ArchiveURL, o.Force = address, true
		_, err := Fetch(t.Context(), "cub", o)
		wantError(t, err, "http or https address")
		shown.WriteString(err.Error())
	}
	if strings.Contains(shown.String(), "s3cret") {
		t.Errorf("the password is shown:\n%s", &shown)
	}
}

func TestDefaultDownloadDir(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	user, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	var o Options
	if err := o.setDefaults(); err != nil || o.DownloadDir != filepath.Join(user, "lago-train", "downloads") {
		t.Errorf("download dir %s (%v), expected it in %s", o.DownloadDir, err, user)
	}
}

func TestCacheNames(t *testing.T) {
	seen := make(map[string]string)
	for _, address := range []string{
		XianURL, MetaURL, LAGOURL, "http://other.org/xlsa17.zip", "http://other.org/xlsa17.zip?v=2", "http://other.org/",
		"http://other.org/..", "http://other.org/get?file=../../x.zip", "http://other.org/a%2F..%2Fb.zip",
	} {
		name := cacheName(address)
		if filepath.Base(name) != name || !strings.HasSuffix(name, ".zip") || seen[name] != "" {
			t.Errorf("%s is kept as %q, %q as well", address, name, seen[name])
		}
		seen[name] = address
	}
	if name := cacheName(XianURL); !strings.HasPrefix(name, "xlsa17-") {
		t.Errorf("%s is kept as %s", XianURL, name)
	}
}

func TestTwoFetchesAtATime(t *testing.T) {
	o := options(t, archives(t, published(t)))
	errs := make(chan error, 1)
	waiting := make(chan string, 10)
	started := false
	o.Progress = func(p Progress) {
		if p.Step != "unpacking CUB" || started {
			return
		}
		started = true
		other := o
		other.Progress = nil
		other.Notice = func(text string) { waiting <- text }
		go func() {
			_, err := Fetch(context.Background(), "cub", other)
			errs <- err
		}()
		select {
		case text := <-waiting:
			if !strings.Contains(text, "waiting for another process that fetches to "+o.DataDir) {
				t.Errorf("notice %q", text)
			}
		case <-time.After(10 * time.Second):
			t.Error("the second does not wait")
		}
		// To be interrupted while waiting is no different.
		ctx, cancel := context.WithCancel(context.Background())
		other.Notice = func(string) { cancel() }
		if _, err := Fetch(ctx, "cub", other); !errors.Is(err, context.Canceled) {
			t.Errorf("while waiting, it ended with %v", err)
		}
	}
	if _, err := Fetch(t.Context(), "cub", o); err != nil {
		t.Fatal(err)
	}
	wantError(t, <-errs, "exists already")
}

func TestFileOf(t *testing.T) {
	cub, sun := sources[0], sources[2]
	for _, c := range []struct {
		s     source
		entry string
		want  string // empty if it is not wanted
	}{
		{cub, "xlsa17/data/CUB/res101.mat", "res101.mat"},
		{cub, "CUB/res101.mat", "res101.mat"},
		{cub, "data/cub/allclasses.txt", "allclasses.txt"},
		{cub, "data/CUB/xian2017/att_splits.mat", "att_splits.mat"},
		{cub, "LAGO-c389ff1/data/CUB/meta/classes.txt", "meta/classes.txt"},
		{cub, "../CUB/res101.mat", "res101.mat"}, // which is refused later
		{sun, "data/SUN/meta/class_descriptions_by_attributes.txt", "meta/class_descriptions_by_attributes.txt"},
		{sun, "data/SUN/meta/classes.txt", ""},
		{cub, "res101.mat", ""},
		{cub, "xlsa17/data/SUN/res101.mat", ""},
		{cub, "xlsa17/data/CUB/", ""},
		{cub, "xlsa17/data/CUB/res101.mat/", ""},
		{cub, "xlsa17/data/CUB/./res101.mat", ""},
		{cub, "xlsa17/data/CUB//res101.mat", ""},
		{cub, "xlsa17/data/CUB/RES101.MAT", ""},
		{cub, `xlsa17\data\CUB\res101.mat`, ""},
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
	element := rapid.SampledFrom([]string{"CUB", "cub", "meta", "xian2017", "..", ".", "", "res101.mat", "classes.txt", `a\b`, "C:", "\x00"})
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(sources).Draw(r, "source")
		entry := strings.Join(rapid.SliceOf(element).Draw(r, "elements"), "/")
		file, ok := s.fileOf(entry)
		if ok && !slices.Contains(slices.Concat(releaseFiles, optionalFiles, s.meta()), file) || ok && path.Clean(file) != file {
			r.Errorf("%q is taken as %q", entry, file)
		}
	})
}
