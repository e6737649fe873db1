//go:build unix

package openlayout

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
)

// No file of a folder may be a pipe, which would be waited for.
func TestLoadRefusesPipes(t *testing.T) {
	for _, name := range []string{featuresCSV, labelsFile, ClassesFile, AttributesFile, SplitsFile, imagesFile, ExtractFile} {
		dir := newSmall().write(t, t.TempDir())
		pipe := filepath.Join(dir, name)
		_ = os.Remove(pipe) // images.csv and extract.json are optional
		testkit.NoError(t, syscall.Mkfifo(pipe, 0o600))
		_, err := Load(t.Context(), dir, Options{})
		wantErrors(t, err, name+": expected a regular file, found a pipe or device")
	}
}

// A pipe in the place of what describing reads and writes is refused, too, and a link to a file that is not there:
// it would be replaced.
func TestDescribingRefusesPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".lock", descriptions.EmptyFile, labelsFile} {
		testkit.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
	}
	_, locked := descriptions.Lock(dir)
	_, read := ReadDescriptions(t.Context(), dir)
	for name, err := range map[string]error{
		".lock": locked, descriptions.EmptyFile: descriptions.KeepUnknown(dir), labelsFile: read,
	} {
		testkit.WantError(t, err, name+": expected a regular file, found a pipe or device")
	}
	dir = t.TempDir()
	testkit.NoError(t, os.Symlink("gone", filepath.Join(dir, ClassesFile)))
	_, read = ReadDescriptions(t.Context(), dir)
	testkit.WantError(t, read, ClassesFile+": expected a file, found a link to gone, which is not there")
}
