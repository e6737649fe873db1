//go:build unix

package fileio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	testkit.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
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
	var names []string
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		names = append(names, e.Name())
	}
	testkit.Equal(t, "folder", names, want)
}

// wantFile checks the mode and the content of a file.
func wantFile(t *testing.T, path string, mode fs.FileMode, content string) {
	t.Helper()
	testkit.Equal(t, "mode of "+path, testkit.Must(os.Lstat(path))(t).Mode(), mode)
	if got := testkit.Read(t, path); got != content {
		t.Errorf("%s has %d bytes that differ from the %d expected", path, len(got), len(content))
	}
}

func TestRead(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "file", "four")
	long := testkit.Write(t, t.TempDir(), "long", "five!")
	folder := t.TempDir()
	irregular := map[string]string{path + "s": "no such file", "/dev/zero": "expected a regular file", folder: "expected a file, found a folder", pipe(t): "expected a regular file"}
	for name, c := range map[string]struct {
		read    func(path string) ([]byte, error)
		refused map[string]string
	}{
		"ReadFile": {
			func(path string) ([]byte, error) { return ReadFile(t.Context(), path, 4) },
			map[string]string{
				path + "s": "no such file", folder: "expected a file, found a folder",
				long: "expected at most 4 B, found more", "/dev/zero": "expected a regular file or a pipe, found a device",
			},
		},
		"ReadRegular": {ReadRegular, irregular},
		"OpenRegular": {func(path string) ([]byte, error) {
			f, size, err := OpenRegular(t.Context(), path)
			if err != nil {
				return nil, err
			}
			defer func() { _ = f.Close() }()
			if size != 4 || f.Name() != path {
				t.Errorf("%d bytes of %s", size, f.Name())
			}
			return io.ReadAll(f)
		}, irregular},
	} {
		testkit.Equal(t, name, string(testkit.Must(c.read(path))(t)), "four")
		for path, want := range c.refused {
			_, err := c.read(path)
			if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != path || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: error %v, expected the path once", name, err)
			}
			testkit.WantError(t, err, want)
		}
	}
}

// Neither opening a pipe nor reading from one outlasts the context.
func TestCancel(t *testing.T) {
	path := pipe(t)
	testkit.Fails(Lock(t.Context(), path, false, func() { t.Error("waiting for a pipe") }))(t, path+": expected a regular file")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("opening gives %v", err)
	}
	w := testkit.Must(os.OpenFile(path, os.O_RDWR, 0))(t) // releases the abandoned goroutine
	defer func() { _ = w.Close() }()
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := io.ReadAll(testkit.Must(Open(ctx, path))(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("reading gives %v", err)
	}
}

func TestParseObject(t *testing.T) {
	got := testkit.Must(ParseObject([]byte(" {\"b\": [1, 2],\n\"a\": \"\\ud83d\\ude00 \\\\ud83d\"}\n")))(t)
	want := []Member{{Key: "b", Value: []byte("[1, 2]")}, {Key: "a", Value: []byte(`"\ud83d\ude00 \\ud83d"`)}}
	testkit.Equal(t, "members", got, want)
	for text, want := range map[string]string{
		"":                         "expected one JSON object, found nothing",
		"null":                     "expected one JSON object, found another JSON value",
		"{} {}":                    "expected one JSON object, found a syntax error in line 1",
		"{\"a\": 1,\n":             "expected one JSON object, found a syntax error in line 2",
		`{"a": 1, "b": 2, "a": 1}`: "a: expected each key once, found it twice",
		"{\"a\": \"\xff\"}":        "expected text in Unicode, found bytes that are not UTF-8",
	} {
		_, err := ParseObject([]byte(text))
		testkit.Equal(t, text, fmt.Sprint(err), want)
	}
	many := `{"0": 0`
	for i := range maxMembers {
		many += fmt.Sprintf(`, "%d": 0`, i+1)
	}
	testkit.Fails(ParseObject([]byte(many+"}")))(t, "expected at most 10000 keys, found more")
}

