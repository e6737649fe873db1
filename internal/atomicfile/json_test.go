package atomicfile

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.json")
	if err := WriteJSON(path, map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"a\": 1\n}\n"
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("wrote %q, %v, expected %q", got, err, want)
	}
	// What JSON can't hold leaves the file that was there.
	if err := WriteJSON(path, math.NaN()); err == nil {
		t.Error("NaN was written")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("after an error there is %q, %v", got, err)
	}
}
