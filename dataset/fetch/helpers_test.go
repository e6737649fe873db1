package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/xlsa17"
)

const plain = "../xlsa17/testdata/plain"

// mini loads the small data set that is fetched under other names.
var mini = sync.OnceValue(func() *dataset.Dataset {
	log := logrus.New()
	log.SetOutput(io.Discard)
	d, err := xlsa17.Load(context.Background(), plain, xlsa17.Options{NoCache: true, Log: log})
	if err != nil {
		panic(err)
	}
	return d
})

// release are the files of the small data set in a folder of an archive.
func release(t testing.TB, folder string) fstest.MapFS {
	t.Helper()
	files := make(fstest.MapFS)
	entries, err := os.ReadDir(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(plain, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[path.Join(folder, e.Name())] = &fstest.MapFile{Data: content, Mode: 0o644}
	}
	return files
}

// meta are the files that LAGO's authors added, in a folder of an archive.
func meta(folder string) fstest.MapFS {
	d := mini()
	var attributes, classes, descriptions strings.Builder
	for i, a := range d.Attributes {
		fmt.Fprintf(&attributes, "%d %s\n", i+1, a.Name)
	}
	for z, class := range d.Classes {
		fmt.Fprintf(&classes, "%d %s\n", z+1, class)
		for _, p := range d.Descriptions.Row(z) {
			fmt.Fprintf(&descriptions, "%g ", 100*p)
		}
		fmt.Fprintln(&descriptions)
	}
	files := make(fstest.MapFS)
	for name, content := range map[string]string{
		metaFiles[0]: attributes.String(), metaFiles[1]: descriptions.String(), classesFile: classes.String(),
		"README_LAGO.txt": "not wanted",
	} {
		files[path.Join(folder, name)] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	return files
}

// zipped returns an archive of files.
func zipped(t testing.TB, all ...fstest.MapFS) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, files := range all {
		if err := w.AddFS(files); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// server serves archives by path, and counts what it is asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	asked []string // path and Range
	pause int      // bytes after which it waits for the client to go; 0 never
}

func serve(t testing.TB, files map[string][]byte) *server {
	t.Helper()
	s := &server{files: files}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, there := s.files[r.URL.Path]
	s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	s.mu.Unlock()
	if !there {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(content)
	w.Header().Set("Etag", `"`+hex.EncodeToString(sum[:])+`"`)
	if s.pause > 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:s.pause])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// requests returns and forgets what was asked.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// published serves the two archives as they are published: of CUB and of SUN.
func published(t testing.TB) *server {
	t.Helper()
	return serve(t, map[string][]byte{
		"/xlsa17.zip": zipped(t, release(t, "xlsa17/data/CUB"), release(t, "xlsa17/data/SUN")),
		"/LAGO.zip":   zipped(t, meta("LAGO-c389ff1/data/CUB/meta"), meta("LAGO-c389ff1/data/SUN/meta")),
	})
}

// options are those of a fetch from a server to new folders.
func options(t testing.TB, s *server) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{
		DataDir: filepath.Join(dir, "data"), DownloadDir: filepath.Join(dir, "downloads"),
		ArchiveURL: s.URL + "/xlsa17.zip", MetaURL: s.URL + "/LAGO.zip",
		Attempts: 2, Backoff: func(int) time.Duration { return 0 },
	}
}

// names returns what is in a folder, hidden files too.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// mustSay wants an error with all of the parts.
func mustSay(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error doesn't say %q:\n%v", part, err)
		}
	}
}
