//go:build unix

package atomicfile

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWriteGoesThroughDevicesAndPipes(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "null")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		content, _ := os.ReadFile(pipe)
		read <- string(content)
	}()
	if err := Write(pipe, writeBytes([]byte("through"))); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("the reader of the pipe got %q", got)
	}
	wantMode(t, pipe, fs.ModeNamedPipe|0o600)
	for _, null := range []string{os.DevNull, link} {
		if err := Write(null, writeBytes([]byte("nothing"))); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Fatalf("%s is no device any more: %v", os.DevNull, err)
	}
	wantNames(t, dir, "null", "pipe")
}

// In a process whose stdout is a file, /dev/stdout is written to like stdout.
func TestWriteToStdout(t *testing.T) {
	const stdout = "/dev/stdout"
	if os.Getenv("ATOMICFILE_STDOUT") != "" {
		_, _ = io.WriteString(os.Stdout, "before ")
		if err := Write(stdout, writeBytes([]byte("through"))); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(os.Stdout, " after")
		os.Exit(0)
	}
	if _, err := os.Stat(stdout); err != nil {
		t.Skip(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	c := exec.Command(os.Args[0], "-test.run=^TestWriteToStdout$")
	c.Env = append(os.Environ(), "ATOMICFILE_STDOUT=1")
	c.Stdout = out
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, out.Name(), []byte("before through after"))
}
