//go:build linux || darwin

package fileio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestMove(t *testing.T) {
	dir := t.TempDir()
	x := make([]float32, 1<<22+5) // 16 MB, no multiple of a page
	for i := range x {
		x[i] = float32(i)
	}
	moved := testkit.Must(Move(dir, x))(t)
	want := slices.Clone(x)
	clear(x)
	if !slices.Equal(moved, want) {
		t.Error("other values after Move")
	}
	before := fileKB(t)
	Drop(moved)
	if freed := before - fileKB(t); before > 0 && freed < 15<<10 {
		t.Errorf("%d kB are freed, expected 16 MB", freed)
	}
	if !slices.Equal(moved, want) {
		t.Error("other values after Drop")
	}
	if again := testkit.Must(Move(dir, moved))(t); &again[0] != &moved[0] {
		t.Error("moved twice")
	}
	Drop(want)
	if want[4999] != 4999 {
		t.Error("Drop changes an array that was not moved")
	}
	if left := testkit.Must(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("left in the folder: %v", left)
	}
	missing := filepath.Join(dir, "missing")
	_, err := Move(missing, []float32{1})
	testkit.WantError(t, err, missing+": no such file")
}

// fileKB returns the memory of this process that maps files, 0 where it is not known.
func fileKB(t *testing.T) (kB int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(status, []byte("RssFile:"))
	testkit.Must(fmt.Sscan(string(line), &kB))(t)
	return kB
}
