package fetch

import (
	"os"
	"path/filepath"
	"testing"
)

// A replacement that fails between its two renames puts the older folder back.
func TestPlacePutsTheOlderFolderBack(t *testing.T) {
	f := sources[0].foldersIn(t.TempDir())
	mine := filepath.Join(f.target, "notes.txt")
	if err := os.Mkdir(f.target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.there = true
	if err := f.place(); err == nil { // there is no staged folder
		t.Error("no error")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the older folder is gone: %v", err)
	}
}
