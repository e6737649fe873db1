//go:build shared

package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Shared returns a path below the shared folder, the one beside the project. The test fails where it does not
// exist: only make data-check and make chance-check run tests with it.
func Shared(t testing.TB, parts ...string) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	NoError(t, err)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(append([]string{filepath.Dir(dir), "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("expected the reference data and photographs in %s, found none", path)
	}
	return path
}
