// Command dist writes archives of the program for several platforms, with their SHA-256, into a
// folder, and tries those for this machine. The same commit and version of Go give the same bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are systems and processors, with a build tag behind them: the programs for Linux and
// macOS open a BLAS library through the system's C library, the static ones need no C library.
var platforms = []string{
	"linux/amd64", "linux/arm64", "linux/amd64/static", "linux/arm64/static",
	"darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

// file is an entry of an archive.
type file struct {
	name       string
	content    []byte
	executable bool
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: dist CHECKOUT FOLDER")
	}
	err := os.Chdir(os.Args[1])
	if err == nil {
		err = run(os.Args[2])
	}
	if err != nil {
		log.Fatal("dist: ", err)
	}
}

// run writes the archives of the checkout in the working folder into the folder out.
func run(out string) error {
	work, err := os.MkdirTemp("", "dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	version, err := output("git", "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return err
	}
	date, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		return err
	}
	here := filepath.Join(work, "here")
	if err := build(here, runtime.GOOS+"/"+runtime.GOARCH); err != nil {
		return err
	}
	common, err := documents(here)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, platform := range platforms {
		name := "lago-train-" + version + "-" + strings.ReplaceAll(platform, "/", "-")
		bin, pack, suffix := "lago-train", tarball, ".tar.gz"
		if strings.HasPrefix(platform, "windows/") {
			bin, pack, suffix = "lago-train.exe", zipped, ".zip"
		}
		built := filepath.Join(work, bin)
		if err := build(built, platform); err != nil {
			return err
		}
		program, err := os.ReadFile(built)
		if err != nil {
			return err
		}
		archive, err := pack(name, append([]file{{bin, program, true}}, common...), time.Unix(seconds, 0).UTC())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name+suffix), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name+suffix)
		if strings.HasPrefix(platform, runtime.GOOS+"/"+runtime.GOARCH) && suffix == ".tar.gz" {
			if err := try(filepath.Join(out, name+suffix), name, work); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(text)), err
}

// build compiles the program for a platform, without C and without the paths of this machine.
func build(to, platform string) error {
	words := append(strings.Split(platform, "/"), "")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-tags", words[2], "-o", to, "./cmd/lago-train")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+words[0], "GOARCH="+words[1])
	c.Stderr = os.Stderr
	return c.Run()
}

// documents are the files beside the program; the scripts for shells are printed by it.
func documents(program string) (files []file, err error) {
	tracked, err := output("git", "ls-files", "README.md", "LICENSE", "CHANGELOG.md", "docs")
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(tracked) {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, content: content})
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: "completions/lago-train." + shell, content: script})
	}
	return slices.DeleteFunc(files, func(f file) bool { return strings.HasSuffix(f.name, ".go") }), nil
}

func mode(f file) fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

func tarball(folder string, files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for _, f := range files {
		h := &tar.Header{Name: folder + "/" + f.name, Mode: int64(mode(f)), Size: int64(len(f.content)), ModTime: date}
		if err := tw.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := tw.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	err := zw.Close()
	return b.Bytes(), err
}

func zipped(folder string, files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(mode(f))
		w, err := zw.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := zw.Close()
	return b.Bytes(), err
}

var address = regexp.MustCompile(`http://\S+`)

// try unpacks an archive, and runs the program in an empty folder as a new user does.
func try(archive, folder, work string) error {
	if _, err := output("tar", "-xzf", archive, "-C", work); err != nil {
		return err
	}
	program, empty := filepath.Join(work, folder, "lago-train"), filepath.Join(work, folder, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return err
	}
	for _, args := range []string{"run --seeds 1 --epochs 2", "predict --model latest --dataset glyphs --to predictions.csv", "docs quickstart"} {
		c := exec.Command(program, strings.Fields(args)...)
		c.Dir = empty
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("lago-train %s: %w\n%s", args, err, text)
		}
	}
	c := exec.Command(program, "serve", "glyphs", "--model", "latest")
	c.Dir = empty
	printed, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		url := address.FindString(lines.Text())
		if url == "" {
			continue
		}
		r, err := http.Get(url)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		page, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("<html")) {
			return fmt.Errorf("lago-train serve: %s, %d bytes, %v", r.Status, len(page), err)
		}
		log.Printf("%s: run, predict, docs and serve work in an empty folder", filepath.Base(archive))
		return nil
	}
	return fmt.Errorf("lago-train serve: no address was printed")
}
