package download

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// content is a file of n bytes in which no part is like another.
func content(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // never fails
	return b
}

// server answers the first request by the first handler, and so on, the last
// handler answering all that follow. It keeps what it was asked, and how many bytes
// of bodies it sent.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []http.Header
	sent  int64
}

func serve(t *testing.T, handlers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := handlers[min(len(s.asked), len(handlers)-1)]
		s.asked = append(s.asked, r.Header.Clone())
		s.mu.Unlock()
		h(&counting{w, s}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns what was asked so far.
func (s *server) requests() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]http.Header(nil), s.asked...)
}

func (s *server) bytesSent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

type counting struct {
	http.ResponseWriter
	s *server
}

func (c *counting) Write(b []byte) (int, error) {
	c.s.mu.Lock()
	c.s.sent += int64(len(b)) // before the client can have them
	c.s.mu.Unlock()
	return c.ResponseWriter.Write(b)
}

func (c *counting) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// whole serves a file as servers should: with ranges, and under an ETag.
func whole(b []byte, tag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if tag != "" {
			w.Header().Set("Etag", tag)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// breaking serves as h does, and cuts the connection after n bytes.
func breaking(h http.HandlerFunc, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(&cutting{w, n}, r)
	}
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	_ = http.NewResponseController(c).Flush()
	panic(http.ErrAbortHandler)
}

func (c *cutting) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// pausing sends n bytes of a file under the ETag "a", and then waits until the client
// is gone.
func pausing(b []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		_, _ = w.Write(b[:n])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// status answers with a status and nothing else.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// impatient are options whose attempts follow each other at once.
func impatient() Options {
	return Options{Attempts: 3, Backoff: func(int) time.Duration { return 0 }}
}

// fetch downloads to a file in a new folder, and returns its path.
func fetch(t *testing.T, s *server, o Options) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.zip")
	return path, File(t.Context(), s.URL, path, o)
}

// mustHold says that the file at path is whole, and that nothing lies beside it.
func mustHold(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the file has %d bytes that differ from the %d that were served", len(got), len(want))
	}
	mustBeAlone(t, path)
}

func mustBeAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the folder holds %v, expected the file alone", entries)
	}
}

// mustFail wants an *Error that says all of the parts, and no file at path.
func mustFail(t *testing.T, err error, path string, parts ...string) {
	t.Helper()
	if !errors.As(err, new(*Error)) {
		t.Fatalf("error %v, expected an *Error", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error doesn't say %q:\n%v", part, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file where the download failed")
	}
}

// cancelAfter ends a context once n bytes are there.
func cancelAfter(ctx context.Context, n int64, o *Options) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	o.Progress = func(done, _ int64) {
		if done >= n {
			cancel()
		}
	}
	return ctx
}
