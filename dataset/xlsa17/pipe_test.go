//go:build unix

package xlsa17

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in place of a cache or of features is not waited for, and not replaced.
func TestPipes(t *testing.T) {
	c := newCached(t, newSmall())
	c.load(t)
	path, _ := c.file(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wantSame(t, smallDataset(), c.load(t, msgNoFile))
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe was replaced: %v", err)
	}

	mat := filepath.Join(c.dir, featuresMat)
	if err := os.Remove(mat); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(mat, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(mat, os.O_RDWR, 0) // a writer that writes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	_, err = Load(t.Context(), c.dir, c.opts)
	wantError(t, err, featuresMat+": expected a regular file")
}
