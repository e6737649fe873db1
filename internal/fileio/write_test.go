//go:build unix

package fileio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "result.json")
	fmt.Println(WriteJSON(path, map[string]float64{"accuracy": 0.62}))
	content, _ := os.ReadFile(path)
	fmt.Print(string(content))
	// Output:
	// <nil>
	// {
	//   "accuracy": 0.62
	// }
}

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

// wantNames checks what is in dir, hidden files too.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	testkit.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	testkit.NoError(t, err)
	if info.Mode() != want {
		t.Errorf("%s has mode %v, expected %v", path, info.Mode(), want)
	}
}

func TestWriteReplacesFile(t *testing.T) {
	for _, content := range []string{"", "loss 0.25\n", strings.Repeat("longer", bufferSize)} {
		t.Chdir(t.TempDir())
		testkit.NoError(t, os.WriteFile("result.json", []byte("earlier content"), 0o600))
		testkit.NoError(t, Write("result.json", text(content)))
		if got := testkit.Read(t, "result.json"); got != content {
			t.Errorf("found %d bytes that differ from the %d written", len(got), len(content))
		}
		wantMode(t, "result.json", 0o600)
		wantNames(t, ".", "result.json")
	}
}

func TestWriteFollowsSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	testkit.NoError(t, os.Mkdir("other", 0o755))
	testkit.NoError(t, os.WriteFile("other/old", []byte("earlier content"), 0o640))
	for _, link := range [][2]string{
		{"relative", "other/old"}, {"absolute", filepath.Join(dir, "other/old")}, {"chain", "relative"}, {"new", "other/new"},
	} {
		testkit.NoError(t, os.Symlink(link[1], link[0]))
		testkit.NoError(t, Write(link[0], text(link[0])))
		if info, err := os.Lstat(link[0]); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link %s was replaced: %v", link[0], err)
		}
		if got := testkit.Read(t, link[0]); got != link[0] {
			t.Errorf("%s leads to %q", link[0], got)
		}
	}
	wantMode(t, "other/old", 0o640)
	wantNames(t, "other", "new", "old")
}

func TestFailureKeepsEarlierFile(t *testing.T) {
	failure := errors.New("no numbers")
	dir := t.TempDir()
	path := testkit.Write(t, dir, "model", "old")
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
	testkit.WantError(t, WriteJSON(path, math.NaN()), path)
	if got := testkit.Read(t, path); got != "old" {
		t.Errorf("found %d bytes, expected the earlier ones", len(got))
	}
	wantNames(t, dir, "model")
}

func TestErrorsNameOnePlace(t *testing.T) {
	dir := t.TempDir()
	ofInput := &invalid.Error{Where: "bad.csv", Field: "line 3", Want: "a number", Err: fs.ErrNotExist}
	if err := Write(filepath.Join(dir, "out.csv"), func(io.Writer) error { return ofInput }); err == nil || err.Error() != ofInput.Error() {
		t.Errorf("found %v, expected %v", err, ofInput)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent", "model"): "Create the folder first.",
		dir:                                   "expected a file, found a folder",
	} {
		err := Write(path, text(""))
		testkit.WantError(t, err, want)
		if strings.Count(err.Error(), path) != 1 {
			t.Errorf("error %v, expected the path once", err)
		}
	}
}

func TestTemporaryFilesOfKilledProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	live, err := createTemporary(target{path: path, perm: 0o666})
	testkit.NoError(t, err)
	if tryLock(live) == errors.ErrUnsupported {
		t.Skip("this system has no locks")
	}
	const abandoned, notOurs = ".curve.jsonl.0123456789abcdef.tmp", ".model.tmp"
	testkit.Write(t, dir, abandoned, "half")
	testkit.Write(t, dir, notOurs, "mine")
	testkit.NoError(t, Write(path, text("whole")))
	wantNames(t, dir, filepath.Base(live.Name()), notOurs, "model")
	testkit.NoError(t, live.Close()) // as the system does when a process is killed
	testkit.NoError(t, Write(path, text("whole")))
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
				all = errors.Join(all, Write(filepath.Join(dir, string(rune('a'+i/2))), text("x")))
			}
			errs <- all
		}()
	}
	for range writers {
		testkit.NoError(t, <-errs)
	}
	wantNames(t, dir, "a", "b", "c", "d")
}

func TestRenameMovesWithinAndBetweenFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.NoError(t, os.Mkdir("below", 0o755))
	from := testkit.Write(t, ".", "a", "content")
	for _, to := range []string{"b", "below/c"} {
		testkit.NoError(t, Rename(from, to))
		if got := testkit.Read(t, to); got != "content" {
			t.Errorf("%s holds %q", to, got)
		}
		from = to
	}
	wantNames(t, ".", "below")
	if err := Rename("absent", "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected that the file does not exist", err)
	}
}

func TestWriteGoesThroughDevicesAndPipes(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "null")
	testkit.NoError(t, syscall.Mkfifo(pipe, 0o600))
	testkit.NoError(t, os.Symlink(os.DevNull, link))
	read := make(chan string)
	go func() {
		content, _ := os.ReadFile(pipe)
		read <- string(content)
	}()
	testkit.NoError(t, Write(pipe, text("through")))
	if got := <-read; got != "through" {
		t.Errorf("the reader of the pipe got %q", got)
	}
	wantMode(t, pipe, fs.ModeNamedPipe|0o600)
	for _, null := range []string{os.DevNull, link} {
		testkit.NoError(t, Write(null, text("nothing")))
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("%s is no device any more: %v", os.DevNull, err)
	}
	wantNames(t, dir, "null", "pipe")
}

// In a process whose stdout is a file, /dev/stdout is written to like stdout.
func TestWriteToStdout(t *testing.T) {
	if os.Getenv("ATOMICFILE_STDOUT") != "" {
		_, _ = io.WriteString(os.Stdout, "before ")
		testkit.NoError(t, Write("/dev/stdout", text("through")))
		_, _ = io.WriteString(os.Stdout, " after")
		os.Exit(0)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	testkit.NoError(t, err)
	defer func() { _ = out.Close() }()
	c := exec.Command(os.Args[0], "-test.run=^TestWriteToStdout$")
	c.Env = append(os.Environ(), "ATOMICFILE_STDOUT=1")
	c.Stdout = out
	testkit.NoError(t, c.Run())
	if got := testkit.Read(t, out.Name()); got != "before through after" {
		t.Errorf("found %q", got)
	}
}
