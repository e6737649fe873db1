package durable

import (
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

// Rename moves a file or folder to another name in the same file system, and
// returns when that is on disk.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := atomicfile.SyncFolder(filepath.Dir(to)); err != nil {
		return err
	}
	if filepath.Dir(from) == filepath.Dir(to) {
		return nil
	}
	return atomicfile.SyncFolder(filepath.Dir(from))
}
