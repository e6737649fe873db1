package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/testkit"
)

// publisher serves the small data set as cub, in two archives.
type publisher struct {
	*httptest.Server
	release, meta []byte

	mu     sync.Mutex
	most   int // bytes of the release in one response, which then stalls; 0 for all
	ranges []string
}

func publish(t *testing.T) *publisher {
	t.Helper()
	const plain = "../../dataset/xlsa17/testdata/plain"
	release := make(fstest.MapFS)
	for _, e := range testkit.Must(os.ReadDir(plain))(t) {
		release["xlsa17/data/CUB/"+e.Name()] = &fstest.MapFile{Data: []byte(testkit.Read(t, filepath.Join(plain, e.Name())))}
	}
	p := &publisher{release: zipped(t, release), meta: zipped(t, metaOf(mini(t)))}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// metaOf are the files that the release of a data set doesn't have.
func metaOf(d *dataset.Dataset) fstest.MapFS {
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
	testkit.NoError(t, errors.Join(w.AddFS(files), w.Close()))
	return b.Bytes()
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Etag", `"1"`)
	switch r.URL.Path {
	case "/meta.zip":
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.meta))
	case "/release.zip":
		p.mu.Lock()
		most := p.most
		p.ranges = append(p.ranges, r.Header.Get("Range"))
		p.mu.Unlock()
		if most > 0 {
			w = &stalling{w, r, most}
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.release))
	default:
		http.NotFound(w, r)
	}
}

// stalling is a response that stops after some bytes of the body.
type stalling struct {
	http.ResponseWriter
	request *http.Request
	left    int
}

func (s *stalling) Write(b []byte) (int, error) {
	n, err := s.ResponseWriter.Write(b[:min(len(b), s.left)])
	s.left -= n
	if s.left > 0 || err != nil {
		return n, err
	}
	_ = http.NewResponseController(s.ResponseWriter).Flush()
	<-s.request.Context().Done()
	return n, s.request.Context().Err()
}

func (p *publisher) stallAfter(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = most
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
	testkit.WantText(t, out,
		"cub: 10 files", filepath.Join(data, "CUB"), p.URL+"/release.zip", "kept for other data sets",
		"lago-train dataset info --data-dir "+data+" cub", "lago-train run --data-dir "+data+" --dataset cub")
	info := succeeds(t, "dataset", "info", "--data-dir", data, "--no-cache", "cub")
	testkit.WantText(t, info, "cub: 108 samples of 12 classes", "in 4 groups")
	fails(t, p.args(dir, "cub"), filepath.Join(data, "CUB"), "exists already", "--force")

	r := printed[fetch.Result](t, p.args(dir, "--json", "--force", "--delete-archives", "CUB")...)
	if r.Name != "cub" || len(r.Archives) != 2 || len(r.Archives[0].SHA256) != 64 {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "downloads", "*.zip")); len(left) != 0 {
		t.Errorf("archives are left: %v", left)
	}
}

func TestDatasetFetchResumes(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	quarter := len(p.release) / 4
	p.stallAfter(quarter)
	s := start(t, p.args(dir, "cub")...)
	s.until(t, "a quarter of the archive is there", func() bool {
		parts, _ := filepath.Glob(filepath.Join(dir, "downloads", "*.part"))
		if len(parts) != 1 {
			return false
		}
		info, err := os.Stat(parts[0])
		return err == nil && info.Size() == int64(quarter)
	})
	s.end(t, os.Interrupt)
	if s.cmd.ProcessState.ExitCode() != exitCancelled || !strings.Contains(s.stderr.String(), "interrupted. ") {
		t.Errorf("it ended with %v:\n%s", s.cmd.ProcessState, s.stderr.String())
	}
	p.stallAfter(0)
	e := lagoTrain(t, p.args(dir, "--log-format", "json", "cub")...)
	if e.code != 0 || !strings.Contains(e.stderr, "resuming after ") {
		t.Errorf("it ended with %d:\n%s", e.code, e.stderr)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	want := []string{"", fmt.Sprintf("bytes=%d-", quarter)}
	if !slices.Equal(p.ranges, want) {
		t.Errorf("the commands requested %q, expected %q", p.ranges, want)
	}
}

func TestDatasetFetchShowsNoPassword(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	secret := strings.Replace(p.URL, "://", "://me:s3cret@", 1)
	args := []string{"dataset", "fetch", "--data-dir", dir, "--download-dir", dir, "--force", "--json", "--meta-url", secret + "/meta.zip", "--archive-url"}
	for _, c := range [][]string{append(args, secret+"/release.zip", "cub"), append(args, secret+"/absent.zip", "cub")} {
		e := lagoTrain(t, c...)
		if strings.Contains(e.stdout+e.stderr, "s3cret") {
			t.Errorf("%v shows the password:\n%s%s", c, e.stdout, e.stderr)
		}
	}
}

func TestDatasetFetchRefuses(t *testing.T) {
	p, dir := publish(t), t.TempDir()
	misused(t, p.args(dir), "the name of one data set", "cub, awa2, sun", "found 0")
	misused(t, p.args(dir, "cub", "awa2"), "found 2 arguments")
	misused(t, p.args(dir, "apy"), `"apy"`, "cub, awa2, sun")
	misused(t, p.args(dir, "--attempts", "0", "cub"), "--attempts", "found 0")
	misused(t, p.args(dir, "--stall", "0s", "cub"), "--stall", "found 0s")
	misused(t, p.args(dir, "--sha256", "12", "cub"), "64 hexadecimal digits", `"12"`)
	fails(t, p.args(dir, "sun"), p.URL, "expected the files of SUN")
	fails(t, p.args(dir, "--archive-url", p.URL+"/absent.zip", "cub"), p.URL+"/absent.zip", "404 Not Found")
}

func TestFetchProgress(t *testing.T) {
	var p fetchProgress
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		second      int
		done, total int64
		want        string
	}{
		{0, 300e6, 879e6, "300.0 MB of 879.0 MB"}, // of an earlier command
		{6, 372e6, 879e6, "372.0 MB of 879.0 MB, 12.0 MB/s, 42s left"},
		{12, 1e6, 879e6, "1.0 MB of 879.0 MB"}, // from the beginning
		{20, 1e6, -1, "1.0 MB"},
		{30, 2e6, -1, "2.0 MB, 100.0 kB/s"},
	} {
		got := p.line(fetch.Progress{Step: "downloading", Done: c.done, Total: c.total}, start.Add(time.Duration(c.second)*time.Second))
		if want := "downloading: " + c.want; got != want {
			t.Errorf("after %d s: %q, expected %q", c.second, got, want)
		}
	}
}