func TestWriteReplacesFile(t *testing.T) {
	for _, content := range []string{"", strings.Repeat("longer", bufferSize)} {
		t.Chdir(t.TempDir())
		testkit.NoError(t, os.WriteFile("result.json", []byte("earlier content"), 0o600))
		testkit.NoError(t, Write("result.json", text(content)))
		wantFile(t, "result.json", 0o600, content)
		wantNames(t, ".", "result.json")
	}
	testkit.NoError(t, WriteJSON("result.json", map[string]float64{"accuracy": 0.62}))
	wantFile(t, "result.json", 0o600, "{\n  \"accuracy\": 0.62\n}\n")
	testkit.NoError(t, WriteCSV("result.json", [][]string{{"a", "b,c"}}))
	wantFile(t, "result.json", 0o600, "a,\"b,c\"\n")
}

func TestWriteFollowsSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	testkit.Write(t, dir, "other/old", "earlier content")
	testkit.NoError(t, os.Chmod("other/old", 0o640))
	for _, link := range [][2]string{
		{"relative", "other/old"}, {"absolute", filepath.Join(dir, "other/old")}, {"chain", "relative"},
	} {
		testkit.NoError(t, os.Symlink(link[1], link[0]))
		testkit.NoError(t, Write(link[0], text(link[0])))
		testkit.Equal(t, "the link", testkit.Must(os.Readlink(link[0]))(t), link[1])
		testkit.Equal(t, link[0], testkit.Read(t, link[0]), link[0])
	}
	wantFile(t, "other/old", 0o640, "chain")
	wantNames(t, "other", "old")
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
	testkit.WantError(t, WriteJSON(path, math.NaN()), path)
	testkit.Equal(t, "the earlier file", testkit.Read(t, path), "old")
	wantNames(t, dir, "model")
}

func TestErrorsNameOnePlace(t *testing.T) {
	dir := t.TempDir()
	ofInput := &invalid.Error{Where: "bad.csv", Field: "line 3", Want: "a number", Err: fs.ErrNotExist}
	err := Write(filepath.Join(dir, "out.csv"), func(io.Writer) error { return ofInput })
	testkit.Equal(t, "error", fmt.Sprint(err), ofInput.Error())
	for path, want := range map[string]string{
		filepath.Join(dir, "absent", "model"): "found no folder",
		dir:                                   ": expected a file, found a folder",
	} {
		err := Write(path, text(""))
		testkit.WantError(t, err, path, want)
		testkit.Equal(t, "times that the path is named", strings.Count(err.Error(), path), 1)
	}
}

func TestTemporaryFilesOfKilledProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model")
	live, lock, err := createTemporary(path, nil)
	testkit.NoError(t, err)
	const abandoned, notOurs = ".curve.jsonl.0123456789abcdef.tmp", ".model.tmp"
	testkit.Write(t, dir, abandoned, "half")
	testkit.Write(t, dir, notOurs, "mine")
	testkit.NoError(t, Write(path, text("whole")))
	wantNames(t, dir, filepath.Base(live.Name()), notOurs, "model")
	testkit.NoError(t, errors.Join(live.Close(), lock.Close())) // as the system does when a process is killed
	testkit.NoError(t, Write(path, text("whole")))
	wantNames(t, dir, notOurs, "model")
}

// Of several writers of one new file, such as dataset split --to, one succeeds.
func TestWriteNewSucceedsOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	const writers = 8
	errs := make(chan error, writers)
	for range writers {
		go func() { errs <- WriteNew("splits.csv", text("x")) }()
	}
	succeeded := 0
	for range writers {
		err := <-errs
		if err == nil {
			succeeded++
			continue
		}
		testkit.WantError(t, err, "splits.csv: expected a new file, found one that is there")
	}
	testkit.Equal(t, "writers that succeeded", succeeded, 1)
	wantNames(t, ".", "splits.csv")
}

