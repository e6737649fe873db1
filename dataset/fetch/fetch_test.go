package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
)

// content returns a file of n bytes in which no part is like another.
func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// served returns the options of a fetch to a new folder from a server with one handler for each request, the
// last one answering all that follow, and the number of requests.
func served(t *testing.T, handlers ...http.HandlerFunc) (o Options, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		testkit.Equal(t, "compression", r.Header.Get("Accept-Encoding"), "identity")
		h := handlers[min(*requests, len(handlers)-1)]
		*requests++
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return Options{
		DataDir: filepath.Join(t.TempDir(), "data"), server: s.URL, Progress: func(format.Progress) {},
		Check: func(context.Context, string, string) error { return nil },
	}, requests
}

// whole serves a file with its length.
func whole(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// breaking serves as h does, and cuts the connection after n bytes.
func breaking(h http.HandlerFunc, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { h(&cutting{w, n}, r) }
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	c.Flush()
	panic(http.ErrAbortHandler)
}

func (c *cutting) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// answer sends a status and a body without its length.
func answer(code int, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		w.(http.Flusher).Flush()
		_, _ = w.Write(body)
	}
}

// names returns what is in a folder, but for lock files.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, e := range testkit.Must(os.ReadDir(dir))(t) {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Each call makes one request. However often it breaks, a half file never gets the name of a whole one.
func TestHalfFilesAreNotTakenAsWhole(t *testing.T) {
	file := content(5000)
	good, chunked := whole(file), answer(200, file)
	for name, handlers := range map[string][]http.HandlerFunc{
		"whole":                {good},
		"unknown length":       {chunked},
		"cut":                  {breaking(good, 1000), breaking(good, 500), good},
		"unknown length, cut":  {breaking(chunked, 900), chunked},
		"errors of the server": {answer(500, nil), answer(404, nil), answer(206, file[3000:]), good},
	} {
		o, requests := served(t, handlers...)
		path := filepath.Join(o.DataDir, "resnet50.safetensors")
		for range handlers[1:] {
			testkit.Fails(Fetch(t.Context(), "resnet50", o))(t, WeightsURL("resnet50"), path)
			testkit.Equal(t, name, len(names(t, o.DataDir)), 0)
		}
		testkit.Must(Fetch(t.Context(), "resnet50", o))(t)
		testkit.Equal(t, "requests", *requests, len(handlers))
		testkit.Equal(t, "file", sumOf([]byte(testkit.Read(t, path))), sumOf(file))
		testkit.Equal(t, "files", names(t, o.DataDir), []string{"resnet50.safetensors", "resnet50.safetensors.sha256"})
	}
}

// The SHA-256 of weights is recorded, and later ones must have it. What the check refuses is not kept.
func TestFetchWeights(t *testing.T) {
	file, other := content(1000), content(2000)
	o, _ := served(t, whole(file), whole(other), whole(other), whole(other))
	fetch := func() error {
		_, err := Fetch(t.Context(), "ResNet50", o)
		return err
	}
	path := filepath.Join(o.DataDir, "resnet50.safetensors")
	testkit.NoError(t, fetch())
	testkit.Equal(t, "recorded", testkit.Read(t, path+".sha256"), sumOf(file)+"  resnet50.safetensors\n")
	testkit.WantError(t, fetch(), path, "exists already", "remove it first")
	testkit.NoError(t, os.Remove(path))
	testkit.WantError(t, fetch(), "SHA-256: expected "+sumOf(file), sumOf(other), "remove "+path+".sha256")
	testkit.NoError(t, os.Remove(path+".sha256"))
	o.Check = func(_ context.Context, name, staged string) error {
		testkit.Equal(t, "checked", name+testkit.Read(t, staged), "resnet50"+string(other))
		return &invalid.Error{Where: staged, Want: "a header"}
	}
	testkit.WantError(t, fetch(), WeightsURL("resnet50"), "expected a header")
	testkit.Equal(t, "files", len(names(t, o.DataDir)), 0)
	testkit.Fails(Fetch(t.Context(), "resnet5", o))(t, "Did you mean resnet50")
}

// zipped returns an archive of the named files in folders.
func zipped(t *testing.T, names []string, folders ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, folder := range folders {
		files := make(fstest.MapFS)
		for i, name := range names {
			files[path.Join(folder, name)] = &fstest.MapFile{Data: content(1000 + i)}
		}
		testkit.NoError(t, w.AddFS(files))
	}
	testkit.NoError(t, w.Close())
	return b.Bytes()
}

func TestFetchDataSets(t *testing.T) {
	release := zipped(t, append(releaseFiles, "allclasses.txt", "run.m"), "xlsa17/data/CUB", "xlsa17/data/SUN")
	meta := zipped(t, metaFiles, "LAGO-c389ff1/data/CUB", "LAGO-c389ff1/data/SUN")
	o, requests := served(t, whole([]byte("<html>")), breaking(whole(release), 3000), whole(release), whole(meta))
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, XianURL+": expected a ZIP archive")
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, "found an end after 3000 bytes")
	for _, name := range []string{"cub", "sun"} { // the second one needs no download
		r := testkit.Must(Fetch(t.Context(), name, o))(t)
		folder := filepath.Join(o.DataDir, strings.ToUpper(name))
		testkit.Equal(t, name, *r, Fetched{name, folder, []File{
			{XianURL, filepath.Join(o.DataDir, XianFile), sumOf(release)}, {MetaURL, filepath.Join(o.DataDir, MetaFile), sumOf(meta)},
		}, ""})
		testkit.Equal(t, "files", len(names(t, folder)), 8)
		testkit.Equal(t, "content", sumOf([]byte(testkit.Read(t, filepath.Join(folder, "att_splits.mat")))), sumOf(content(1001)))
	}
	testkit.Equal(t, "requests", *requests, 4)
	all := []string{"CUB", "LAGO.zip", "LAGO.zip.sha256", "SUN", "xlsa17.zip", "xlsa17.zip.sha256"}
	testkit.Equal(t, "data", names(t, o.DataDir), all)
	testkit.Fails(Fetch(t.Context(), "awa2", o))(t, XianFile, "expected a file res101.mat in a folder AWA2")
	// What the check refuses, an archive that is damaged and an interruption leave no folder.
	testkit.NoError(t, os.RemoveAll(filepath.Join(o.DataDir, "CUB")))
	check := o.Check
	o.Check = func(_ context.Context, _, staged string) error {
		return &invalid.Error{Where: filepath.Join(staged, "res101.mat"), Want: "a variable"}
	}
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, XianFile, "res101.mat: expected a variable")
	ctx, cancel := context.WithCancel(t.Context())
	o.Check = func(context.Context, string, string) error { cancel(); return ctx.Err() }
	_, err := Fetch(ctx, "cub", o)
	if testkit.WantError(t, err, "interrupted: "); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o.Check, release[3000] = check, release[3000]+1
	testkit.Write(t, o.DataDir, XianFile, string(release))
	testkit.NoError(t, os.Remove(filepath.Join(o.DataDir, XianFile+".sha256")))
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, XianFile, "checksum", "remove it first")
	testkit.Equal(t, "data", names(t, o.DataDir), []string{"LAGO.zip", "LAGO.zip.sha256", "SUN", "xlsa17.zip"})
}
