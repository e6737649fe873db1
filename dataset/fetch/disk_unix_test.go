//go:build unix

package fetch

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
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
		testkit.WantError(t, err, dir, ".part: file too large", "same command resumes")
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	c.Env = append(os.Environ(), env+"="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
