// Package testkit has the helpers that tests of several packages share. Program code must not import it.
package testkit

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// TB is what the helpers need of a *testing.T, *testing.F or *rapid.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Near reports a number that differs from want by more than tol, relative to 1 + |want|.
func Near(t TB, what string, got, want, tol float64) {
	t.Helper()
	if !near(got, want, tol) {
		t.Errorf("%s: found %v, expected %v within %g", what, got, want, tol)
	}
}

// NearAll is Near for each element.
func NearAll[T, U float32 | float64](t TB, what string, got []T, want []U, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: found %d numbers, expected %d", what, len(got), len(want))
	}
	for i := range got {
		if !near(float64(got[i]), float64(want[i]), tol) {
			t.Fatalf("%s: element %d: found %v, expected %v within %g", what, i, got[i], want[i], tol)
		}
	}
}

func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*(1+math.Abs(want)) || math.IsNaN(got) && math.IsNaN(want)
}

// Equal reports the difference between two values of any type.
func Equal[T any](t TB, what string, got, want T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// NoError ends the test if there is an error.
func NoError(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// Must returns the value of a call that must not fail: Must(f())(t).
func Must[V any](v V, err error) func(t TB) V {
	return func(t TB) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// WantError reports an error that is nil or whose text lacks one of the parts.
func WantError(t TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, expected one with %q", parts)
		return
	}
	WantText(t, err.Error(), parts...)
}

// Fails is WantError for a call that returns a value, too: Fails(f())(t, parts...).
func Fails[V any](_ V, err error) func(t TB, parts ...string) {
	return func(t TB, parts ...string) {
		t.Helper()
		WantError(t, err, parts...)
	}
}

// WantText reports a text that lacks one of the parts.
func WantText(t TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("expected %q in\n%s", p, text)
		}
	}
}

// WantNoText reports a text that has one of the parts.
func WantNoText(t TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("expected no %q in\n%s", p, text)
		}
	}
}

// Allocated returns how many bytes f allocates, garbage among them.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Write writes a file, with its folders, below dir, and returns its path.
func Write(t TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// Read returns the content of a file.
func Read(t TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	NoError(t, err)
	return string(data)
}
