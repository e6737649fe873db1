package xlsa17

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/internal/testkit"
)

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
func (c cached) load(t *testing.T, messages ...string) {
	t.Helper()
	c.hook.Reset()
	wantSame(t, smallDataset(), testkit.Must(Load(t.Context(), c.dir, c.opts))(t))
	entries := c.hook.AllEntries()
	if len(entries) != len(messages) {
		t.Errorf("the log has %d entries, want %q", len(entries), messages)
	}
	for i := range min(len(entries), len(messages)) {
		if !strings.HasPrefix(entries[i].Message, messages[i]) {
			t.Errorf("the log says %q, want %q", entries[i].Message, messages[i])
		}
	}
}

func TestCache(t *testing.T) {
	c, other := newCached(t), newCached(t)
	c.opts.NoCache = true
	c.load(t)
	if _, err := os.Stat(filepath.Dir(c.opts.CacheDir)); err == nil {
		t.Error("there is a cache folder in spite of NoCache")
	}
	c.opts.NoCache = false
	other.opts.CacheDir = c.opts.CacheDir // for a folder of the same name
	for _, c := range []cached{c, other} {
		c.load(t)
	}
	for _, c := range []cached{c, other} {
		c.load(t, msgFromCache)
	}
	testkit.NoError(t, os.Chtimes(filepath.Join(c.dir, featuresMat), time.Time{}, time.Unix(1e9, 0)))
	c.load(t, msgUnusable)
	c.load(t, msgFromCache)
}

// Features are read even where the cache cannot be written or read, or is in no place.
func TestCacheUnusablePlace(t *testing.T) {
	c := newCached(t)
	testkit.Write(t, filepath.Dir(filepath.Dir(c.opts.CacheDir)), "below", "a file where the folder should be")
	c.load(t, msgUnusable, msgNotCached)
	c.opts.CacheDir = ""
	for _, home := range []string{t.TempDir(), ""} {
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
			t.Setenv(name, home)
		}
		if home != "" {
			c.load(t)
			c.load(t, msgFromCache)
		}
	}
	c.load(t, msgNoPlace)
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
		"the sum": {".json", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"features_sum": "`), []byte(`"features_sum": "0`), 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t)
			c.load(t)
			found := testkit.Must(filepath.Glob(filepath.Join(c.opts.CacheDir, "small-res101.mat-*"+damage.extension)))(t)
			if len(found) != 1 {
				t.Fatalf("the cache has %v", found)
			}
			whole := testkit.Read(t, found[0])
			testkit.NoError(t, os.WriteFile(found[0], damage.change([]byte(whole)), 0o666))
			c.load(t, msgUnusable)
			if testkit.Read(t, found[0]) != whole {
				t.Error("the cache is not replaced")
			}
			c.load(t, msgFromCache)
		})
	}
}
