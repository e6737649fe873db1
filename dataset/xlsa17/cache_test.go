package xlsa17

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
)

const featuresMat = "res101.mat"

// Messages about the cache.
const (
	msgFromCache = "features are read from the cache"
	msgStale     = "the file has changed since its features were cached"
	msgUnusable  = "the cached features cannot be used"
	msgNotCached = "features are not cached"
	msgNoPlace   = "features are not cached: there is no cache folder"
	msgNoFile    = "features are not cached: the cache is no regular file"
)

// cached is a small folder with a cache, and what is logged.
type cached struct {
	dir  string
	opts Options
	hook *logtest.Hook
}

func newCached(t *testing.T, s *small) cached {
	t.Helper()
	log, hook := quietLog()
	return cached{dir: s.write(t), opts: Options{CacheDir: filepath.Join(t.TempDir(), "below", "cache"), Log: log}, hook: hook}
}

// load reads the folder, and checks what is logged about the cache.
func (c cached) load(t *testing.T, messages ...string) *dataset.Dataset {
	t.Helper()
	c.hook.Reset()
	d, err := Load(t.Context(), c.dir, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	entries := c.hook.AllEntries()
	if len(entries) != len(messages) {
		t.Errorf("the log has %d entries, want %q", len(entries), messages)
	}
	for i := range min(len(entries), len(messages)) {
		if !strings.HasPrefix(entries[i].Message, messages[i]) {
			t.Errorf("the log says %q, want %q", entries[i].Message, messages[i])
		}
	}
	return d
}

// file returns the path and content of the one file in the cache folder.
func (c cached) file(t *testing.T) (path string, content []byte) {
	t.Helper()
	entries, err := os.ReadDir(c.opts.CacheDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Fatalf("the cache folder has %v", entries)
	}
	path = filepath.Join(c.opts.CacheDir, entries[0].Name())
	content, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func wantSame(t *testing.T, want, got *dataset.Dataset) {
	t.Helper()
	if diff := diffDatasets(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCacheGivesSameDataset(t *testing.T) {
	c := newCached(t, newSmall())
	wantSame(t, smallDataset(), c.load(t))
	wantSame(t, smallDataset(), c.load(t, msgFromCache))
	path, _ := c.file(t)
	if name := filepath.Base(path); !strings.HasPrefix(name, "small-res101.mat-") {
		t.Errorf("the file in the cache is named %s", name)
	}
}

// A file that differs in any way from the one that was cached is read.
func TestCacheOfChangedFile(t *testing.T) {
	changed := newSmall()
	x := make([]float64, 24)
	x[3] = 17
	changed.set(doubles("features", 2, 12, x...))
	for name, change := range map[string]struct {
		vars     []*matlab.Array
		keepTime bool
	}{
		"time":                        {newSmall().features, false},
		"size, at the same time":      {append(newSmall().features, column("more", 1)), true},
		"content of the size, time":   {changed.features, false},
		"content at the size of then": {changed.features, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t, newSmall())
			c.load(t)
			path := filepath.Join(c.dir, featuresMat)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			writeMat(t, path, change.vars...)
			then := info.ModTime()
			if !change.keepTime {
				then = then.Add(-time.Hour)
			}
			if err := os.Chtimes(path, time.Time{}, then); err != nil {
				t.Fatal(err)
			}
			got := c.load(t, msgStale)
			opts := c.opts
			opts.NoCache = true
			want, err := Load(t.Context(), c.dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, want, got)
			wantSame(t, want, c.load(t, msgFromCache))
		})
	}
}

// The cache of one file is not used for another, even if the other looks the same.
func TestCacheOfAnotherFile(t *testing.T) {
	a, b := newCached(t, newSmall()), newCached(t, newSmall())
	b.opts.CacheDir = a.opts.CacheDir
	file := filepath.Join(b.dir, featuresMat)
	info, err := os.Stat(filepath.Join(a.dir, featuresMat))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	a.load(t)
	_, content := a.file(t)
	b.load(t)
	a.load(t, msgFromCache) // though both folders have one name
	b.load(t, msgFromCache)

	if err := os.WriteFile(filepath.Join(b.opts.CacheDir, cacheName(file)), content, 0o666); err != nil {
		t.Fatal(err)
	}
	wantSame(t, smallDataset(), b.load(t, msgStale))
}

// Features are read even where the cache cannot be written or read.
func TestCacheUnwritable(t *testing.T) {
	c := newCached(t, newSmall())
	writeText(t, filepath.Dir(c.opts.CacheDir), "a file where the folder should be")
	for range 2 {
		wantSame(t, smallDataset(), c.load(t, msgUnusable, msgNotCached))
	}
}

func TestNoCache(t *testing.T) {
	c := newCached(t, newSmall())
	c.opts.NoCache = true
	wantSame(t, smallDataset(), c.load(t))
	if _, err := os.Stat(filepath.Dir(c.opts.CacheDir)); err == nil {
		t.Error("there is a cache folder")
	}

	c.opts.NoCache = false
	c.load(t)
	path, content := c.file(t)
	if err := os.WriteFile(path, content[1:], 0o666); err != nil {
		t.Fatal(err)
	}
	c.opts.NoCache = true
	c.load(t)
	if _, now := c.file(t); !bytes.Equal(content[1:], now) {
		t.Error("the cache is written")
	}
}

// Without Options.CacheDir the cache is in the user's cache folder.
func TestCacheInUserFolder(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	c := newCached(t, newSmall())
	c.opts.CacheDir = ""
	c.load(t)
	c.load(t, msgFromCache)
	user, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	c.opts.CacheDir = filepath.Join(user, "lago-train")
	c.file(t)

	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, "")
	}
	c.opts.CacheDir = ""
	wantSame(t, smallDataset(), c.load(t, msgNoPlace))
}

