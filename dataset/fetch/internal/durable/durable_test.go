package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

func TestRenameMovesWithinAndBetweenFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", filepath.Join("below", "c")}
	if err := os.WriteFile(filepath.Join(dir, names[0]), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, to := range names[1:] {
		if err := Rename(filepath.Join(dir, names[i]), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, names[i])); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", names[i], err)
		}
		if content, err := os.ReadFile(filepath.Join(dir, to)); err != nil || string(content) != "content" {
			t.Errorf("%s holds %q, %v", to, content, err)
		}
	}
}

func TestErrorsOfTheSystemAreReturned(t *testing.T) {
	dir := t.TempDir()
	if err := Rename(filepath.Join(dir, "absent"), filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rename of what is not there: %v", err)
	}
	if err := atomicfile.SyncFolder(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sync of what is not there: %v", err)
	}
}
