package fetch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/testkit"
)

// server records what it was asked, as "PATH RANGE".
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// serve answers the first request by the first handler, and so on, the last handler
// answering all that follow.
func serve(t testing.TB, handlers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") != "" && r.Header.Get("If-Range") == "" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("headers %v, expected Range only with If-Range, and no compression", r.Header)
		}
		s.mu.Lock()
		h := handlers[min(len(s.asked), len(handlers)-1)]
		s.asked = append(s.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns what was asked.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// content returns a file of n bytes in which no part is like another.
func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

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
	return func(w http.ResponseWriter, r *http.Request) { h(&cutting{w, n}, r) }
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
	c.Flush()
	panic(http.ErrAbortHandler)
}

func (c *cutting) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

func broken(w http.ResponseWriter, _ *http.Request) {
	connection, buffer, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = buffer.WriteString("HTTP/1.1 200 OK\r\n\x1b[31m\r\n\r\n")
		_ = buffer.Flush()
		_ = connection.Close()
	}
}

func stalled(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// answer sends a status, headers and a body as they are, without the length of the body.
func answer(code int, body []byte, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		w.(http.Flusher).Flush()
		_, _ = w.Write(body)
	}
}

func TestDownload(t *testing.T) {
	file, newer := content(5000), content(7000)[1000:]
	good, untagged, chunked := whole(file, `"a"`), whole(file, ""), answer(200, file, "Etag", `"a"`)
	modified := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1.5e9, 0), bytes.NewReader(file))
	}
	// A part that ends before the file does, again and again.
	little := func(w http.ResponseWriter, r *http.Request) {
		var first int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
		answer(206, file[first:first+10], "Etag", `"a"`, "Content-Range", fmt.Sprintf("bytes %d-%d/5000", first, first+9))(w, r)
	}
	rest := func(headers ...string) http.HandlerFunc { return answer(206, newer[3000:], headers...) }
	type handlers = []http.HandlerFunc
	for _, c := range []struct {
		name            string
		part, validator string // of an earlier process
		handlers        handlers
		requests        string
		err             string
	}{
		{"whole", "", "", handlers{good}, "/", ""},
		{"resumed by ETag", "", "", handlers{breaking(good, 1000), breaking(good, 500), good}, "/, / bytes=1000-, / bytes=1500-", ""},
		{"resumed by Last-Modified", "", "", handlers{breaking(modified, 1000), modified}, "/, / bytes=1000-", ""},
		{"changed", "", "", handlers{breaking(whole(newer, `"b"`), 3000), good}, "/, / bytes=3000-", ""},
		{"no validator", "", "", handlers{breaking(untagged, 3000), untagged}, "/, /", ""},
		{"unknown length", "", "", handlers{breaking(chunked, 900), chunked}, "/, / bytes=900-", ""},
		{"stalled", "", "", handlers{stalled, good}, "/, /", ""},
		{
			"body that is longer", "", "",
			handlers{breaking(good, 3000), answer(206, make([]byte, 4000), "Content-Range", "bytes 3000-4999/5000"), good},
			"/, / bytes=3000-, /", "",
		},
		{"ETag that changed", "", "", handlers{breaking(good, 3000), rest("Etag", `"b"`, "Content-Range", "bytes 3000-4999/5000"), good}, "/, / bytes=3000-, /", ""},
		{"size that changed", string(file[:3000]), "\"a\"\n5000", handlers{rest("Content-Range", "bytes 3000-5999/6000"), good}, "/ bytes=3000-, /", ""},
		{"no validator of a part", "", "", handlers{breaking(good, 3000), rest("Content-Range", "bytes 3000-4999/5000"), good}, "/, / bytes=3000-, /", ""},
		{"another range", "", "", handlers{breaking(good, 3000), answer(206, file, "Content-Range", "bytes 0-4999/5000"), good}, "/, / bytes=3000-, /", ""},
		{"range refused", "", "", handlers{breaking(good, 3000), answer(416, nil), good}, "/, / bytes=3000-, /", ""},

		{"part of an earlier process", string(file[:3000]), `"a"`, handlers{good}, "/ bytes=3000-", ""},
		{"of another file", "other", `"b"`, handlers{good}, "/ bytes=5-", ""},

		{"always a part", string(file[:3000]), `"a"`, handlers{rest("Etag", `"b"`)}, "/ bytes=3000-, /", "expected status 200 OK, found 206 Partial Content"},
		{"bytes that a terminal obeys", "", "", handlers{broken}, "/, /, /", "expected a response, found net/http: HTTP/1.x transport connection broken: malformed MIME header: missing colon: \"\\x1b[31m\""},
		{"404", "", "", handlers{answer(404, nil)}, "/", "expected status 200 OK, found 404 Not Found"},
		{"500", "", "", handlers{answer(500, nil)}, "/, /, /", "found 500 Internal Server Error, after 3 attempts"},
		{"stalled each time", "", "", handlers{stalled}, "/, /, /", "expected a byte within 100ms, found none, after 3 attempts"},
		{"cut without a validator", "", "", handlers{breaking(untagged, 3000)}, "/, /, /", "found an end after 3000"},
		{"small steps", "", "", handlers{breaking(good, 3000), little}, "/, / bytes=3000-, / bytes=3010-", "found an end after 3020"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.handlers...)
			dir := t.TempDir()
			if c.part != "" {
				testkit.Write(t, dir, "archive.zip.part", c.part)
				testkit.Write(t, dir, "archive.zip.part.validator", c.validator)
			}
			f := &fetcher{Options: Options{Attempts: 3, DownloadDir: "unused", pause: 1}}
			if strings.HasPrefix(c.name, "stalled") {
				f.Stall = 100 * time.Millisecond
			}
			testkit.NoError(t, f.setDefaults())
			err := f.download(t.Context(), "", testkit.Must(url.Parse(s.URL))(t), filepath.Join(dir, "archive.zip"))
			testkit.Equal(t, "requests", strings.Join(s.requests(), ", "), c.requests)
			if c.err != "" {
				testkit.WantError(t, err, s.URL, c.err)
				testkit.Equal(t, "part that is left", len(in(t, dir)) == 2, c.name == "small steps")
				return
			}
			testkit.NoError(t, err)
			if testkit.Read(t, filepath.Join(dir, "archive.zip")) != string(file) {
				t.Error("the file is not the one that was served")
			}
			wantIn(t, dir, "archive.zip")
		})
	}
}

// An error of the disk ends the download at once.
func TestDiskError(t *testing.T) {
	s := serve(t, whole(content(5000), `"a"`))
	dir := t.TempDir()
	path := testkit.Write(t, dir, "x.part", "some")
	testkit.Write(t, dir, "x.part.validator", `"a"`)
	part := testkit.Must(os.Open(path))(t) // not for writing
	defer func() { testkit.NoError(t, part.Close()) }()
	f := &fetcher{Options: Options{DownloadDir: "unused", pause: 1}}
	testkit.NoError(t, f.setDefaults())
	d := &download{fetcher: f, from: testkit.Must(url.Parse(s.URL))(t), part: part}
	testkit.WantError(t, d.run(t.Context()), path)
	testkit.Equal(t, "requests", len(s.requests()), 1)
}
