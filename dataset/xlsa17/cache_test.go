package xlsa17

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/testkit"
)

const featuresMat = "res101.mat"

// Messages about the cache.
const (
	msgFromCache = "features are read from the cache"
	msgUnusable  = "the cached features cannot be used"
	msgNotCached = "features are not cached"
	msgNoPlace   = "features are not cached: there is no cache folder"
)

// cached is a small folder with a cache, and what is logged.
type cached struct {
	dir  string
	opts Options
	hook *logtest.Hook
}

func newCached(t *testing.T) cached {
	t.Helper()
	log, hook := quietLog()
	return cached{dir: newSmall().write(t), opts: Options{CacheDir: filepath.Join(t.TempDir(), "below", "cache"), Log: log}, hook: hook}
}

// load reads the folder, and checks what is logged about the cache.
func (c cached) load(t *testing.T, messages ...string) *dataset.Dataset {
	t.Helper()
	c.hook.Reset()
	d := testkit.Must(Load(t.Context(), c.dir, c.opts))(t)
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

// path returns the path of the one file with an extension in the cache folder.
func (c cached) path(t *testing.T, extension string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(c.opts.CacheDir, "small-res101.mat-*"+extension))
	if err != nil || len(found) != 1 {
		t.Fatalf("the cache folder has %v, %v", found, err)
	}
	return found[0]
}

func TestCache(t *testing.T) {
	c := newCached(t)
	c.opts.NoCache = true
	wantSame(t, smallDataset(), c.load(t))
	if _, err := os.Stat(filepath.Dir(c.opts.CacheDir)); err == nil {
		t.Error("there is a cache folder in spite of NoCache")
	}
	c.opts.NoCache = false
	wantSame(t, smallDataset(), c.load(t))
	wantSame(t, smallDataset(), c.load(t, msgFromCache))
	path := c.path(t, ".json")
	testkit.Write(t, c.opts.CacheDir, filepath.Base(path), "{}")
	c.opts.NoCache = true
	c.load(t)
	if text := testkit.Read(t, path); text != "{}" {
		t.Errorf("the cache is written in spite of NoCache: %s", text)
	}
}

// A file of another time or size than the one that was cached is read, and so is another file.
func TestCacheOfChangedFile(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string, then time.Time){
		"time": func(t *testing.T, path string, then time.Time) {
			testkit.NoError(t, os.Chtimes(path, time.Time{}, then.Add(-time.Hour)))
		},
		"size": func(t *testing.T, path string, then time.Time) {
			writeMat(t, path, append(newSmall().features, column("more", 1))...)
			testkit.NoError(t, os.Chtimes(path, time.Time{}, then))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t)
			c.load(t)
			path := filepath.Join(c.dir, featuresMat)
			change(t, path, testkit.Must(os.Stat(path))(t).ModTime())
			wantSame(t, smallDataset(), c.load(t, msgUnusable))
			wantSame(t, smallDataset(), c.load(t, msgFromCache))
		})
	}
	a, b := newCached(t), newCached(t)
	b.opts.CacheDir = a.opts.CacheDir
	a.load(t)
	b.load(t)
	a.load(t, msgFromCache)
	b.load(t, msgFromCache)
}

// Features are read even where the cache cannot be written or read, or is in no place.
func TestCacheUnusablePlace(t *testing.T) {
	c := newCached(t)
	testkit.Write(t, filepath.Dir(filepath.Dir(c.opts.CacheDir)), "below", "a file where the folder should be")
	wantSame(t, smallDataset(), c.load(t, msgUnusable, msgNotCached))

	c = newCached(t)
	c.load(t)
	path := c.path(t, ".json")
	testkit.NoError(t, os.Remove(path))
	testkit.NoError(t, os.Mkdir(path, 0o700))
	wantSame(t, smallDataset(), c.load(t, msgUnusable, msgNotCached))

	c.opts.CacheDir = ""
	for _, home := range []string{t.TempDir(), ""} {
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
			t.Setenv(name, home)
		}
		if home != "" {
			c.load(t)
			wantSame(t, smallDataset(), c.load(t, msgFromCache))
		}
	}
	wantSame(t, smallDataset(), c.load(t, msgNoPlace))
}

// A damaged cache is not used, and is replaced.
func TestCacheDamaged(t *testing.T) {
	for name, damage := range map[string]struct {
		extension string
		change    func([]byte) []byte
	}{
		"a feature":              {".npy", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		"the shape":              {".npy", func(b []byte) []byte { return bytes.Replace(b, []byte("(12, 2)"), []byte("(2, 12)"), 1) }},
		"an entry cut by a byte": {".json", func(b []byte) []byte { return b[:len(b)-2] }},
		"a label":                {".json", func(b []byte) []byte { return bytes.Replace(b, []byte("1,"), []byte("2,"), 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t)
			c.load(t)
			path := c.path(t, damage.extension)
			whole := testkit.Read(t, path)
			testkit.NoError(t, os.WriteFile(path, damage.change([]byte(whole)), 0o666))
			wantSame(t, smallDataset(), c.load(t, msgUnusable))
			entry := c.hook.LastEntry()
			if entry.Data[logrus.ErrorKey] == nil || entry.Data["cache"] != c.path(t, ".npy") {
				t.Errorf("the log has %v", entry.Data)
			}
			if testkit.Read(t, path) != whole {
				t.Error("the cache is not replaced")
			}
			wantSame(t, smallDataset(), c.load(t, msgFromCache))
		})
	}
}

// An entry may declare anything.
func FuzzCacheEntry(f *testing.F) {
	for _, text := range []string{"{}", "", "null", `{"labels":[0],"crc32":2}`, `{"labels":[]}`, `{"source":{"path":"elsewhere"}}`, `{"labels":"1"}`} {
		f.Add([]byte(text))
	}
	c := &cache{path: filepath.Join(f.TempDir(), "cache")}
	var array bytes.Buffer
	testkit.NoError(f, npy.Write(&array, 2, 3, make([]float32, 6)))
	testkit.NoError(f, os.WriteFile(c.path+".npy", array.Bytes(), 0o666))
	sum := dataset.SumFeatures(dataset.NewMatrix[float32](2, 3))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e entry
		if json.Unmarshal(text, &e) == nil { // with the right checksum, whatever else it says
			e.Source, e.FeaturesSum = source{}, sum
			e.CRC32 = e.checksum()
			text = testkit.Must(json.Marshal(e))(t)
		}
		testkit.NoError(t, os.WriteFile(c.path+".json", text, 0o666))
		if x, err := c.read(t.Context()); err == nil && (len(x.labels) != 2 || len(x.values.Data) != 6) {
			t.Errorf("%d labels and %d x %d features", len(x.labels), x.values.Rows, x.values.Cols)
		}
	})
}
