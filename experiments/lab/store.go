package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
)

// stored is the form of a stored result.
type stored struct {
	Fingerprint string          `json:"fingerprint"` // of the data set and its split
	Config      json.RawMessage `json:"config"`
	Result      json.RawMessage `json:"result"`
}

// Store writes the result of a question in the folder of the lab, as
// KIND-DATASET-DIGEST.json with a digest of the data and the configuration, so that one
// configuration does not overwrite the result of another.
func (l *Lab) Store(kind string, config, result any) (err error) {
	s := stored{Fingerprint: l.Fingerprint()}
	if s.Config, err = json.Marshal(config); err != nil {
		return err
	}
	if s.Result, err = json.Marshal(result); err != nil {
		return err
	}
	digest := sha256.Sum256(append([]byte(s.Fingerprint), s.Config...))
	name := fmt.Sprintf("%s%s.json", prefix(kind, l.Data.Name), hex.EncodeToString(digest[:4]))
	return atomicfile.WriteJSON(filepath.Join(l.Root, name), s)
}

func prefix(kind, dataset string) string {
	return fmt.Sprintf("%s-%s-", kind, strings.ToLower(dataset))
}

// FindStored reads the result that Store wrote last for a data set with a fingerprint, and
// returns its file. The error is fs.ErrNotExist if there is none.
func FindStored(root, kind, dataset, fingerprint string, result any) (path string, err error) {
	pattern := prefix(kind, dataset)
	entries, err := os.ReadDir(root)
	if err != nil {
		return "", invalid.File(root, err)
	}
	var latest time.Time
	var found stored
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(e.Name(), pattern) || len(e.Name()) != len(pattern)+len("12345678.json") {
			continue
		}
		file := filepath.Join(root, e.Name())
		s, err := readStored(file)
		if err != nil {
			return file, err
		}
		if s.Fingerprint == fingerprint && !info.ModTime().Before(latest) {
			latest, found, path = info.ModTime(), s, file
		}
	}
	if path == "" {
		return filepath.Join(root, pattern+"*.json"), fs.ErrNotExist
	}
	if err := json.Unmarshal(found.Result, result); err != nil {
		return path, notStored(path, err)
	}
	return path, nil
}

// readStored reads a file that Store wrote.
func readStored(file string) (s stored, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return s, invalid.File(file, err)
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Result == nil {
		return s, notStored(file, err)
	}
	return s, nil
}

func notStored(file string, err error) error {
	return &invalid.Error{Where: file, Want: "a result that lago-train stored", Err: err}
}

// Subject is what a stored result is about: a data set with a fingerprint.
type Subject struct{ Dataset, Fingerprint string }

// StoredSubjects lists the subjects of the results of some kinds in a folder. The error is
// that of the first file without a result.
func StoredSubjects(root string, kinds ...string) (list []Subject, err error) {
	for _, kind := range kinds {
		names, _ := fs.Glob(os.DirFS(root), kind+"-*.json") // the pattern is valid
		for _, name := range names {
			path := filepath.Join(root, name)
			s, e := readStored(path)
			var about struct{ Dataset string }
			if e == nil {
				if e = json.Unmarshal(s.Result, &about); e != nil || about.Dataset == "" {
					e = notStored(path, e)
				}
			}
			if err = cmp.Or(err, e); e == nil {
				list = append(list, Subject{about.Dataset, s.Fingerprint})
			}
		}
	}
	return list, err
}