// A damaged cache is not used, and is replaced.
func TestCacheDamaged(t *testing.T) {
	const payload = 4 * 24 // features
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			if at < 0 {
				at += len(b)
			}
			b[at] ^= 0x10
			return b
		}
	}
	cut := func(n int) func([]byte) []byte {
		return func(b []byte) []byte { return b[:(n+len(b))%len(b)] }
	}
	for name, damage := range map[string]func([]byte) []byte{
		"nothing left":            cut(0),
		"cut in the prefix":       cut(cachePrefix - 1),
		"cut after the prefix":    cut(cachePrefix),
		"cut in the header":       cut(cachePrefix + 20),
		"cut before the payload":  cut(-payload),
		"cut by a byte":           cut(-1),
		"longer by a byte":        func(b []byte) []byte { return append(b, 0) },
		"a byte of the magic":     flip(0),
		"the checksum":            flip(len(cacheMagic)),
		"the length":              flip(len(cacheMagic) + 4),
		"the length, to much":     flip(len(cacheMagic) + 7),
		"the end of the header":   flip(-payload - 5),
		"a label":                 func(b []byte) []byte { return bytes.Replace(b, []byte("[0,1,2"), []byte("[0,2,2"), 1) },
		"a feature":               flip(-1),
		"something else entirely": func([]byte) []byte { return []byte("not features, but words of some length") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t, newSmall())
			c.load(t)
			path, whole := c.file(t)
			if err := os.WriteFile(path, damage(bytes.Clone(whole)), 0o666); err != nil {
				t.Fatal(err)
			}
			wantSame(t, smallDataset(), c.load(t, msgUnusable))
			entry := c.hook.LastEntry()
			if entry.Level != logrus.WarnLevel || entry.Data[logrus.ErrorKey] == nil || entry.Data["cache"] != path {
				t.Errorf("the log says %v, %v", entry.Level, entry.Data)
			}
			if _, again := c.file(t); !bytes.Equal(whole, again) {
				t.Error("the cache is not replaced")
			}
			wantSame(t, smallDataset(), c.load(t, msgFromCache))
		})
	}
}

