package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhole(t *testing.T) {
	for n, told := range map[int]string{0: "downloading 0 B", 1: "downloading 1 B", 3 * bufferSize: "downloading 786.4 kB"} {
		file := content(n)
		s := serve(t, whole(file, `"a"`))
		o := impatient()
		var notices []string
		o.Notice = func(text string) { notices = append(notices, text) }
		path, err := fetch(t, s, o)
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, path, file)
		if len(notices) != 1 || notices[0] != s.URL+": "+told {
			t.Errorf("notices %q, expected %q alone", notices, told)
		}
		if h := s.requests()[0]; h.Get("Range") != "" || h.Get("Accept-Encoding") != "identity" {
			t.Errorf("the first request has Range %q and Accept-Encoding %q", h.Get("Range"), h.Get("Accept-Encoding"))
		}
	}
}

func TestReplacesTheFileThatIsThere(t *testing.T) {
	file := content(100)
	path := filepath.Join(t.TempDir(), "archive.zip")
	if err := os.WriteFile(path, []byte("older"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := File(t.Context(), serve(t, whole(file, "")).URL, path, impatient()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
}

func TestFollowsRedirects(t *testing.T) {
	file := content(2000)
	target := serve(t, breaking(whole(file, `"a"`), 700), whole(file, `"a"`))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) })
	path, err := fetch(t, s, impatient())
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	if got := target.requests()[1].Get("Range"); got != "bytes=700-" {
		t.Errorf("after the redirection, Range is %q", got)
	}
}

func TestProgressTellsWhatIsThere(t *testing.T) {
	file := content(3 * bufferSize)
	var last, total int64
	o := impatient()
	o.Progress = func(done, of int64) {
		if done <= last {
			t.Errorf("%d bytes after %d", done, last)
		}
		last, total = done, of
	}
	if _, err := fetch(t, serve(t, whole(file, `"a"`)), o); err != nil {
		t.Fatal(err)
	}
	if last != int64(len(file)) || total != last {
		t.Errorf("the last that was told is %d of %d, expected %d of as many", last, total, len(file))
	}
}

func TestALengthThatIsNotTold(t *testing.T) {
	file := content(bufferSize + 1)
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // so that no length is known
		_, _ = w.Write(file)
	}
	o := impatient()
	o.Progress = func(_, total int64) {
		if total != -1 {
			t.Errorf("the total is %d, expected -1", total)
		}
	}
	s := serve(t, breaking(chunked, 900), chunked)
	path, err := fetch(t, s, o)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	if n := len(s.requests()); n != 2 {
		t.Errorf("%d requests, expected a second after the break", n)
	}
}

func TestStatus(t *testing.T) {
	file := content(1000)
	for _, c := range []struct {
		code, requests int // until it is given up
		text           string
	}{
		{http.StatusNotFound, 1, "404 Not Found"},
		{http.StatusForbidden, 1, "403 Forbidden"},
		{http.StatusNoContent, 1, "204 No Content"},
		{http.StatusInternalServerError, 3, "500 Internal Server Error"},
		{http.StatusTooManyRequests, 3, "429 Too Many Requests"},
	} {
		s := serve(t, status(c.code))
		path, err := fetch(t, s, impatient())
		mustFail(t, err, path, s.URL, "expected status 200", c.text)
		if n := len(s.requests()); n != c.requests {
			t.Errorf("%d: %d requests, expected %d", c.code, n, c.requests)
		}
	}
	path, err := fetch(t, serve(t, status(500), status(503), whole(file, `"a"`)), impatient())
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
}

func TestAStalledServerIsLeft(t *testing.T) {
	file := content(5000)
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	o := impatient()
	o.Stall = 50 * time.Millisecond
	s := serve(t, silent, pausing(file, 2000), whole(file, `"a"`))
	path, err := fetch(t, s, o)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	if got := s.requests()[2].Get("Range"); got != "bytes=2000-" {
		t.Errorf("Range is %q after the stall", got)
	}
	s = serve(t, silent)
	path, err = fetch(t, s, o)
	mustFail(t, err, path, "expected a byte within 50ms, found none", "after 3 attempts")
}