func TestWriteGoesThroughDevicesAndPipes(t *testing.T) {
	path := pipe(t)
	link := filepath.Join(filepath.Dir(path), "null")
	testkit.NoError(t, os.Symlink(os.DevNull, link))
	content := strings.Repeat("x", 3*pipeBuffer)
	written := make(chan error)
	go func() { written <- Write(path, text(content)) }()
	if got, err := ReadFile(t.Context(), path, 1<<20); err != nil || string(got) != content {
		t.Errorf("the reader of the pipe got %d bytes: %v", len(got), err)
	}
	testkit.NoError(t, <-written)
	for _, null := range []string{os.DevNull, link} {
		testkit.NoError(t, Write(null, text("nothing")))
	}
	for name, kind := range map[string]fs.FileMode{os.DevNull: fs.ModeDevice, path: fs.ModeNamedPipe} {
		if info, err := os.Stat(name); err != nil || info.Mode()&kind == 0 {
			t.Errorf("%s is none any more: %v", name, err)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for begin, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a": "a git-LFS pointer",
		"<!DOCTYPE html><html>":                  "a page of HTML or XML",
		"\xef\xbb\xbf\n<?xml version=\"1.0\"?>":  "a page of HTML or XML",
		"\x93NUMPY\x01\x00v\x00":                 "a NumPy array",
		"PK\x03\x04\x00\x00":                     "a ZIP archive",
		"\x80\x02}q\x00":                         "a Python pickle",
		"\xff\xd8\xff\xe0":                       "an image",
		"\x00\x00\x00\x18ftypheic\x00\x00":       "a HEIC",
		"class,size\n":                           "",
		"\x40\x00\x00\x00\x00\x00\x00\x00{\"w\"": "",
		"":                                       "",
	} {
		if got := FormatOf([]byte(begin)).Name; !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %s, expected %s", begin, got, want)
		}
	}
}

// Outputs replace earlier ones of their kind, and nothing else unless they are forced to.
func TestOutputsReplaceOnlyTheirKind(t *testing.T) {
	const page = "<!DOCTYPE html>\n<meta name=\"generator\" content=\"lago-train %s\">\n"
	const predicted = "sample,id,prediction,class_1,score_1\n0,a,owl,owl,1\n"
	for name, c := range map[string]struct {
		old, output string
		replaced    bool
	}{
		"earlier predictions":     {"sample,prediction,class_1,score_1,class_2,score_2\n", predicted, true},
		"labels":                  {"class,id\nowl,1\n", predicted, false},
		"an earlier page":         {fmt.Sprintf(page, "sheet"), fmt.Sprintf(page, "sheet") + "new", true},
		"a page of another kind":  {fmt.Sprintf(page, "report"), fmt.Sprintf(page, "sheet"), false},
		"earlier JSON":            {`{"dataset": "a", "variant": "b"}`, `{"dataset":"c","variant":"d"}`, true},
		"a result":                {`{"status": "epochs", "epochs": 3}`, `{"dataset":"c","variant":"d"}`, false},
		"notes":                   {"To do: samples\n", "sample 5 of birds is predicted as owl\n", false},
		"a photograph for a page": {"\xff\xd8\xff\xe0\x00", fmt.Sprintf(page, "sheet"), false},
		"an empty file":           {"", predicted, true},
	} {
		path := testkit.Write(t, t.TempDir(), name, c.old)
		err := new(Outputs).Write(path, text(c.output))
		if got := testkit.Read(t, path); (err == nil) != c.replaced || (got == c.output) != (c.replaced || c.old == c.output) {
			t.Errorf("%s: replaced %v, found %q: %v", name, err == nil, got, err)
		}
		if !c.replaced {
			testkit.WantError(t, err, path+": expected a new file, or an earlier output of the same kind, found another file", "--force")
		}
		testkit.NoError(t, (&Outputs{Force: true}).Write(path, text(c.output)))
		testkit.Must(ReadRegular(path))(t)
		link := filepath.Join(t.TempDir(), "link")
		testkit.NoError(t, os.Symlink(path, link))
		testkit.WantError(t, (&Outputs{Force: true}).Write(link, text(c.output)), link+": expected a file that the command does not read, found an input")
	}
}
