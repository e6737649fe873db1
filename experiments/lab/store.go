package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Stored is a stored result of a question.
type Stored struct {
	Version     int             `json:"version"` // of the form of results
	Kind        string          `json:"kind"`    // see below
	Dataset     string          `json:"dataset"`
	Fingerprint string          `json:"fingerprint"` // of the data set and its split
	Config      json.RawMessage `json:"config"`      // of the question
	Result      json.RawMessage `json:"result"`      // what the command prints with --json

	Path string    `json:"-"`
	Time time.Time `json:"-"` // when it was stored
}

// storedVersion changes with the form of results, so that those of other versions of the program are
// not read.
const storedVersion = 3

// Store writes the result of a question in the folder of the lab, as
// KIND-DATASET-DIGEST.json with a digest of the data and the configuration, so that one
// configuration does not overwrite the result of another.
func (l *Lab) Store(kind string, config, result any) (err error) {
	s := Stored{Version: storedVersion, Kind: kind, Dataset: l.Data.Name, Fingerprint: l.Fingerprint()}
	if s.Config, err = json.Marshal(config); err != nil {
		return err
	}
	if s.Result, err = json.Marshal(result); err != nil {
		return err
	}
	of := s.Fingerprint + string(s.Config)
	for _, p := range l.Parts {
		of += p.Fingerprint
	}
	digest := sha256.Sum256([]byte(of))
	name := fmt.Sprintf("%s-%s-%s.json", kind, strings.ToLower(strings.ReplaceAll(l.Data.Name, string(filepath.Separator), "_")), hex.EncodeToString(digest[:4]))
	return fileio.WriteSealed(filepath.Join(l.Root, name), s)
}

var storedName = regexp.MustCompile(`^[a-z-]+-.+-[0-9a-f]{8}\.json$`)

// maxStoredBytes is far more than a result needs.
const maxStoredBytes = 1 << 28

// ReadStored reads the results that Store wrote into a folder, the newest first, and lists
// the files that cannot be read.
func ReadStored(ctx context.Context, root string) (list []Stored, unreadable []Missing, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, invalid.File(root, err)
	}
	for _, e := range entries {
		if e.IsDir() || !storedName.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(root, e.Name())
		s, err := readStored(ctx, path)
		if err != nil {
			unreadable = append(unreadable, *NewMissing(path, Broken, err))
			continue
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b Stored) int { return b.Time.Compare(a.Time) })
	return list, unreadable, nil
}

func readStored(ctx context.Context, path string) (s Stored, err error) {
	data, err := fileio.ReadRegularFile(ctx, path, maxStoredBytes)
	if err != nil {
		return s, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return s, invalid.File(path, err)
	}
	s.Path, s.Time = path, info.ModTime()
	if err := fileio.DecodeSealed(data, &s); err != nil || s.Version != storedVersion {
		return s, &invalid.Error{Where: path, Want: "a result that this version of lago-train stored", Hint: "Repeat the command that stored it."}
	}
	return s, nil
}

// Decode reads the result. The error is an *invalid.Error that names the file.
func (s Stored) Decode(result any) error {
	if err := json.Unmarshal(s.Result, result); err != nil {
		return &invalid.Error{Where: s.Path, Field: "result", Want: "a result of " + s.Kind, Got: "other JSON", Hint: "Repeat the command that stored it."}
	}
	return nil
}
