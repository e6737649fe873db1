package xlsa17

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
)

const featuresMat = "res101.mat"

// What the log says of the cache.
const (
	msgFromCache = "features are read from the cache"
	msgStale     = "the file has changed since its features were cached"
	msgUnusable  = "the cached features cannot be used"
	msgNotCached = "features are not cached"
	msgNoPlace   = "features are not cached: there is no cache folder"
)

// cached is a small folder, the place of its cache, and what the log says.
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

// load reads the folder, and checks what the log then says of the cache; nothing
// if no messages are given.
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

func tookCache(hook *logtest.Hook) bool {
	return slices.ContainsFunc(hook.AllEntries(), func(e *logrus.Entry) bool { return e.Message == msgFromCache })
}

func TestCacheGivesTheSame(t *testing.T) {
	c := newCached(t, newSmall())
	wantSame(t, smallDataset(), c.load(t))
	wantSame(t, smallDataset(), c.load(t, msgFromCache))
	if level := c.hook.LastEntry().Level; level != logrus.DebugLevel {
		t.Errorf("%q is at the level %v, which tells a person more than is of use", msgFromCache, level)
	}
	path, _ := c.file(t)
	if name := filepath.Base(path); !strings.HasPrefix(name, "small-res101.mat-") {
		t.Errorf("the file in the cache is named %s", name)
	}
}

// changeUnseen makes a feature of a large file an 8 in a place that identify does
// not sample, and puts back the time.
func changeUnseen(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	between := (info.Size()-sampleBlockSize)/(sampleBlocks-1)/2 + sampleBlockSize/2
	if _, err := f.WriteAt([]byte{0, 0, 0, 0x41}, between&^3); err != nil { // in single
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// A start from the cache does not read the features of the .mat: it does not see
// a change of them that only a reading of the whole file would show.
func TestCacheSparesTheReading(t *testing.T) {
	const samples, dimensions = 48, 4096 // 786 kB of float32, more than identify reads
	s := newSmall()
	s.set(&matlab.Array{Name: "features", Class: matlab.Single, Dims: []int{dimensions, samples}, Float32: make([]float32, samples*dimensions)})
	labels := make([]float64, samples)
	for i := range labels {
		labels[i] = float64(i%6 + 1)
	}
	s.set(column("labels", labels...))
	s.drop("train_loc", "val_loc", "test_unseen_loc") // which are of 12 samples
	c := newCached(t, s)
	seesChange := func(messages ...string) bool {
		return slices.Contains(c.load(t, messages...).Features.Data, 8)
	}
	if seesChange() {
		t.Error("the change is seen before it is there")
	}
	path := filepath.Join(c.dir, featuresMat)
	changeUnseen(t, path)
	if seesChange(msgFromCache) {
		t.Error("the change is seen in the cache")
	}
	touch(t, path)
	if !seesChange(msgStale) || !seesChange(msgFromCache) {
		t.Error("the change is not seen in the file, or not in what is then cached of it")
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
}

// A file that is not the one that was cached, in whatever way, is read.
func TestCacheOfAnotherState(t *testing.T) {
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

// Starts within one process may read and make the cache at once.
func TestCacheAtOnce(t *testing.T) {
	c := newCached(t, newSmall())
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for range 3 {
				d, err := Load(t.Context(), c.dir, c.opts)
				if err != nil {
					t.Error(err)
					return
				}
				wantSame(t, smallDataset(), d)
			}
		})
	}
	g.Wait()
	c.load(t, msgFromCache)
}

// What was made of one file does not stand in for another, even where the other
// looks the same.
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

// Where the cache cannot be written, or read, features are as they would be.
func TestCacheUnwritable(t *testing.T) {
	t.Run("folder", func(t *testing.T) {
		c := newCached(t, newSmall())
		writeText(t, filepath.Dir(c.opts.CacheDir), "a file where the folder should be")
		for range 2 {
			wantSame(t, smallDataset(), c.load(t, msgUnusable, msgNotCached))
		}
	})
	t.Run("file", func(t *testing.T) {
		c := newCached(t, newSmall())
		c.load(t)
		path, _ := c.file(t)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(path, "file"), "in a folder where the file should be")
		wantSame(t, smallDataset(), c.load(t, msgUnusable, msgNotCached))
		if level := c.hook.LastEntry().Level; level != logrus.WarnLevel {
			t.Errorf("the log says so at the level %v", level)
		}
	})
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

// Without Options.CacheDir the cache is in the user's cache folder, wherever the
// system has that.
func TestCacheDirOfTheUser(t *testing.T) {
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
