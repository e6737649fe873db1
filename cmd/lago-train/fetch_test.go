package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
)

func TestDatasetFetch(t *testing.T) {
	dir := t.TempDir()
	testkit.NoError(t, networktest.WriteResNet18(filepath.Join(dir, "weights.safetensors")))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	weights := server.URL + "/weights.safetensors"
	args := func(more ...string) []string {
		return append([]string{"dataset", "fetch", "--data-dir", dir, "--download-dir", dir, "--archive-url", weights}, more...)
	}
	// What is no such network does not replace the earlier file.
	old := testkit.Write(t, dir, "resnet50.safetensors", "old")
	testkit.Write(t, dir, "page.html", "<html>Log in</html>")
	testkit.Write(t, dir, "nothing", "")
	for path, want := range map[string]string{
		"/weights.safetensors": "expected the weights of resnet50, found those of resnet18", "/page.html": "a page of HTML", "/nothing": "",
	} {
		fails(t, args("--force", "--archive-url", server.URL+path, "resnet50"), server.URL+path+": resnet50: expected ", want, "Nothing was replaced.")
	}
	testkit.Equal(t, "the earlier weights", testkit.Read(t, old), "old")
	misused(t, args("apy"), `"apy"`, "cub, awa2, sun")
	misused(t, args("--stall", "0s", "cub"), "--stall", "found 0s")
	misused(t, args("--sha256", "12", "cub"), "--sha256: expected 64 hexadecimal digits")
}

func TestFetchedWeights(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(testkit.Shared(t), "resnet"))))
	t.Cleanup(server.Close)
	dir, weights := t.TempDir(), server.URL+"/imagenet-resnet50-v1.safetensors"
	args := func(more ...string) []string {
		return append([]string{"dataset", "fetch", "--data-dir", dir, "--archive-url", weights}, more...)
	}
	testkit.WantText(t, succeeds(t, args("resnet50")...), "resnet50: 1 file", "from "+weights,
		"lago-train dataset extract NAME --images DIR --weights "+filepath.Join(dir, "resnet50.safetensors"))
	r := printed[fetch.Result](t, args("--json", "--force", "resnet50")...)
	if r.Name != "resnet50" || len(r.Archives) != 1 || len(r.Archives[0].SHA256) != 64 {
		t.Errorf("%+v", r)
	}
}

func TestFetchedDataSet(t *testing.T) {
	archives := []fetch.Archive{{Source: "https://a.b/c.zip", File: "/cache/c.zip", Kept: true}}
	tables := fetched{&fetch.Result{Name: "cub", Folder: "/data/CUB", Files: []string{"a", "b"}, Archives: archives}, "/data"}.Tables()
	testkit.WantText(t, tables[0].Text(1000, 0), "cub: 2 files", "in /data/CUB", "from https://a.b/c.zip", "kept for other data sets: /cache/c.zip",
		"lago-train dataset info --data-dir /data cub", "lago-train run --data-dir /data --dataset cub")
}
