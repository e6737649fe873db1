package mapped_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/mapped"
)

func Example() {
	x := []float32{1, 2, 3}
	x, err := mapped.Move(os.TempDir(), x) // the array can be collected now
	mapped.Drop(x)
	fmt.Println(x, err)
	// Output: [1 2 3] <nil>
}

// needMapping skips a test where files are not mapped.
func needMapping(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files are not mapped here")
	}
}

func TestMove(t *testing.T) {
	needMapping(t)
	dir := t.TempDir()
	x := make([]float32, 5000) // no multiple of a page
	for i := range x {
		x[i] = float32(i)
	}
	moved, err := mapped.Move(dir, x)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(x)
	clear(x)
	mapped.Drop(moved)
	if !slices.Equal(moved, want) {
		t.Error("other values after Move and Drop")
	}
	if again, err := mapped.Move(dir, moved); err != nil || &again[0] != &moved[0] {
		t.Errorf("moved twice: %v", err)
	}
	mapped.Drop(want)
	if want[4999] != 4999 {
		t.Error("Drop changes an array that was not moved")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestMoveError(t *testing.T) {
	needMapping(t)
	dir := filepath.Join(t.TempDir(), "missing")
	_, err := mapped.Move(dir, []float32{1})
	if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != dir {
		t.Errorf("%v, expected an error about %s", err, dir)
	}
}

// Drop frees the memory of what was read.
func TestDropFreesMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	x, err := mapped.Move(t.TempDir(), make([]float32, 1<<22)) // 16 MB
	if err != nil {
		t.Fatal(err)
	}
	sum := float32(0)
	for _, v := range x {
		sum += v
	}
	before := fileKB(t)
	mapped.Drop(x)
	if freed := before - fileKB(t); freed < 15<<10 {
		t.Errorf("%d kB are freed, expected 16 MB (sum %v)", freed, sum)
	}
}

// fileKB returns the memory of this process that maps files.
func fileKB(t *testing.T) (kB int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := bytes.Cut(status, []byte("RssFile:"))
	if _, err := fmt.Sscan(string(line), &kB); err != nil {
		t.Fatal(err)
	}
	return kB
}
