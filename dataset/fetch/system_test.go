//go:build unix

package fetch

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A limit to the size of files stands for a full disk. It is set in another process,
// since the tests write files as well.
func TestFullDisk(t *testing.T) {
	const env = "FETCH_FULL_DISK"
	if dir := os.Getenv(env); dir != "" {
		o := options(t, archives(t, published(t)))
		o.DataDir, o.DownloadDir = dir, dir
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 3000, Max: 3000}); err != nil {
			t.Skip(err)
		}
		_, err := Fetch(t.Context(), "cub", o)
		wantError(t, err, dir, ".part: file too large", "3.0 kB are kept")
		if left := names(t, dir); len(left) != 2 { // the part and its state
			t.Errorf("it left %v", left)
		}
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	c.Env = append(os.Environ(), env+"="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// Pipes in place of files would block.
func TestPipesAreRefused(t *testing.T) {
	files := published(t)
	for _, name := range []string{"data/.fetch.lock", "downloads/.download.lock", "ARCHIVE", "ARCHIVE.part", "ARCHIVE.part.json", "local"} {
		o := options(t, archives(t, files))
		path := filepath.Join(filepath.Dir(o.DataDir), name)
		switch name {
		case "local":
			o.ArchiveURL = path
		case "ARCHIVE", "ARCHIVE.part", "ARCHIVE.part.json":
			path = filepath.Join(o.DownloadDir, cacheName(o.ArchiveURL)+name[len("ARCHIVE"):])
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Skip(err)
		}
		result := make(chan error)
		go func() {
			_, err := Fetch(t.Context(), "cub", o)
			result <- err
		}()
		select {
		case err := <-result:
			wantError(t, err, path+": expected a regular file")
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the fetch hangs", name)
		}
	}
}
