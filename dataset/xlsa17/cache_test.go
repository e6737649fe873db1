package xlsa17

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// Messages about the cache.
const (
	msgFromCache = "features are read from the cache"
	msgUnusable  = "the cached features cannot be used"
)

// cached is a small folder with a cache, and what is logged.
type cached struct {
	dir, home string
	opts      Options
	hook      *logtest.Hook
}

// logged keeps what is logged, all of it, from being printed.
func logged(t *testing.T) *logtest.Hook {
	log := logrus.StandardLogger()
	level, out := log.Level, log.Out
	log.SetLevel(logrus.DebugLevel)
	log.SetOutput(io.Discard)
	t.Cleanup(func() {
		log.SetLevel(level)
		log.SetOutput(out)
		log.ReplaceHooks(logrus.LevelHooks{})
	})
	return logtest.NewGlobal()
}

func newCached(t *testing.T) cached {
	t.Helper()
	return cached{newSmall().write(t), t.TempDir(), Options{}, logged(t)}
}

// load reads the folder, and checks what is logged about the cache.
func (c cached) load(t *testing.T, messages ...string) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, c.home)
	}
	c.hook.Reset()
	wantSame(t, smallDataset(), testkit.Must(Load(t.Context(), c.dir, c.opts))(t))
	found := ""
	for _, entry := range c.hook.AllEntries() {
		found += entry.Message
	}
	if len(messages) == 0 && found != "" || len(messages) > 0 && !strings.HasPrefix(found, messages[0]) {
		t.Errorf("the log says %q, expected %q", found, messages)
	}
}

// path returns the path of the cached features.
func (c cached) path(t *testing.T) string {
	t.Helper()
	found := withPrefix(openCache(t.Context(), filepath.Join(c.dir, featuresMat)).prefix)
	if len(found) != 1 {
		t.Fatalf("the cache has %v", found)
	}
	return found[0]
}

func TestCache(t *testing.T) {
	c, other := newCached(t), newCached(t)
	c.opts.NoCache = true
	c.load(t)
	testkit.Equal(t, "files of the cache in spite of NoCache", len(testkit.Must(os.ReadDir(c.home))(t)), 0)
	c.opts.NoCache = false
	other.home = c.home // for a folder of the same name
	for _, c := range []cached{c, other} {
		c.load(t)
	}
	for _, c := range []cached{c, other} {
		c.load(t, msgFromCache)
	}
	// Another file of the same size and time is read.
	file := filepath.Join(c.dir, featuresMat)
	was := testkit.Must(os.Stat(file))(t)
	testkit.Write(t, c.dir, featuresMat, "Another"+testkit.Read(t, file)[len("Another"):]) // in the comment
	testkit.NoError(t, os.Chtimes(file, time.Time{}, was.ModTime()))
	c.load(t)
	c.path(t) // the earlier one is removed
	c.load(t, msgFromCache)
}

// Features are read even where the cache cannot be written or read, or is in no place.
func TestCacheUnusablePlace(t *testing.T) {
	c := newCached(t)
	place := testkit.Write(t, c.home, "lago-train", "a file where the folder should be")
	c.load(t, "features are not cached")
	testkit.NoError(t, os.Remove(place))
	c.load(t)
	c.load(t, msgFromCache)
	c.home = ""
	c.load(t, "features are not cached: there is no cache folder")
}

// A damaged cache is not used, and is replaced.
func TestCacheDamaged(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"a feature": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"the shape": func(b []byte) []byte { return bytes.Replace(b, []byte("(12, 2)"), []byte("(2, 12)"), 1) },
	} {
		c := newCached(t)
		c.load(t)
		path := c.path(t)
		whole := testkit.Read(t, path)
		testkit.NoError(t, os.WriteFile(path, damage([]byte(whole)), 0o666))
		c.load(t, msgUnusable)
		testkit.Equal(t, name, testkit.Read(t, path), whole)
		c.load(t, msgFromCache)
	}
}

// Features of a file that turns out to be damaged behind them are not cached.
func TestCacheOfADamagedFile(t *testing.T) {
	c := newCached(t)
	s := newSmall()
	damaged := matfile.Compress(s.features[varFeatures])
	damaged[len(damaged)-1] ^= 1 // of the checksum
	testkit.Write(t, c.dir, featuresMat, string(matfile.File(s.features[varLabels], damaged)))
	t.Setenv("XDG_CACHE_HOME", c.home)
	_, err := Load(t.Context(), c.dir, c.opts)
	testkit.WantError(t, err, "features, byte 160 of the compressed data")
	if all := testkit.Must(os.ReadDir(filepath.Join(c.home, "lago-train")))(t); len(all) > 0 {
		t.Errorf("the cache has %v", all)
	}
}
