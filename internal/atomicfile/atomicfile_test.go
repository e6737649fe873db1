package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/invalid"
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

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
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

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != want {
		t.Errorf("%s has mode %v, expected %v", path, info.Mode(), want)
	}
}

func put(t *testing.T, path, content string, perm fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), perm); err != nil {
		t.Fatal(err)
	}
}

func TestWriteReplacesFile(t *testing.T) {
	for name, content := range map[string][]byte{
		"empty":                  nil,
		"short":                  []byte("loss 0.25\n"),
		"longer than the buffer": bytes.Repeat([]byte{1, 2, 3}, bufferSize),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			put(t, "result.json", "earlier content", 0o600)
			if err := Write("result.json", writeBytes(content)); err != nil {
				t.Fatal(err)
			}
			wantFile(t, "result.json", content)
			wantMode(t, "result.json", 0o600)
			wantNames(t, ".", "result.json")
		})
	}
}

func TestWriteFollowsSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("other", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, "other/old", "earlier content", 0o640)
	for link, to := range map[string]string{
		"relative": "other/old", "absolute": filepath.Join(dir, "other/old"), "chain": "relative", "new": "other/new",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	for link, to := range map[string]string{"relative": "old", "absolute": "old", "chain": "old", "new": "new"} {
		if err := Write(link, writeBytes([]byte(link))); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link %s was replaced: %v", link, err)
		}
		wantFile(t, filepath.Join("other", to), []byte(link))
	}
	wantMode(t, "other/old", 0o640)
	wantNames(t, "other", "new", "old")
}

func TestFailureKeepsEarlierFile(t *testing.T) {
	failure := errors.New("no numbers")
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	put(t, path, "old", 0o644)
	err := Write(path, func(w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte{7}, 2*bufferSize))
		return errors.Join(err, failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("error %v, expected the writer's own", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = Write(path, func(io.Writer) error { panic("programmer's mistake") })
	}()
	if err := WriteJSON(path, math.NaN()); err == nil {
		t.Error("NaN was written as JSON")
	}
	wantFile(t, path, []byte("old"))
	wantNames(t, dir, "model")
}

func TestAnErrorOfTheInputIsNotOneOfTheFile(t *testing.T) {
	failure := &invalid.Error{Where: "bad.csv", Field: "line 3", Want: "a number", Err: fs.ErrNotExist}
	err := Write(filepath.Join(t.TempDir(), "out.csv"), func(io.Writer) error { return failure })
	if err == nil || err.Error() != failure.Error() {
		t.Errorf("found %v, expected %v", err, failure)
	}
}

func TestErrorsNameThePathOnce(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "content"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent", "model"): "Create the folder first.",
		folder:                                "expected a file, found a folder",
	} {
		err := Write(path, writeBytes(nil))
		if err == nil || strings.Count(err.Error(), path) != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected the path once and %q", err, want)
		}
	}
	wantNames(t, dir, "folder")
}

func TestTemporaryFilesOfKilledProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	live, err := createTemporary(target{path: path, perm: 0o666})
	if err != nil {
		t.Fatal(err)
	}
	if tryLock(live) == errors.ErrUnsupported {
		t.Skip("this system has no locks")
	}
	const abandoned, notOurs = ".curve.jsonl.0123456789abcdef.tmp", ".model.tmp"
	put(t, filepath.Join(dir, abandoned), "half", 0o600)
	put(t, filepath.Join(dir, notOurs), "mine", 0o600)
	if err := Write(path, writeBytes([]byte("whole"))); err != nil {
		t.Fatal(err)
	}
	wantNames(t, dir, filepath.Base(live.Name()), notOurs, "model")
	if err := live.Close(); err != nil { // as the system does when a process is killed
		t.Fatal(err)
	}
	if err := Write(path, writeBytes([]byte("whole"))); err != nil {
		t.Fatal(err)
	}
	wantNames(t, dir, notOurs, "model")
}

func TestWritersOfOneFolderDoNotDisturbEachOther(t *testing.T) {
	dir := t.TempDir()
	const writers, times = 8, 30
	errs := make(chan error, writers)
	for i := range writers {
		go func() {
			var all error
			for range times {
				all = errors.Join(all, Write(filepath.Join(dir, string(rune('a'+i/2))), writeBytes([]byte{byte(i)})))
			}
			errs <- all
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	wantNames(t, dir, "a", "b", "c", "d")
}

func TestRenameMovesWithinAndBetweenFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("below", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, "a", "content", 0o644)
	from := "a"
	for _, to := range []string{"b", "below/c"} {
		if err := Rename(from, to); err != nil {
			t.Fatal(err)
		}
		wantFile(t, to, []byte("content"))
		from = to
	}
	wantNames(t, ".", "below")
	if err := Rename("absent", "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected that the file does not exist", err)
	}
}
