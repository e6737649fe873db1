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
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/testkit"
)

// publish serves the small data set as cub, in two archives, and returns the arguments of a
// fetch from there to the folder data in dir.
func publish(t *testing.T) func(dir string, more ...string) []string {
	t.Helper()
	const plain = "../../dataset/xlsa17/testdata/plain"
	release := make(fstest.MapFS)
	for _, e := range testkit.Must(os.ReadDir(plain))(t) {
		release["xlsa17/data/CUB/"+e.Name()] = &fstest.MapFile{Data: []byte(testkit.Read(t, filepath.Join(plain, e.Name())))}
	}
	root := t.TempDir()
	for name, files := range map[string]fstest.MapFS{"release.zip": release, "meta.zip": metaOf(mini(t))} {
		testkit.Write(t, root, name, zipped(t, files))
	}
	server := httptest.NewServer(http.FileServer(http.Dir(root)))
	t.Cleanup(server.Close)
	return func(dir string, more ...string) []string {
		return append([]string{
			"dataset", "fetch", "--data-dir", filepath.Join(dir, "data"), "--download-dir", filepath.Join(dir, "downloads"),
			"--archive-url", server.URL + "/release.zip", "--meta-url", server.URL + "/meta.zip",
		}, more...)
	}
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

func zipped(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	testkit.NoError(t, errors.Join(w.AddFS(files), w.Close()))
	return b.String()
}

func TestDatasetFetch(t *testing.T) {
	args, dir := publish(t), t.TempDir()
	data := filepath.Join(dir, "data")
	out := succeeds(t, args(dir, "cub")...)
	testkit.WantText(t, out,
		"cub: 10 files", filepath.Join(data, "CUB"), "/release.zip", "kept for other data sets",
		"lago-train dataset info --data-dir "+data+" cub", "lago-train run --data-dir "+data+" --dataset cub")
	info := succeeds(t, "dataset", "info", "--data-dir", data, "--no-cache", "cub")
	testkit.WantText(t, info, "cub: 108 samples of 12 classes", "in 4 groups")
	fails(t, args(dir, "cub"), filepath.Join(data, "CUB"), "exists already", "--force")

	r := printed[fetch.Result](t, args(dir, "--json", "--force", "--delete-archives", "CUB")...)
	if r.Name != "cub" || len(r.Archives) != 2 || len(r.Archives[0].SHA256) != 64 {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "downloads", "*.zip")); len(left) != 0 {
		t.Errorf("archives are left: %v", left)
	}
}

func TestDatasetFetchRefuses(t *testing.T) {
	args, dir := publish(t), t.TempDir()
	misused(t, args(dir), "one argument, cub|awa2|sun", "found 0")
	misused(t, args(dir, "apy"), `"apy"`, "cub, awa2, sun")
	misused(t, args(dir, "--attempts", "0", "cub"), "--attempts: expected a whole number, at least 1")
	misused(t, args(dir, "--stall", "0s", "cub"), "--stall", "found 0s")
	misused(t, args(dir, "--sha256", "12", "cub"), "64 hexadecimal digits", `"12"`)
	fails(t, args(dir, "sun"), "expected the files of SUN")
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
		{6, 372e6, 879e6, "372.0 MB of 879.0 MB, 12.0 MB/s"},
		{12, 1e6, -1, "1.0 MB"},
		{22, 2e6, -1, "2.0 MB, 100.0 kB/s"},
	} {
		got := p.line(fetch.Progress{Step: "downloading", Done: c.done, Total: c.total}, start.Add(time.Duration(c.second)*time.Second))
		testkit.WantText(t, "<"+got+">", "<downloading: "+c.want+">")
	}
}
