package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/dataset/xlsa17"
)

// publisher serves the small data set as cub, in two archives.
type publisher struct {
	*httptest.Server
	release, meta []byte

	mu     sync.Mutex
	slow   bool // the release comes as far as the middle, and no further
	ranges []string
}

func publish(t *testing.T) *publisher {
	t.Helper()
	const plain = "../../dataset/xlsa17/testdata/plain"
	entries, err := os.ReadDir(plain)
	if err != nil {
		t.Fatal(err)
	}
	release := make(fstest.MapFS)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(plain, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		release[path.Join("xlsa17/data/CUB", e.Name())] = &fstest.MapFile{Data: content}
	}
	p := &publisher{release: zipped(t, release), meta: zipped(t, metaOf(t, plain))}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// metaOf are the files that the release of a data set doesn't have.
func metaOf(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	d, err := xlsa17.Load(t.Context(), dir, xlsa17.Options{NoCache: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	var attributes, classes, descriptions strings.Builder
	for _, a := range d.Attributes {
		fmt.Fprintln(&attributes, a.Name)
	}
	for z, class := range d.Classes {
		fmt.Fprintln(&classes, class)
		fmt.Fprintln(&descriptions, strings.Trim(fmt.Sprint(d.Descriptions.Row(z)), "[]"))
	}
	const meta = "LAGO/data/CUB/meta/"
	return fstest.MapFS{
		meta + "attribute_names_with_semantic_group.txt": {Data: []byte(attributes.String())},
		meta + "class_descriptions_by_attributes.txt":    {Data: []byte(descriptions.String())},
		meta + "classes.txt":                             {Data: []byte(classes.String())},
	}
}

func zipped(t *testing.T, files fstest.MapFS) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if err := errors.Join(w.AddFS(files), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Etag", `"1"`)
	switch r.URL.Path {
	case "/meta.zip":
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.meta))
	case "/release.zip":
		p.mu.Lock()
		slow := p.slow
		p.ranges = append(p.ranges, r.Header.Get("Range"))
		p.mu.Unlock()
		if !slow {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.release))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(p.release)))
		_, _ = w.Write(p.release[:len(p.release)/2])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		http.NotFound(w, r)
	}
}

func (p *publisher) setSlow(slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = slow
}

// args are those of a fetch from the publisher to the folder data in dir.
func (p *publisher) args(dir string, more ...string) []string {
	return append([]string{
		"dataset", "fetch", "--data-dir", filepath.Join(dir, "data"), "--download-dir", filepath.Join(dir, "downloads"),
		"--archive-url", p.URL + "/release.zip", "--meta-url", p.URL + "/meta.zip",
	}, more...)
}

func TestDatasetFetch(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	data := filepath.Join(dir, "data")
	out := succeeds(t, p.args(dir, "cub")...)
	for _, part := range []string{
		"cub: 10 files", filepath.Join(data, "CUB"), p.URL + "/release.zip", "kept for other data sets",
		"lago-train dataset info --data-dir " + data + " cub", "lago-train run --data-dir " + data + " --dataset cub",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, out)
		}
	}
	info := succeeds(t, "dataset", "info", "--data-dir", data, "--no-cache", "cub")
	if !strings.Contains(info, "cub: 108 samples of 12 classes") || !strings.Contains(info, "in 4 groups") {
		t.Errorf("what was fetched is\n%s", info)
	}
	refuses(t, p.args(dir, "cub"), filepath.Join(data, "CUB"), "exists already", "--force")

	o := object(t, succeeds(t, p.args(dir, "--json", "--force", "--delete-archives", "CUB")...))
	compareKeys(t, "the object", o, "name", "folder", "files", "bytes", "archives")
	if string(o["name"]) != `"cub"` || !strings.Contains(string(o["archives"]), `"sha256"`) {
		t.Errorf("name %s, archives %s", o["name"], o["archives"])
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "downloads", "*.zip")); len(left) != 0 {
		t.Errorf("archives are left: %v", left)
	}
}