// someFeatures returns features that depend on seed.
func someFeatures(samples, dimensions int, seed int) *features {
	x := &features{values: dataset.NewMatrix[float32](samples, dimensions), labels: make([]int, samples), sum: fmt.Sprint("sum of ", seed)}
	for i := range x.labels {
		x.labels[i] = (i + seed) % 7
	}
	for i := range x.values.Data {
		x.values.Data[i] = float32(seed + i%1024)
	}
	return x
}

// What is written is read again, unless any one bit of it differs.
func TestCacheFileProperty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 9)
		want := someFeatures(size.Draw(t, "samples"), size.Draw(t, "dimensions"), size.Draw(t, "seed"))
		want.file = rapid.String().Draw(t, "file")
		src := source{Path: want.file, Size: rapid.Int64().Draw(t, "size"), ModTime: rapid.Int64().Draw(t, "time")}
		if err := writeCache(path, src, want); err != nil {
			t.Fatal(err)
		}
		got, err := readCache(t.Context(), path, src)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(features{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}

		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bit := rapid.IntRange(0, 8*len(content)-1).Draw(t, "bit")
		content[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readCache(t.Context(), path, src); err == nil {
			t.Fatalf("bit %d of %d is turned, and the error is %v", bit, 8*len(content), err)
		}
	})
}

// A header may declare anything, even if the checksum is right.
func FuzzCacheFile(f *testing.F) {
	for _, h := range []string{
		"{}", "", "null", `{"labels":[0],"dimensions":2}`, `{"labels":[],"dimensions":-1}`, `{"labels":[0,1],"dimensions":4611686018427387904}`,
		`{"source":{"path":"elsewhere"},"labels":[0],"dimensions":2}`, `{"labels":"1"}`,
	} {
		f.Add([]byte(h), make([]byte, 8))
	}
	path := filepath.Join(f.TempDir(), "cache")
	f.Fuzz(func(t *testing.T, header, payload []byte) {
		rest := append(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header...)
		rest = append(rest, payload...)
		content := append(binary.LittleEndian.AppendUint32([]byte(cacheMagic), crc32.Checksum(rest, castagnoli)), rest...)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		x, err := readCache(t.Context(), path, source{})
		if err != nil {
			return
		}
		if n := 4 * len(x.values.Data); n != len(payload) || len(x.labels)*x.values.Cols != len(x.values.Data) {
			t.Errorf("%d bytes give %d labels and %d x %d features", len(payload), len(x.labels), x.values.Rows, x.values.Cols)
		}
	})
}

// identify notices changes of size, and of content at both ends and between.
func TestIdentifySamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	then := time.Unix(1e9, 0)
	identity := func(content []byte) source {
		t.Helper()
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, then); err != nil {
			t.Fatal(err)
		}
		s, err := identify(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, size := range []int{0, 1, sampleBlockSize, 2*sampleBlockSize - 1, sampleBlocks * sampleBlockSize, 1 << 21} {
		content := make([]byte, size)
		before := identity(content)
		if diff := cmp.Diff(before, identity(content)); diff != "" {
			t.Errorf("size %d: the same file (-want +got):\n%s", size, diff)
		}
		if identity(append(content, 0)) == before {
			t.Errorf("size %d: one byte more is not seen", size)
		}
		if size == 0 {
			continue // nothing to change
		}
		for i := range sampleBlocks { // a change in each block, from the first byte of the first to the last of the last
			at := (size - 1) * i / (sampleBlocks - 1)
			content[at] ^= 1
			if identity(content) == before {
				t.Errorf("size %d: a change of byte %d is not seen", size, at)
			}
			content[at] ^= 1
		}
	}
}

// With a cache the .mat is not read: here it has no features.
func TestCacheIsUsed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, featuresMat)
	writeText(t, file, "no MAT-file")
	log, _ := quietLog()
	opts := Options{CacheDir: filepath.Join(dir, "cache"), Log: log}
	want := someFeatures(3, 4, 1)
	want.file = file
	openCache(t.Context(), file, opts).store(want)
	got, err := readFeatures(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(features{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
