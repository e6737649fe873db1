package xlsa17

import (
	"bytes"
	"encoding/json"
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
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/testkit"
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
		"content at the size of then": {changed.features, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t)
			c.load(t)
			path := filepath.Join(c.dir, featuresMat)
			then := testkit.Must(os.Stat(path))(t).ModTime()
			writeMat(t, path, change.vars...)
			if !change.keepTime {
				then = then.Add(-time.Hour)
			}
			testkit.NoError(t, os.Chtimes(path, time.Time{}, then))
			got := c.load(t, msgStale)
			want := testkit.Must(Load(t.Context(), c.dir, Options{NoCache: true, Log: c.opts.Log}))(t)
			wantSame(t, want, got)
			wantSame(t, want, c.load(t, msgFromCache))
		})
	}
}

// The cache of one file is not used for another of the same name and time.
func TestCacheOfAnotherFile(t *testing.T) {
	a, b := newCached(t), newCached(t)
	info := testkit.Must(os.Stat(filepath.Join(a.dir, featuresMat)))(t)
	testkit.NoError(t, os.Chtimes(filepath.Join(b.dir, featuresMat), time.Time{}, info.ModTime()))
	a.load(t)
	b.load(t)
	for _, extension := range []string{".json", ".npy"} {
		testkit.NoError(t, os.Rename(a.path(t, extension), b.path(t, extension)))
	}
	wantSame(t, smallDataset(), b.load(t, msgStale))
	b.opts.CacheDir = a.opts.CacheDir
	a.load(t)
	b.load(t)
	a.load(t, msgFromCache)
	b.load(t, msgFromCache)
}

// Features are read even where the cache cannot be written or read, is in no place, or is no
// regular file, which is then not replaced.
func TestCacheUnusablePlace(t *testing.T) {
	c := newCached(t)
	testkit.Write(t, filepath.Dir(filepath.Dir(c.opts.CacheDir)), "below", "a file where the folder should be")
	wantSame(t, smallDataset(), c.load(t, msgUnusable, msgNotCached))

	c = newCached(t)
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

	for _, extension := range []string{".json", ".npy"} {
		c := newCached(t)
		c.load(t)
		path := c.path(t, extension)
		testkit.NoError(t, os.Remove(path))
		testkit.NoError(t, os.Mkdir(path, 0o700))
		wantSame(t, smallDataset(), c.load(t, msgNoFile))
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
			t.Errorf("the folder was replaced: %v", err)
		}
	}
}

// A damaged cache is not used, and is replaced.
func TestCacheDamaged(t *testing.T) {
	for name, damage := range map[string]struct {
		extension string
		change    func([]byte) []byte
	}{
		"no features":             {".npy", func([]byte) []byte { return nil }},
		"features cut by a byte":  {".npy", func(b []byte) []byte { return b[:len(b)-1] }},
		"a feature":               {".npy", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		"the shape":               {".npy", func(b []byte) []byte { return bytes.Replace(b, []byte("(12, 2)"), []byte("(2, 12)"), 1) }},
		"no entry":                {".json", func([]byte) []byte { return nil }},
		"an entry cut by a byte":  {".json", func(b []byte) []byte { return b[:len(b)-2] }},
		"a label":                 {".json", func(b []byte) []byte { return bytes.Replace(b, []byte("1,"), []byte("2,"), 1) }},
		"a label less":            {".json", func(b []byte) []byte { return bytes.Replace(b, []byte("0,"), nil, 1) }},
		"the checksum":            {".json", func(b []byte) []byte { return bytes.Replace(b, []byte(`crc32c": `), []byte(`crc32c": 1`), 1) }},
		"something else entirely": {".json", func([]byte) []byte { return []byte("no features") }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t)
			c.load(t)
			path := c.path(t, damage.extension)
			whole := testkit.Read(t, path)
			testkit.NoError(t, os.WriteFile(path, damage.change([]byte(whole)), 0o666))
			wantSame(t, smallDataset(), c.load(t, msgUnusable))
			entry := c.hook.LastEntry()
			if entry.Level != logrus.WarnLevel || entry.Data[logrus.ErrorKey] == nil || entry.Data["cache"] != c.path(t, ".npy") {
				t.Errorf("the log says %v, %v", entry.Level, entry.Data)
			}
			if testkit.Read(t, path) != whole {
				t.Error("the cache is not replaced")
			}
			wantSame(t, smallDataset(), c.load(t, msgFromCache))
		})
	}
}

