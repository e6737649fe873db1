package download

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestGoesOnAfterABreak(t *testing.T) {
	file := content(100_000)
	modified := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1.5e9, 0), strings.NewReader(string(file)))
	}
	for name, c := range map[string]struct {
		h         http.HandlerFunc
		validator string
	}{
		"ETag":          {whole(file, `"a"`), `"a"`},
		"Last-Modified": {modified, "Fri, 14 Jul 2017 02:40:00 GMT"},
	} {
		h := c.h
		s := serve(t, breaking(h, 30_000), breaking(h, 20_000), h)
		path, err := fetch(t, s, impatient())
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, path, file)
		if got := s.bytesSent(); got != int64(len(file)) {
			t.Errorf("%s: %d bytes were sent of a file of %d", name, got, len(file))
		}
		for i, want := range []string{"", "bytes=30000-", "bytes=50000-"} {
			if got := s.requests()[i].Get("Range"); got != want {
				t.Errorf("%s: request %d has Range %q, expected %q", name, i, got, want)
			}
			if got := s.requests()[i].Get("If-Range"); i > 0 && got != c.validator {
				t.Errorf("%s: request %d has If-Range %q, expected %q", name, i, got, c.validator)
			}
		}
	}
}

// A server that breaks more often than is forgiven, but gains each time.
func TestAdvancingIsNoFailure(t *testing.T) {
	file := content(5 * worthwhile)
	s := serve(t, breaking(whole(file, `"a"`), worthwhile))
	path, err := fetch(t, s, Options{Attempts: 2, Backoff: func(int) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	s = serve(t, breaking(whole(file, `"a"`), worthwhile/2-1))
	path, err = fetch(t, s, Options{Attempts: 2, Backoff: func(int) time.Duration { return 0 }})
	mustFail(t, err, path, "after 2 attempts", "1.0 MB are kept in")
}

func TestAChangedFileIsReadFromTheBeginning(t *testing.T) {
	older, newer := content(5000), content(7000)[1000:]
	// The second ignores If-Range, and sends a part of another file.
	sloppy := func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Range")
		whole(newer, `"b"`)(w, r)
	}
	for name, h := range map[string]http.HandlerFunc{"proper": whole(newer, `"b"`), "sloppy": sloppy} {
		var notices strings.Builder
		o := impatient()
		o.Notice = func(text string) { notices.WriteString(text) }
		path, err := fetch(t, serve(t, breaking(whole(older, `"a"`), 3000), h), o)
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, path, newer)
		if !strings.Contains(notices.String(), "starting anew") {
			t.Errorf("%s: notices %q, expected that it starts anew", name, notices.String())
		}
	}
}

func TestWithoutARangeItIsReadFromTheBeginning(t *testing.T) {
	file := content(5000)
	plain := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Length", "5000")
		_, _ = w.Write(file)
	}
	s := serve(t, breaking(plain, 3000), plain)
	path, err := fetch(t, s, impatient())
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	if got := s.bytesSent(); got != 8000 {
		t.Errorf("%d bytes were sent, expected 3000 and then 5000", got)
	}
}

// What has no strong validator may be another file by now.
func TestWithoutAValidatorNoRangeIsAskedFor(t *testing.T) {
	file := content(5000)
	for _, tag := range []string{"", `W/"a"`} {
		s := serve(t, breaking(whole(file, tag), 3000), whole(file, tag))
		path, err := fetch(t, s, impatient())
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, path, file)
		if got := s.requests()[1].Get("Range"); got != "" {
			t.Errorf("with ETag %q, Range is %q", tag, got)
		}
	}
	path, err := fetch(t, serve(t, breaking(whole(file, ""), 3000)), impatient())
	if mustFail(t, err, path, "5000 bytes", "3000"); strings.Contains(err.Error(), "goes on from there") {
		t.Errorf("the error promises to go on: %v", err)
	}
}

func TestShortBodiesAreFound(t *testing.T) {
	file := content(5000)
	path, err := fetch(t, serve(t, breaking(whole(file, `"a"`), 0)), impatient())
	mustFail(t, err, path, "expected 5000 bytes, found an end after 0")
	// By less than a length: a part that ends before the file does, again and again.
	little := func(w http.ResponseWriter, r *http.Request) {
		var first int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/5000", first, first+9))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(file[first : first+10])
	}
	path, err = fetch(t, serve(t, breaking(whole(file, `"a"`), 3000), little), impatient())
	mustFail(t, err, path, "expected 5000 bytes, found an end after 3020")
}

