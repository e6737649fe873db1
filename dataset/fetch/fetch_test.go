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
	"slices"
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
// last one answering all that follow, and the ranges that were asked for.
func served(t *testing.T, handlers ...http.HandlerFunc) (o Options, ranges *[]string) {
	t.Helper()
	ranges = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.Header.Get("Range") != "") != (r.Header.Get("If-Range") != "") || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("headers %v, expected Range only with If-Range, and no compression", r.Header)
		}
		h := handlers[min(len(*ranges), len(handlers)-1)]
		*ranges = append(*ranges, strings.TrimPrefix(r.Header.Get("Range"), "bytes="))
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return Options{
		DataDir: filepath.Join(t.TempDir(), "data"), server: s.URL, Progress: func(format.Progress) {},
		Check: func(context.Context, string, string) error { return nil },
	}, ranges
}

// whole serves a file as servers should: with ranges, and under an ETag.
func whole(b []byte, tag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if tag != "" {
			w.Header().Set("Etag", tag)
		}
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

// answer sends a status, headers and a body as they are, without the length of the body.
func answer(code int, body []byte, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
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
	file, newer := content(5000), content(7000)[1000:]
	good, untagged, chunked := whole(file, `"a"`), whole(file, ""), answer(200, file, "Etag", `"a"`)
	modified := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1.5e9, 0), bytes.NewReader(file))
	}
	rest := func(headers ...string) http.HandlerFunc { return answer(206, newer[3000:], headers...) }
	type handlers = []http.HandlerFunc
	for _, c := range []struct {
		name     string
		handlers handlers
		ranges   string // of the requests
	}{
		{"whole", handlers{good}, ""},
		{"unknown length", handlers{chunked}, ""},
		{"resumed by ETag", handlers{breaking(good, 1000), breaking(good, 500), good}, ",1000-,1500-"},
		{"resumed by Last-Modified", handlers{breaking(modified, 1000), modified}, ",1000-"},
		{"unknown length, cut", handlers{breaking(chunked, 900), chunked}, ",900-"},
		{"changed", handlers{breaking(whole(newer, `"b"`), 3000), good}, ",3000-"},
		{"no validator", handlers{breaking(untagged, 3000), untagged}, ","},
		{"ETag that changed", handlers{breaking(good, 3000), rest("Etag", `"b"`, "Content-Range", "bytes 3000-4999/5000"), good}, ",3000-,"},
		{"no validator of a part", handlers{breaking(good, 3000), rest("Content-Range", "bytes 3000-4999/5000"), good}, ",3000-,"},
		{"another range", handlers{breaking(good, 3000), answer(206, file, "Etag", `"a"`, "Content-Range", "bytes 0-4999/5000"), good}, ",3000-,"},
		{"a part of the rest", handlers{breaking(good, 3000), answer(206, file[3000:3010], "Etag", `"a"`, "Content-Range", "bytes 3000-3009/5000"), good}, ",3000-,"},
		{"a rest that is shorter", handlers{breaking(good, 3000), answer(206, file[3000:3010], "Etag", `"a"`, "Content-Range", "bytes 3000-4999/5000"), good}, ",3000-,3010-"},
		{"range refused", handlers{breaking(good, 3000), answer(416, nil), good}, ",3000-,"},
		{"errors of the server", handlers{answer(500, nil), breaking(good, 10), answer(404, nil), good}, ",,10-,10-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, ranges := served(t, c.handlers...)
			path := filepath.Join(o.DataDir, "resnet50.safetensors")
			for i := range c.handlers {
				_, err := Fetch(t.Context(), "resnet50", o)
				if last := i == len(c.handlers)-1; last {
					testkit.NoError(t, err)
				} else {
					testkit.WantError(t, err, WeightsURL("resnet50"), "resumes", path)
					testkit.Equal(t, "whole", slices.Contains(names(t, o.DataDir), filepath.Base(path)), false)
				}
			}
			testkit.Equal(t, "ranges", strings.Join(*ranges, ","), c.ranges)
			testkit.Equal(t, "file", sumOf([]byte(testkit.Read(t, path))), sumOf(file))
			testkit.Equal(t, "files", names(t, o.DataDir), []string{"resnet50.safetensors", "resnet50.safetensors.sha256"})
		})
	}
}

// The SHA-256 of weights is recorded, and later ones must have it. What the check refuses is not kept.
func TestFetchWeights(t *testing.T) {
	file, other := content(1000), content(2000)
	o, _ := served(t, whole(file, ""), whole(other, ""), whole(other, ""), whole(other, ""))
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
	o, ranges := served(t, whole([]byte("<html>"), `"a"`), breaking(whole(release, `"b"`), 3000), whole(release, `"b"`), whole(meta, ""))
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, XianURL+": expected a ZIP archive")
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, "found an end after 3000 bytes")
	for _, name := range []string{"cub", "sun"} { // the second one needs no download
		r := testkit.Must(Fetch(t.Context(), name, o))(t)
		folder := filepath.Join(o.DataDir, strings.ToUpper(name))
		testkit.Equal(t, name, *r, Result{name, folder, []File{
			{XianURL, filepath.Join(o.DataDir, XianFile), sumOf(release)}, {MetaURL, filepath.Join(o.DataDir, MetaFile), sumOf(meta)},
		}, ""})
		testkit.Equal(t, "files", len(names(t, folder)), 8)
		testkit.Equal(t, "content", sumOf([]byte(testkit.Read(t, filepath.Join(folder, "att_splits.mat")))), sumOf(content(1001)))
	}
	testkit.Equal(t, "ranges", strings.Join(*ranges, ","), ",,3000-,")
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
	if testkit.WantError(t, err, "interrupted. ", "same command"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o.Check, release[3000] = check, release[3000]+1
	testkit.Write(t, o.DataDir, XianFile, string(release))
	testkit.NoError(t, os.Remove(filepath.Join(o.DataDir, XianFile+".sha256")))
	testkit.Fails(Fetch(t.Context(), "cub", o))(t, XianFile, "checksum", "remove it first")
	testkit.Equal(t, "data", names(t, o.DataDir), []string{"LAGO.zip", "LAGO.zip.sha256", "SUN", "xlsa17.zip"})
}