// What is stored is read again, though the .mat has no features, unless a bit of the
// features or of the entry's values differs.
func TestCacheProperty(t *testing.T) {
	dir := t.TempDir()
	file := testkit.Write(t, dir, featuresMat, "no MAT-file")
	log, hook := quietLog()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9)
		x := dataset.NewMatrix[float32](n.Draw(t, "samples"), n.Draw(t, "dimensions"))
		for i := range x.Data {
			x.Data[i] = rapid.Float32().Draw(t, "feature")
		}
		labels := rapid.SliceOfN(rapid.IntRange(0, 1000), x.Rows, x.Rows).Draw(t, "labels")
		want := &features{file: file, values: x, labels: labels, sum: rapid.StringMatching("[a-z]*").Draw(t, "sum")}
		c := openCache(t.Context(), file, Options{CacheDir: filepath.Join(dir, "cache"), Log: log})
		c.store(want)
		got := c.load(t.Context())
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(features{})); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		hook.Reset()

		path := c.path + rapid.SampledFrom([]string{".npy", ".json"}).Draw(t, "damaged")
		content := []byte(testkit.Read(t, path))
		bit := rapid.IntRange(0, 8*len(content)-1).Draw(t, "bit")
		content[bit/8] ^= 1 << (bit % 8)
		testkit.NoError(t, os.WriteFile(path, content, 0o666))
		if got := c.load(t.Context()); got != nil && !cmp.Equal(want, got, cmp.AllowUnexported(features{})) {
			t.Fatalf("bit %d of %d is turned, and other features are read", bit, 8*len(content))
		}
	})
}

// An entry may declare anything.
func FuzzCacheEntry(f *testing.F) {
	for _, text := range []string{"{}", "", "null", `{"labels":[0],"crc32c":2}`, `{"labels":[]}`, `{"source":{"path":"elsewhere"}}`, `{"labels":"1"}`} {
		f.Add([]byte(text))
	}
	c := &cache{path: filepath.Join(f.TempDir(), "cache")}
	var array bytes.Buffer
	testkit.NoError(f, npy.Write(&array, 2, 3, make([]float32, 6)))
	testkit.NoError(f, os.WriteFile(c.path+".npy", array.Bytes(), 0o666))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e entry
		if json.Unmarshal(text, &e) == nil { // with the right checksum, whatever else it says
			e.Source, e.CRC32C = source{}, e.checksum(dataset.NewMatrix[float32](2, 3))
			text = testkit.Must(json.Marshal(e))(t)
		}
		testkit.NoError(t, os.WriteFile(c.path+".json", text, 0o666))
		if x, err := c.read(t.Context()); err == nil && (len(x.labels) != 2 || len(x.values.Data) != 6) {
			t.Errorf("%d labels and %d x %d features", len(x.labels), x.values.Rows, x.values.Cols)
		}
	})
}

// identify notices changes of size, and of content at both ends and between.
func TestIdentifySamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	then := time.Unix(1e9, 0)
	identity := func(content []byte) source {
		t.Helper()
		testkit.NoError(t, os.WriteFile(path, content, 0o666))
		testkit.NoError(t, os.Chtimes(path, time.Time{}, then))
		return testkit.Must(identify(t.Context(), path))(t)
	}
	for _, size := range []int{1, sampleBlockSize, 2*sampleBlockSize - 1, sampleBlocks * sampleBlockSize, 1 << 21} {
		content := make([]byte, size)
		before := identity(content)
		if identity(content) != before || identity(append(content, 0)) == before {
			t.Errorf("size %d: the same file differs, or one with a byte more does not", size)
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
