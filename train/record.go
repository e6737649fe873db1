package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/version"
)

// ResultsVersion is raised with each change of the program that can change results.
// Finished runs of another version are not reused.
const ResultsVersion = 3

// hasResultsOf reports whether a trial has the same results by another version of the program:
// version 3 changed only the validation samples of HoldOut.
func (t Trial) hasResultsOf(version int) bool {
	return version == ResultsVersion || version == 2 && !t.HoldOut
}

// Environment is what a run was trained with in addition to its trial. It can change the
// last bits of a result.
type Environment struct {
	Versions map[string]string `json:"versions"` // of the program, Go, the platform and the numeric libraries
	BLAS     blas.Info         `json:"blas"`
}

func currentEnvironment() Environment { return Environment{version.All(), blas.Current()} }

// changes lists what differs now, as in "go go1.25.0, now go1.26.1".
func (e Environment) changes(now Environment) string {
	values := func(e Environment) map[string]string {
		v := map[string]string{"BLAS": e.BLAS.String()}
		maps.Copy(v, e.Versions)
		return v
	}
	old, current := values(e), values(now)
	names := maps.Clone(old)
	maps.Copy(names, current)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if old[name] != current[name] {
			changed = append(changed, fmt.Sprintf("%s %s, now %s", name, cmp.Or(old[name], "unknown"), cmp.Or(current[name], "unknown")))
		}
	}
	return strings.Join(changed, "; ")
}

// Record is the content of trial.json.
type Record struct {
	Trial
	Environment                  // in which the run began
	ResultsVersion int           `json:"results_version"`
	Resumed        []Environment `json:"resumed,omitempty"` // other environments in which it was resumed
}

// ReadRecord reads the trial.json of a run's folder.
func ReadRecord(dir string) (r Record, err error) {
	path := filepath.Join(dir, TrialFile)
	data, err := readFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, &invalid.Error{Where: path, Want: "the settings of a run", Got: "damaged JSON", Hint: trainAgain}
	}
	return r, nil
}

// readRecord reads trial.json, which must be of the trial.
func (t Trial) readRecord(dir string) (Record, error) {
	r, err := ReadRecord(dir)
	if err == nil && r.Trial.Name() != t.Name() {
		err = &invalid.Error{
			Where: filepath.Join(dir, TrialFile), Want: "the settings of " + t.Name(), Got: "others",
			Hint: "The folder holds another run. Delete it to train again.",
		}
	}
	return r, err
}