// Nothing but the range says how long the rest is, and the body is not that long.
func TestAShortRestOfAFileOfUnknownLength(t *testing.T) {
	file := content(5000)
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.(http.Flusher).Flush()
		_, _ = w.Write(file)
	}
	short := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Range", "bytes 3000-4999/*")
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		_, _ = w.Write(file[3000:3500])
	}
	s := serve(t, breaking(chunked, 3000), short, whole(file, `"a"`))
	path, err := fetch(t, s, impatient())
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	if got := s.requests()[2].Get("Range"); got != "bytes=3500-" {
		t.Errorf("after the short rest, Range is %q", got)
	}
}

// lying answers a request for the rest with another Content-Range, and a body.
func lying(contentRange, length string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"a"`)
		w.Header().Set("Content-Range", contentRange)
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(body)
	}
}

func TestRangesThatLieAreNotTaken(t *testing.T) {
	file := content(5000)
	long := make([]byte, 4000) // more than the 2000 that are missing
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
	}{
		{"another beginning", lying("bytes 0-4999/5000", "", file)},
		{"another total", lying("bytes 3000-5999/6000", "", long[:3000])},
		{"no range", lying("", "", file[3000:])},
		{"not of bytes", lying("lines 3000-4999/5000", "", file[3000:])},
		{"an end before the beginning", lying("bytes 3000-2999/5000", "", nil)},
		{"a length that contradicts", lying("bytes 3000-4999/5000", "1000", file[3000:4000])},
		{"a body that is longer", lying("bytes 3000-4999/5000", "", long)},
		{"a part of something else", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Etag", `"b"`)
			lying("bytes 3000-4999/5000", "", long[:2000])(etagB{w}, r)
		}},
		{"refused", status(http.StatusRequestedRangeNotSatisfiable)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, breaking(whole(file, `"a"`), 3000), c.h, whole(file, `"a"`))
			path, err := fetch(t, s, impatient())
			if err != nil {
				t.Fatal(err)
			}
			mustHold(t, path, file)
			if got := s.requests()[2].Get("Range"); got != "" {
				t.Errorf("Range %q after a range that was wrong", got)
			}
		})
	}
}

// etagB is a response under another ETag than the one that is set.
type etagB struct{ http.ResponseWriter }

func (e etagB) WriteHeader(code int) {
	e.Header().Set("Etag", `"b"`)
	e.ResponseWriter.WriteHeader(code)
}

func TestARangeThatNobodyAskedFor(t *testing.T) {
	path, err := fetch(t, serve(t, lying("bytes 0-9/10", "", content(10))), impatient())
	mustFail(t, err, path, "expected the whole file, found 206 Partial Content")
}

func TestACompressedCopyIsNotTheFile(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "not the file")
	})
	path, err := fetch(t, s, impatient())
	mustFail(t, err, path, "Content-Encoding gzip")
}

// leave puts a part and its state beside path.
func leave(t *testing.T, path string, part []byte, state string) {
	t.Helper()
	for name, b := range map[string][]byte{path + ".part": part, path + ".part.json": []byte(state)} {
		if b == nil {
			continue
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsLeftOfAnEarlierProcess(t *testing.T) {
	file := content(5000)
	for _, c := range []struct {
		name   string
		part   []byte
		state  string // URL stands for the server's
		ranges string // of the requests, "none" where there is none
	}{
		{"a part", file[:3000], `{"url":"URL","validator":"\"a\"","total":5000}`, "bytes=3000-"},
		{"of a length that is unknown", file[:3000], `{"url":"URL","validator":"\"a\"","total":-1}`, "bytes=3000-"},
		{"all of it", file, `{"url":"URL","validator":"\"a\"","total":5000}`, "none"},
		{"more than all", append(file[:len(file):len(file)], 1), `{"url":"URL","validator":"\"a\"","total":5000}`, ""},
		{"of another address", []byte("other"), `{"url":"URL/other","validator":"\"a\"","total":5000}`, ""},
		{"without a validator", []byte("other"), `{"url":"URL","validator":"","total":5000}`, ""},
		{"all of it, without a validator", make([]byte, 5000), `{"url":"URL","validator":"","total":5000}`, ""},
		{"without a state", []byte("other"), "", ""},
		{"with half a state", []byte("other"), `{"url":"UR`, ""},
		{"of another file", []byte("other"), `{"url":"URL","validator":"\"b\"","total":6000}`, "bytes=5-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, whole(file, `"a"`))
			path := filepath.Join(t.TempDir(), "archive.zip")
			var state string
			if c.state != "" {
				state = strings.Replace(c.state, "URL", s.URL, 1)
			}
			leave(t, path, c.part, state)
			if err := File(t.Context(), s.URL, path, impatient()); err != nil {
				t.Fatal(err)
			}
			mustHold(t, path, file)
			got := "none"
			if asked := s.requests(); len(asked) > 0 {
				got = asked[0].Get("Range")
			}
			if got != c.ranges {
				t.Errorf("Range %q, expected %q", got, c.ranges)
			}
		})
	}
}

func TestParseContentRange(t *testing.T) {
	for text, want := range map[string]contentRange{
		"bytes 0-0/1":       {0, 0, 1},
		"bytes 100-199/200": {100, 199, 200},
		"bytes 100-199/*":   {100, 199, -1},
	} {
		if got, ok := parseContentRange(text); !ok || got != want {
			t.Errorf("%q is %v, %v, expected %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "bytes", "bytes */200", "bytes 100-199", "bytes 199-100/200", "bytes 100-200/200", "bytes -1-5/10",
		"bytes 1-5/-10", "bytes a-b/c", "bytes 0x1-0x5/10", "bytes 0-99999999999999999999/*",
	} {
		if got, ok := parseContentRange(text); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
