package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// pausing sends n bytes of a file under the ETag "a" and waits until the client is gone.
func pausing(b []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		_, _ = w.Write(b[:n])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

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

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/moved", http.StatusFound)
}

// get downloads what a server has to a new file, or to resume one that begins with part.
func get(ctx context.Context, t *testing.T, s *server, o Options, part, state string) (path string, err error) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "archive.zip")
	if part != "" {
		testkit.Write(t, dir, "archive.zip.part", part)
		testkit.Write(t, dir, "archive.zip.part.json", state)
	}
	o.Attempts, o.pause, o.DownloadDir = 3, max(o.pause, 1), "unused"
	if o.Stall == 0 {
		o.Stall = 5 * time.Second
	}
	f := &fetcher{Options: o}
	testkit.NoError(t, f.setDefaults())
	return path, f.download(ctx, "", s.URL, path)
}

// wantFile fails unless a file is complete and alone in its folder.
func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	if got := testkit.Read(t, path); got != string(want) {
		t.Errorf("the file has %d bytes that differ from the %d that were served", len(got), len(want))
	}
	if diff := cmp.Diff([]string{filepath.Base(path)}, in(t, filepath.Dir(path))); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestDownload(t *testing.T) {
	file, newer := content(5000), content(7000)[1000:]
	good := whole(file, `"a"`)
	modified := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1.5e9, 0), bytes.NewReader(file))
	}
	ignoresIfRange := func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Range")
		whole(newer, `"b"`)(w, r)
	}
	chunked := answer(200, file, "Etag", `"a"`)
	const rest, from3000 = "Content-Range", "bytes 3000-4999/5000"
	after := func(lie http.HandlerFunc) []http.HandlerFunc {
		return []http.HandlerFunc{breaking(good, 3000), lie, good}
	}
	again := []string{"", "bytes=3000-", ""}
	for _, c := range []struct {
		name     string
		handlers []http.HandlerFunc
		ranges   []string // of the requests
		want     []byte   // nil for file
	}{
		{"whole", []http.HandlerFunc{good}, []string{""}, nil},
		{"resumed by ETag", []http.HandlerFunc{breaking(good, 1000), breaking(good, 500), good}, []string{"", "bytes=1000-", "bytes=1500-"}, nil},
		{"resumed by Last-Modified", []http.HandlerFunc{breaking(modified, 1000), modified}, []string{"", "bytes=1000-"}, nil},
		{"redirected", []http.HandlerFunc{redirect, breaking(good, 700), redirect, good}, []string{"", "", "bytes=700-", "bytes=700-"}, nil},
		{"changed", []http.HandlerFunc{breaking(good, 3000), whole(newer, `"b"`)}, []string{"", "bytes=3000-"}, newer},
		{"changed, and If-Range ignored", []http.HandlerFunc{breaking(good, 3000), ignoresIfRange}, again, newer},
		{"ranges ignored", []http.HandlerFunc{breaking(good, 3000), answer(200, file, "Etag", `"a"`)}, []string{"", "bytes=3000-"}, nil},
		{"no validator", []http.HandlerFunc{breaking(whole(file, ""), 3000), whole(file, "")}, []string{"", ""}, nil},
		{"unknown length", []http.HandlerFunc{breaking(chunked, 900), chunked}, []string{"", "bytes=900-"}, nil},
		{"unknown length, short rest", []http.HandlerFunc{breaking(chunked, 3000), answer(206, file[3000:3500], "Etag", `"a"`, rest, "bytes 3000-4999/*"), good}, []string{"", "bytes=3000-", ""}, nil},
		{"server errors", []http.HandlerFunc{answer(500, nil), answer(503, nil), good}, []string{"", "", ""}, nil},
		{"stalled", []http.HandlerFunc{silent, pausing(file, 2000), good}, []string{"", "", "bytes=2000-"}, nil},
		{"range from elsewhere", after(answer(206, file, rest, "bytes 0-4999/5000")), again, nil},
		{"range of another total", after(answer(206, newer[:3000], rest, "bytes 3000-5999/6000")), again, nil},
		{"no Content-Range", after(answer(206, file[3000:])), again, nil},
		{"range that ends early", after(answer(206, nil, rest, "bytes 3000-2999/5000")), again, nil},
		{"length that contradicts", after(answer(206, file[3000:4000], rest, from3000, "Content-Length", "1000")), again, nil},
		{"body that is longer", after(answer(206, make([]byte, 4000), rest, from3000)), again, nil},
		{"rest of another file", after(answer(206, newer[:2000], rest, from3000, "Etag", `"b"`)), again, nil},
		{"range refused", after(answer(416, nil)), again, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.handlers...)
			var o Options
			if c.name == "stalled" {
				o.Stall = 50 * time.Millisecond
			}
			var last Progress
			o.Progress = func(p Progress) { last = p }
			path, err := get(t.Context(), t, s, o, "", "")
			testkit.NoError(t, err)
			want := c.want
			if want == nil {
				want = file
			}
			wantFile(t, path, want)
			if last.Done != int64(len(want)) {
				t.Errorf("the last progress is %d bytes", last.Done)
			}
			var ranges []string
			for _, r := range s.requests() {
				_, bytes, _ := strings.Cut(r, " ")
				ranges = append(ranges, bytes)
			}
			if diff := cmp.Diff(c.ranges, ranges); diff != "" {
				t.Errorf("ranges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDownloadFailures(t *testing.T) {
	file := content(5000)
	// A part that ends before the file does, again and again.
	little := func(w http.ResponseWriter, r *http.Request) {
		var first int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
		answer(206, file[first:first+10], "Etag", `"a"`, "Content-Range", fmt.Sprintf("bytes %d-%d/5000", first, first+9))(w, r)
	}
	for _, c := range []struct {
		name     string
		handlers []http.HandlerFunc
		requests int
		parts    []string // of the error
		kept     bool
	}{
		{"404", []http.HandlerFunc{answer(404, nil)}, 1, []string{"expected status 200 OK, found 404 Not Found"}, false},
		{"500", []http.HandlerFunc{answer(500, nil)}, 3, []string{"found 500 Internal Server Error", "after 3 attempts"}, false},
		{"silent", []http.HandlerFunc{silent}, 3, []string{"expected a byte within 50ms, found none", "after 3 attempts"}, false},
		{"unrequested range", []http.HandlerFunc{answer(206, file[:10], "Content-Range", "bytes 0-9/10")}, 1, []string{"found 206"}, false},
		{"too large", []http.HandlerFunc{whole(content(6000), `"a"`)}, 1, []string{"expected at most 5500 bytes"}, false},
		{"endless", []http.HandlerFunc{answer(200, content(9000))}, 1, []string{"expected at most 5500 bytes"}, false},
		{"cut", []http.HandlerFunc{breaking(whole(file, `"a"`), 0)}, 3, []string{"expected 5000 bytes, found an end after 0"}, false},
		{"cut without a validator", []http.HandlerFunc{breaking(whole(file, ""), 3000)}, 3, []string{"found an end after 3000"}, false},
		{"small steps", []http.HandlerFunc{breaking(whole(file, `"a"`), 3000), little}, 3, []string{"found an end after 3020"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.handlers...)
			o := Options{maxBytes: 5500}
			if c.name == "silent" {
				o.Stall = 50 * time.Millisecond
			}
			path, err := get(t.Context(), t, s, o, "", "")
			testkit.WantError(t, err, append(c.parts, s.URL)...)
			if n := len(s.requests()); n != c.requests {
				t.Errorf("%d requests, expected %d", n, c.requests)
			}
			if kept := strings.Contains(fmt.Sprint(err), "are kept in "+path+".part"); kept != c.kept {
				t.Errorf("kept: %v, expected %v: %v", kept, c.kept, err)
			}
			if left := in(t, filepath.Dir(path)); !c.kept && len(left) != 0 {
				t.Errorf("the failure left %v", left)
			}
		})
	}
	unknown := httptest.NewUnstartedServer(answer(200, nil))
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	unknown.StartTLS()
	defer unknown.Close()
	o := Options{Notice: func(text string) { t.Errorf("tried again after an invalid certificate: %s", text) }}
	_, err := get(t.Context(), t, &server{Server: unknown}, o, "", "")
	testkit.WantError(t, err, "certificate")
	unknown.Close()
	_, err = get(t.Context(), t, &server{Server: unknown}, Options{}, "", "")
	testkit.WantError(t, err, unknown.URL+": expected a response", "connection refused", "after 3 attempts")
}

// A server that breaks more often than is forgiven, but advances each time, and one that is
// slow, but never stalls.
func TestAdvancingIsNoFailure(t *testing.T) {
	file := content(5 * worthwhile)
	path, err := get(t.Context(), t, serve(t, breaking(whole(file, `"a"`), worthwhile)), Options{}, "", "")
	testkit.NoError(t, err)
	wantFile(t, path, file)
	slow := func(w http.ResponseWriter, _ *http.Request) {
		for i := range 30 {
			_, _ = w.Write(file[i : i+1])
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}
	path, err = get(t.Context(), t, serve(t, slow), Options{Stall: 500 * time.Millisecond}, "", "") // of 600 in all
	testkit.NoError(t, err)
	wantFile(t, path, file[:30])
}

func TestInterruptedWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := get(ctx, t, serve(t, answer(500, nil)), Options{pause: time.Hour, Notice: func(string) { cancel() }}, "", "")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected it to wrap context.Canceled", err)
	}
}

func TestResumeFromEarlierProcess(t *testing.T) {
	file := content(5000)
	for _, c := range []struct {
		name, part, state string
		want              []string // requests
	}{
		{"a part", string(file[:3000]), `{"validator":"\"a\"","total":5000}`, []string{"/ bytes=3000-"}},
		{"of unknown length", string(file[:3000]), `{"validator":"\"a\"","total":-1}`, []string{"/ bytes=3000-"}},
		{"all of it", string(file), `{"validator":"\"a\"","total":5000}`, nil},
		{"more than all", string(file) + "x", `{"validator":"\"a\"","total":5000}`, []string{"/"}},
		{"of another file", "other", `{"validator":"\"b\"","total":6000}`, []string{"/ bytes=5-"}},
		{"without a validator", "other", `{"validator":"","total":5000}`, []string{"/"}},
		{"without a state", "other", "", []string{"/"}},
		{"with half a state", "other", `{"validator":"\"a`, []string{"/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, whole(file, `"a"`))
			path, err := get(t.Context(), t, s, Options{}, c.part, c.state)
			testkit.NoError(t, err)
			wantFile(t, path, file)
			if diff := cmp.Diff(c.want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
