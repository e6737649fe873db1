package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeBytes(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// names returns what is in dir, hidden files too.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s holds %d bytes that differ from the %d written", path, len(got), len(want))
	}
}

func TestWrite(t *testing.T) {
	tests := []struct {
		name    string
		content []byte
	}{
		{"empty", nil},
		{"short", []byte("loss 0.25\n")},
		{"longer than the buffer", bytes.Repeat([]byte{1, 2, 3}, bufferSize)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "result.json")
			if err := os.WriteFile(path, []byte("what was there before"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Write(path, writeBytes(tt.content)); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, tt.content)
			if diff := cmp.Diff([]string{"result.json"}, names(t, dir)); diff != "" {
				t.Errorf("folder (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteInWorkingFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("result.json", writeBytes([]byte("{}"))); err != nil {
		t.Fatal(err)
	}
	wantFile(t, "result.json", []byte("{}"))
}

func TestFailureLeavesTheOldFile(t *testing.T) {
	failure := errors.New("no numbers")
	halfWay := func(w io.Writer) error {
		if _, err := w.Write(bytes.Repeat([]byte{7}, 2*bufferSize)); err != nil {
			return err
		}
		return failure
	}

	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	if err := Write(path, writeBytes([]byte("old"))); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, halfWay); !errors.Is(err, failure) {
		t.Errorf("error %v, want the writer's own", err)
	}
	wantFile(t, path, []byte("old"))
	if diff := cmp.Diff([]string{"model"}, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestPanicLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	if err := Write(path, writeBytes([]byte("old"))); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = Write(path, func(io.Writer) error { panic("programmer's mistake") })
	}()
	wantFile(t, path, []byte("old"))
	if diff := cmp.Diff([]string{"model"}, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "absent", "model"), folder} {
		err := Write(path, writeBytes(nil))
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(path)) {
			t.Errorf("Write(%q): error %v does not name the path", path, err)
		}
	}
	if diff := cmp.Diff([]string{"folder"}, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestLeftoverOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	f, err := createBeside(path) // and then the process was killed
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half a mod"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file appeared before it was whole: %v", err)
	}
	if err := Write(path, writeBytes([]byte("whole"))); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, []byte("whole"))
}