func TestASlowServerIsNotStalled(t *testing.T) {
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
	path, err := fetch(t, serve(t, slow), o)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
}

func TestCancelledLeavesThePartToGoOnFrom(t *testing.T) {
	file := content(5000)
	s := serve(t, pausing(file, 2000), whole(file, `"a"`))
	path := filepath.Join(t.TempDir(), "archive.zip")
	o := impatient()
	err := File(cancelAfter(t.Context(), 2000, &o), s.URL, path, o)
	mustFail(t, err, path, s.URL, "2.0 kB are kept in "+path+".part", "the same command goes on")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected it to be context.Canceled", err)
	}
	o = impatient()
	var notices []string
	o.Notice = func(text string) { notices = append(notices, text) }
	if err := File(t.Context(), s.URL, path, o); err != nil {
		t.Fatal(err)
	}
	mustHold(t, path, file)
	if got := s.requests()[1].Get("Range"); got != "bytes=2000-" {
		t.Errorf("the second call has Range %q", got)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "going on after the") {
		t.Errorf("notices %q, expected that it goes on", notices)
	}
}

func TestCancelledWhileItWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Backoff: func(int) time.Duration { cancel(); return time.Hour }}
	path := filepath.Join(t.TempDir(), "archive.zip")
	s := serve(t, status(500))
	err := File(ctx, s.URL, path, o)
	mustFail(t, err, path, s.URL)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected it to be context.Canceled", err)
	}
}

func TestNoServer(t *testing.T) {
	s := serve(t, status(200))
	s.Close()
	path, err := fetch(t, s, impatient())
	mustFail(t, err, path, s.URL, "connection refused", "after 3 attempts")
	if strings.Count(err.Error(), s.URL) != 1 {
		t.Errorf("the address is not told once: %v", err)
	}
}

func TestACertificateOfNobodyIsFinal(t *testing.T) {
	s := httptest.NewUnstartedServer(status(200))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	path := filepath.Join(t.TempDir(), "archive.zip")
	o := impatient()
	o.Notice = func(text string) { t.Errorf("tried again: %s", text) }
	mustFail(t, File(t.Context(), s.URL, path, o), path, "certificate")
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "xlsa17.zip", "ftp://example.org/a", "https://", "http://[", "file:///etc/passwd"} {
		if err := File(t.Context(), address, filepath.Join(t.TempDir(), "a"), Options{}); err == nil {
			t.Errorf("%q: no error", address)
		}
	}
}

func TestPasswordsAreNotTold(t *testing.T) {
	s := serve(t, status(http.StatusUnauthorized))
	path := filepath.Join(t.TempDir(), "archive.zip")
	err := File(t.Context(), strings.Replace(s.URL, "://", "://me:secret@", 1), path, impatient())
	if mustFail(t, err, path, "401"); strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells a password: %v", err)
	}
}

func TestFilesThatAreTooLarge(t *testing.T) {
	file := content(5000)
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(file); err != nil {
				return
			}
		}
	}
	for name, h := range map[string]http.HandlerFunc{"declared": whole(file, `"a"`), "endless": endless} {
		o := impatient()
		o.MaxBytes = 4999
		s := serve(t, h)
		path, err := fetch(t, s, o)
		mustFail(t, err, path, "at most 4999 bytes")
		if strings.Contains(err.Error(), "kept") || len(s.requests()) != 1 {
			t.Errorf("%s: after %d requests, expected 1, and that nothing is kept: %v", name, len(s.requests()), err)
		}
	}
}

func TestBackoffGrowsToABound(t *testing.T) {
	var waits []string
	for i := 1; i <= 7; i++ {
		waits = append(waits, backoff(i).String())
	}
	if got, want := fmt.Sprint(waits), "[1s 2s 4s 8s 16s 30s 30s]"; got != want {
		t.Errorf("waits %s, expected %s", got, want)
	}
	if backoff(1000) != longestBackoff {
		t.Errorf("after a thousand failures it waits %v", backoff(1000))
	}
}
