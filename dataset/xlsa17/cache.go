package xlsa17

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"
)

// cache keeps the parsed features of one file. A nil cache keeps nothing.
type cache struct {
	path   string
	source source
	log    logrus.FieldLogger
}

// openCache returns the cache of a file of features, nil where there is to be
// none. That no place for it can be found is no error, only slower.
func openCache(file string, opts Options) (*cache, error) {
	if opts.NoCache || !littleEndian {
		return nil, nil
	}
	dir := opts.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			opts.Log.WithError(err).Warn("features are not cached: there is no cache folder")
			return nil, nil
		}
		dir = filepath.Join(user, "lago-train")
	}
	src, err := identify(file)
	if err != nil {
		return nil, fileError(file, err)
	}
	path := filepath.Join(dir, cacheName(file))
	return &cache{path: path, source: src, log: opts.Log.WithFields(logrus.Fields{"file": file, "cache": path})}, nil
}

// cacheName is readable, and unlike for files of the same name elsewhere.
func cacheName(file string) string {
	sum := sha256.Sum256([]byte(file))
	folder := strings.ToLower(filepath.Base(filepath.Dir(file)))
	return fmt.Sprintf("%s-%s-%s.features", folder, filepath.Base(file), hex.EncodeToString(sum[:6]))
}

// load returns the features, or nil where they must be parsed.
func (c *cache) load() *features {
	if c == nil {
		return nil
	}
	x, err := readCache(c.path, c.source)
	switch {
	case err == nil:
		c.log.Debug("features are read from the cache")
		return x
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errStale):
		c.log.Info("the file has changed since its features were cached: reading it again")
	default:
		c.log.WithError(err).Warn("the cached features cannot be used: reading the file again")
	}
	return nil
}

// store writes the features; where it cannot, the next start is slow, which is
// worth a warning.
func (c *cache) store(x *features) {
	if c == nil {
		return
	}
	if err := writeCache(c.path, c.source, x); err != nil {
		c.log.WithError(err).Warn("features are not cached")
	}
}
