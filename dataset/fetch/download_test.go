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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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

// answer sends a status, headers and a body as they are.
func answer(code int, body []byte, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write(body)
	}
}

// chunked sends a file without its length.
func chunked(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.(http.Flusher).Flush()
		_, _ = w.Write(b)
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/moved", http.StatusFound)
}

// get downloads an address to a new folder and returns the path.
func get(t *testing.T, address string, o Options) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.zip")
	return path, getTo(t.Context(), t, address, path, o)
}

func getTo(ctx context.Context, t *testing.T, address, path string, o Options) error {
	t.Helper()
	if err := o.setDefaults(); err != nil {
		t.Fatal(err)
	}
	f := &fetcher{Options: o}
	return f.download(ctx, address, path, f.meter(ctx, ""))
}

func impatient() Options {
	return Options{DownloadDir: "unused", Attempts: 3, Stall: 5 * time.Second, pause: 1}
}

// wantFile fails unless a file is complete and alone in its folder.
func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the file has %d bytes that differ from the %d that were served", len(got), len(want))
	}
	if diff := cmp.Diff([]string{filepath.Base(path)}, names(t, filepath.Dir(path))); diff != "" {
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
	shortRest := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Range", "bytes 3000-4999/*")
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		_, _ = w.Write(file[3000:3500])
	}
	longRest := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", "bytes 3000-4999/5000")
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		_, _ = w.Write(make([]byte, 4000))
	}
	const rest, from3000 = "Content-Range", "bytes 3000-4999/5000"
	type cases = []struct {
		name     string
		handlers []http.HandlerFunc
		ranges   []string // of the requests
		want     []byte   // nil for file
	}
	after := func(lie http.HandlerFunc) []http.HandlerFunc {
		return []http.HandlerFunc{breaking(good, 3000), lie, good}
	}
	again := []string{"", "bytes=3000-", ""}
	for _, c := range (cases{
		{"whole", []http.HandlerFunc{good}, []string{""}, nil},
		{"resumed by ETag", []http.HandlerFunc{breaking(good, 1000), breaking(good, 500), good}, []string{"", "bytes=1000-", "bytes=1500-"}, nil},
		{"resumed by Last-Modified", []http.HandlerFunc{breaking(modified, 1000), modified}, []string{"", "bytes=1000-"}, nil},
		{"redirected", []http.HandlerFunc{redirect, breaking(good, 700), redirect, good}, []string{"", "", "bytes=700-", "bytes=700-"}, nil},
		{"changed", []http.HandlerFunc{breaking(good, 3000), whole(newer, `"b"`)}, []string{"", "bytes=3000-"}, newer},
		{"changed, and If-Range ignored", []http.HandlerFunc{breaking(good, 3000), ignoresIfRange}, again, newer},
		{"ranges ignored", []http.HandlerFunc{breaking(good, 3000), answer(200, file, "Etag", `"a"`)}, []string{"", "bytes=3000-"}, nil},
		{"no validator", []http.HandlerFunc{breaking(whole(file, ""), 3000), whole(file, "")}, []string{"", ""}, nil},
		{"weak ETag", []http.HandlerFunc{breaking(whole(file, `W/"a"`), 3000), whole(file, `W/"a"`)}, []string{"", ""}, nil},
		{"unknown length", []http.HandlerFunc{breaking(chunked(file), 900), chunked(file)}, []string{"", "bytes=900-"}, nil},
		{"unknown length, short rest", []http.HandlerFunc{breaking(chunked(file), 3000), shortRest, good}, []string{"", "bytes=3000-", ""}, nil},
		{"server errors", []http.HandlerFunc{answer(500, nil), answer(503, nil), good}, []string{"", "", ""}, nil},
		{"stalled", []http.HandlerFunc{silent, pausing(file, 2000), good}, []string{"", "", "bytes=2000-"}, nil},
		{"range from elsewhere", after(answer(206, file, rest, "bytes 0-4999/5000")), again, nil},
		{"range of another total", after(answer(206, newer[:3000], rest, "bytes 3000-5999/6000")), again, nil},
		{"range beyond the total", after(answer(206, newer[:2001], rest, "bytes 3000-5000/5000")), again, nil},
		{"no Content-Range", after(answer(206, file[3000:])), again, nil},
		{"range of lines", after(answer(206, file[3000:], rest, "lines 3000-4999/5000")), again, nil},
		{"range of 20 digits", after(answer(206, file[3000:], rest, "bytes 3000-99999999999999999999/*")), again, nil},
		{"range that ends early", after(answer(206, nil, rest, "bytes 3000-2999/5000")), again, nil},
		{"length that contradicts", after(answer(206, file[3000:4000], rest, from3000, "Content-Length", "1000")), again, nil},
		{"body that is longer", after(longRest), again, nil},
		{"rest of another file", after(answer(206, newer[:2000], rest, from3000, "Etag", `"b"`)), again, nil},
		{"range refused", after(answer(416, nil)), again, nil},
	}) {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.handlers...)
			o := impatient()
			if c.name == "stalled" {
				o.Stall = 50 * time.Millisecond
			}
			var last Progress
			o.Progress = func(p Progress) { last = p }
			path, err := get(t, s.URL, o)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == nil {
				want = file
			}
			wantFile(t, path, want)
			if last.Done != int64(len(want)) {
				t.Errorf("the last progress is %d bytes", last.Done)
			}
			var ranges []string
			for _, r := range s.asked {
				ranges = append(ranges, r.Header.Get("Range"))
				if r.Header.Get("Range") != "" && r.Header.Get("If-Range") == "" || r.Header.Get("Accept-Encoding") != "identity" {
					t.Errorf("headers %v, expected Range only with If-Range, and no compression", r.Header)
				}
			}
			if diff := cmp.Diff(c.ranges, ranges); diff != "" {
				t.Errorf("ranges (-want +got):\n%s", diff)
			}
			if strings.HasPrefix(c.name, "resumed") && s.sent != len(file) {
				t.Errorf("%d bytes were sent of a file of %d", s.sent, len(file))
			}
		})
	}
}

func TestDownloadFailures(t *testing.T) {
	file := content(5000)
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(file); err != nil {
				return
			}
		}
	}
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
		{"403", []http.HandlerFunc{answer(403, nil)}, 1, []string{"found 403"}, false},
		{"204", []http.HandlerFunc{answer(204, nil)}, 1, []string{"found 204"}, false},
		{"500", []http.HandlerFunc{answer(500, nil)}, 3, []string{"found 500 Internal Server Error", "after 3 attempts"}, false},
		{"429", []http.HandlerFunc{answer(429, nil)}, 3, []string{"found 429"}, false},
		{"silent", []http.HandlerFunc{silent}, 3, []string{"expected a byte within 50ms, found none", "after 3 attempts"}, false},
		{"unrequested range", []http.HandlerFunc{answer(206, file[:10], "Content-Range", "bytes 0-9/10")}, 1, []string{"found 206"}, false},
		{"compressed", []http.HandlerFunc{answer(200, file, "Content-Encoding", "gzip")}, 1, []string{"expected the file itself", "gzip"}, false},
		{"too large", []http.HandlerFunc{whole(content(6000), `"a"`)}, 1, []string{"expected at most 5500 bytes"}, false},
		{"endless", []http.HandlerFunc{endless}, 1, []string{"expected at most 5500 bytes"}, false},
		{"cut", []http.HandlerFunc{breaking(whole(file, `"a"`), 0)}, 3, []string{"expected 5000 bytes, found an end after 0"}, false},
		{"cut without a validator", []http.HandlerFunc{breaking(whole(file, ""), 3000)}, 3, []string{"found an end after 3000"}, false},
		{"small steps", []http.HandlerFunc{breaking(whole(file, `"a"`), 3000), little}, 3, []string{"found an end after 3020"}, true},
		{"control characters", []http.HandlerFunc{answer(200, file, "Content-Encoding", "\x1b[31m"+strings.Repeat("x", 5000))}, 3, []string{"malformed MIME header"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.handlers...)
			o := impatient()
			o.maxBytes = 5500
			if c.name == "silent" {
				o.Stall = 50 * time.Millisecond
			}
			path, err := get(t, s.URL, o)
			wantError(t, err, append(c.parts, s.URL)...)
			if _, err := os.Stat(path); err == nil {
				t.Error("there is a file although the download failed")
			}
			if n := len(s.requests()); n != c.requests {
				t.Errorf("%d requests, expected %d", n, c.requests)
			}
			if kept := strings.Contains(err.Error(), "are kept in "+path+".part"); kept != c.kept {
				t.Errorf("kept: %v, expected %v: %v", kept, c.kept, err)
			}
			if left := names(t, filepath.Dir(path)); !c.kept && len(left) != 0 {
				t.Errorf("the failure left %v", left)
			}
			if len(err.Error()) > 500 || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("the error is long or has control characters: %q", err)
			}
		})
	}
	s := serve(t, answer(200, nil))
	s.Close()
	_, err := get(t, s.URL, impatient())
	wantError(t, err, s.URL, "connection refused", "after 3 attempts")
	if strings.Count(err.Error(), s.URL) != 1 {
		t.Errorf("the address is not printed once: %v", err)
	}
	unknown := httptest.NewUnstartedServer(answer(200, nil))
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	unknown.StartTLS()
	defer unknown.Close()
	o := impatient()
	o.Notice = func(text string) { t.Errorf("tried again after an invalid certificate: %s", text) }
	_, err = get(t, unknown.URL, o)
	wantError(t, err, "certificate")
}

func TestBadAddresses(t *testing.T) {
	for _, address := range []string{"ftp://example.org/a", "https://", "http://[", "file:///etc/passwd", "://"} {
		_, err := Fetch(t.Context(), "cub", Options{DataDir: t.TempDir(), MetaURL: address})
		wantError(t, err, "--meta-url: expected an http or https address")
	}
}

func TestSlowServerIsNotStalled(t *testing.T) {
	file := content(30)
	slow := func(w http.ResponseWriter, _ *http.Request) {
		for i := range file {
			_, _ = w.Write(file[i : i+1])
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}
	o := impatient()
	o.Attempts, o.Stall = 1, 500*time.Millisecond // of 600 in all
	path, err := get(t, serve(t, slow).URL, o)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, file)
}

// A server that breaks more often than is forgiven, but advances each time.
func TestAdvancingAttemptsAreNoFailures(t *testing.T) {
	file := content(3 * worthwhile)
	o := impatient()
	o.Attempts = 2
	path, err := get(t, serve(t, breaking(whole(file, `"a"`), worthwhile)).URL, o)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, file)
	_, err = get(t, serve(t, breaking(whole(file, `"a"`), worthwhile/2-1)).URL, o)
	wantError(t, err, "after 2 attempts", "1.0 MB are kept in")
}

func TestInterruptedWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := impatient()
	o.pause, o.Notice = time.Hour, func(string) { cancel() }
	err := getTo(ctx, t, serve(t, answer(500, nil)).URL, filepath.Join(t.TempDir(), "a"), o)
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
		{"with an endless state", "other", strings.Repeat(" ", 1<<20) + `{"validator":"\"a\"","total":5000}`, []string{"/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, whole(file, `"a"`))
			path := filepath.Join(t.TempDir(), "archive.zip")
			put(t, path+".part", c.part)
			if c.state != "" {
				put(t, path+".part.json", c.state)
			}
			if err := getTo(t.Context(), t, s.URL, path, impatient()); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, file)
			if diff := cmp.Diff(c.want, s.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
