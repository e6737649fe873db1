package atomicfile

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// temporary matches the names that createTemporary gives.
var temporary = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.tmp$`)

// errLocked is the error of tryLock for a file that another writer has locked.
var errLocked = errors.New("the file is locked")

// removeAbandoned removes the temporary files in a folder whose writers were killed,
// which are those without a lock. They stay in a folder that cannot be read and on a file
// system without locks.
func removeAbandoned(dir string) {
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if tryLock(f) == nil && isAt(f, path) {
			_ = os.Remove(path) // another process may have done it
		}
		_ = f.Close() // nothing was written
	}
}