func TestDatasetFetchResumesAfterSignals(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	half := len(p.release) / 2
	for i, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p.setSlow(true)
		s := start(t, p.args(dir, "cub")...)
		s.until(t, "the server waits", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.ranges) == i+1
		})
		s.until(t, "half of the archive is there", func() bool {
			parts, _ := filepath.Glob(filepath.Join(dir, "downloads", "*.part"))
			if len(parts) != 1 {
				return false
			}
			info, err := os.Stat(parts[0])
			return err == nil && info.Size() == int64(half)
		})
		if err := s.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		<-s.over
		if text := s.stderr.String(); s.cmd.ProcessState.ExitCode() != exitCancelled || !strings.Contains(text, "interrupted. ") {
			t.Errorf("after %v it ended with %v:\n%s", signal, s.cmd.ProcessState, text)
		}
	}
	p.setSlow(false)
	e := lagoTrain(t, p.args(dir, "cub")...)
	if e.code != 0 || !strings.Contains(e.stderr, "resuming after ") {
		t.Errorf("it ended with %d:\n%s", e.code, e.stderr)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if want := fmt.Sprintf("bytes=%d-", half); p.ranges[2] != want {
		t.Errorf("the last command requested %q, expected %q", p.ranges[2], want)
	}
}

func TestDatasetFetchShowsNoPassword(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	secret := strings.Replace(p.URL, "://", "://me:s3cret@", 1)
	t.Setenv("LAGO_META_URL", secret+"/meta.zip")
	args := []string{"dataset", "fetch", "--data-dir", dir, "--download-dir", dir, "--force", "--json", "--archive-url"}
	for _, c := range [][]string{append(args, secret+"/release.zip", "cub"), append(args, secret+"/absent.zip", "cub"), {"dataset", "fetch", "--help"}} {
		e := lagoTrain(t, c...)
		if strings.Contains(e.stdout+e.stderr, "s3cret") {
			t.Errorf("%v shows the password:\n%s%s", c, e.stdout, e.stderr)
		}
	}
}

func TestDatasetFetchRefuses(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	refuses(t, p.args(dir), "the name of one data set", "cub, awa2, sun", "found 0")
	refuses(t, p.args(dir, "cub", "awa2"), "found 2 arguments")
	refuses(t, p.args(dir, "apy"), `"apy"`, "cub, awa2, sun")
	refuses(t, p.args(dir, "--attempts", "0", "cub"), "--attempts", "found 0")
	refuses(t, p.args(dir, "--stall", "0s", "cub"), "--stall", "found 0s")
	refuses(t, p.args(dir, "--sha256", "12", "cub"), "64 hexadecimal digits", `"12"`)
	refuses(t, p.args(dir, "sun"), p.URL, "expected the files of SUN")
	refuses(t, p.args(dir, "--archive-url", p.URL+"/absent.zip", "cub"), p.URL+"/absent.zip", "404 Not Found")
}

func TestWhatIsFetchedIsToldWhereItIsMissing(t *testing.T) {
	for _, name := range fetch.Names() {
		_, err := catalog.Find(name, catalog.Options{DataDir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "To download it: lago-train dataset fetch") {
			t.Errorf("%s: the error doesn't say how to fetch it: %v", name, err)
		}
	}
}

func TestFetchProgress(t *testing.T) {
	var out strings.Builder
	p := &fetchProgress{to: &out}
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		second      int
		done, total int64
		want        string
	}{
		{0, 300e6, 879e6, ""}, // of an earlier command
		{2, 324e6, 879e6, ""}, // too early for another line
		{6, 372e6, 879e6, "downloading features: 372.0 MB of 879.0 MB, 12.0 MB/s, 42s left\n"},
		{12, 1e6, 879e6, ""}, // from the beginning
		{18, 1e6, 879e6, "downloading features: 1.0 MB of 879.0 MB\n"},
		{20, 1e6, -1, ""},
		{30, 2e6, -1, "downloading features: 2.0 MB, 100.0 kB/s\n"},
	} {
		out.Reset()
		p.show(fetch.Progress{Step: "downloading features", Done: c.done, Total: c.total}, start.Add(time.Duration(c.second)*time.Second))
		if got := out.String(); got != c.want {
			t.Errorf("after %d s: %q, expected %q", c.second, got, c.want)
		}
	}
	out.Reset()
	p.terminal = true
	p.show(p.last, start.Add(31*time.Second))
	p.clear()
	if got, want := out.String(), "\rdownloading features: 2.0 MB, 90.9 kB/s\x1b[K\r\x1b[K"; got != want {
		t.Errorf("on a terminal: %q, expected %q", got, want)
	}
}
