//go:build unix

package input_test

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

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := input.ReadFile(t.Context(), path, 4); err != nil || string(text) != "four" {
		t.Errorf("read %q: %v", text, err)
	}
	for _, c := range []struct {
		path, want string
		limit      int64
	}{
		{path, "expected at most 3 B, found more", 3},
		{"/dev/zero", "expected at most 1.0 MB, found more", 1e6},
		{filepath.Dir(path), "is a directory", 10},
		{path + "s", "no such file", 10},
	} {
		_, err := input.ReadFile(t.Context(), c.path, c.limit)
		var e *invalid.Error
		if !errors.As(err, &e) || e.Where != c.path || !strings.Contains(err.Error(), c.want) || strings.Count(err.Error(), c.path) != 1 {
			t.Errorf("error %v, expected %s and the path once", err, c.want)
		}
	}
}

func TestOpenRegular(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, size, err := input.OpenRegular(t.Context(), path)
	if err != nil || size != 4 || !f.Regular() {
		t.Fatalf("size %d: %v", size, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{pipe(t), "/dev/zero", t.TempDir()} {
		if _, _, err := input.OpenRegular(t.Context(), path); err == nil || !strings.Contains(err.Error(), "expected a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestReadThroughPipe(t *testing.T) {
	path := pipe(t)
	go func() { _ = os.WriteFile(path, []byte(strings.Repeat("x", 1<<18)), 0) }()
	text, err := input.ReadFile(t.Context(), path, 1<<20)
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
		if _, err := input.Open(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("opening gives %v", err)
		}
		w, err := os.OpenFile(path, os.O_RDWR, 0) // releases the abandoned goroutine
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
	})
	t.Run("read", func(t *testing.T) {
		path := pipe(t)
		w, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		f, err := input.Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("reading gives %v", err)
		}
	})
}

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseObject(t *testing.T) {
	got, err := input.ParseObject([]byte(" {\"b\": [1, 2],\n\"a\": \"x\"}\n"))
	want := []input.Member{{Key: "b", Value: []byte("[1, 2]")}, {Key: "a", Value: []byte(`"x"`)}}
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
		if _, err := input.ParseObject([]byte(text)); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
