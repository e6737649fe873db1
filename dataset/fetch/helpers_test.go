package fetch

import (
	"archive/zip"
	"bytes"
	"context"
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

// release returns the files of the small data set in a folder of an archive.
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

// meta returns the files that the authors of LAGO added, in a folder of an archive.
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
		metaFiles[0]: attributes.String(), metaFiles[1]: descriptions.String(), metaFiles[2]: classes.String(),
		"README_LAGO.txt": "not wanted",
	} {
		files[path.Join(folder, name)] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	return files
}

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

// server records what it was asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
	sent  int // bytes of bodies
}

// serve answers the first request by the first handler, and so on, the last handler
// answering all that follow.
func serve(t testing.TB, handlers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := handlers[min(len(s.asked), len(handlers)-1)]
		s.asked = append(s.asked, r.Clone(r.Context()))
		s.mu.Unlock()
		h(&counting{w, s}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type counting struct {
	http.ResponseWriter
	s *server
}

func (c *counting) Write(b []byte) (int, error) {
	c.s.mu.Lock()
	c.s.sent += len(b) // before the client can have them
	c.s.mu.Unlock()
	return c.ResponseWriter.Write(b)
}

func (c *counting) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// requests returns and forgets what was asked, as "PATH RANGE".
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.asked {
		all = append(all, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	}
	s.asked = nil
	return all
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

// published returns the two archives as they are published, of CUB and of SUN.
func published(t testing.TB) map[string][]byte {
	t.Helper()
	return map[string][]byte{
		"/xlsa17.zip": zipped(t, release(t, "xlsa17/data/CUB"), release(t, "xlsa17/data/SUN")),
		"/LAGO.zip":   zipped(t, meta("LAGO-c389ff1/data/CUB/meta"), meta("LAGO-c389ff1/data/SUN/meta")),
	}
}

// options returns those of a fetch from a server to new folders, without waits.
func options(t testing.TB, s *server) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{
		DataDir: filepath.Join(dir, "data"), DownloadDir: filepath.Join(dir, "downloads"),
		ArchiveURL: s.URL + "/xlsa17.zip", MetaURL: s.URL + "/LAGO.zip",
		Attempts: 3, pause: 1,
	}
}

// names returns what is in a folder, if it exists, but for lock files.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			all = append(all, e.Name())
		}
	}
	return all
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantError fails unless an error says all of the parts.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q:\n%v", part, err)
		}
	}
}
