//go:build unix

package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestRead(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "file", "four")
	for name, read := range map[string]func(path string) ([]byte, error){
		"ReadFile":    func(path string) ([]byte, error) { return ReadFile(t.Context(), path, 4) },
		"ReadRegular": ReadRegular,
		"OpenRegular": func(path string) ([]byte, error) {
			f, size, err := OpenRegular(t.Context(), path)
			if err != nil {
				return nil, err
			}
			defer func() { _ = f.Close() }()
			if size != 4 || !f.Regular() || f.Name() != path {
				t.Errorf("%d bytes of %s, regular: %v", size, f.Name(), f.Regular())
			}
			return io.ReadAll(f)
		},
	} {
		if text, err := read(path); err != nil || string(text) != "four" {
			t.Errorf("%s: read %q: %v", name, text, err)
		}
		refused := map[string]string{path + "s": "no such file", "/dev/zero": "expected a regular file", t.TempDir(): "expected a regular file", pipe(t): "expected a regular file"}
		if name == "ReadFile" {
			long := testkit.Write(t, t.TempDir(), "long", "five!")
			refused = map[string]string{
				path + "s": "no such file", long: "expected at most 4 B, found more", "/dev/zero": "expected at most 4 B, found more", t.TempDir(): "is a directory",
			}
		}
		for path, want := range refused {
			_, err := read(path)
			if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != path || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: error %v, expected the path once", name, err)
			}
			testkit.WantError(t, err, want)
		}
	}
}

func TestReadThroughPipe(t *testing.T) {
	path := pipe(t)
	go func() { _ = os.WriteFile(path, []byte(strings.Repeat("x", 1<<18)), 0) }()
	text, err := ReadFile(t.Context(), path, 1<<20)
	if err != nil || len(text) != 1<<18 {
		t.Errorf("read %d bytes: %v", len(text), err)
	}
}

// Neither opening a pipe nor reading from one outlasts the context.
func TestCancel(t *testing.T) {
	t.Run("open", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		path := pipe(t)
		if _, err := Open(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("opening gives %v", err)
		}
		w, err := os.OpenFile(path, os.O_RDWR, 0) // releases the abandoned goroutine
		testkit.NoError(t, err)
		_ = w.Close()
	})
	t.Run("read", func(t *testing.T) {
		path := pipe(t)
		w, err := os.OpenFile(path, os.O_RDWR, 0)
		testkit.NoError(t, err)
		defer func() { _ = w.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		f, err := Open(ctx, path)
		testkit.NoError(t, err)
		if _, err := io.ReadAll(f); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("reading gives %v", err)
		}
	})
}

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	testkit.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

func TestParseObject(t *testing.T) {
	got, err := ParseObject([]byte(" {\"b\": [1, 2],\n\"a\": \"x\"}\n"))
	want := []Member{{Key: "b", Value: []byte("[1, 2]")}, {Key: "a", Value: []byte(`"x"`)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"":                         "expected one JSON object, found nothing",
		"null":                     "expected one JSON object, found another JSON value",
		"{} {}":                    "expected one JSON object, found a syntax error in line 1",
		"{\"a\": 1,\n":             "expected one JSON object, found a syntax error in line 2",
		`{"a": 1, "b": 2, "a": 1}`: "a: expected each key once, found it twice",
	} {
		if _, err := ParseObject([]byte(text)); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
