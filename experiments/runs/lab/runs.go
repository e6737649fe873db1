package lab

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Run is a trial that was asked for, and its result.
type Run struct {
	train.Trial
	Correction model.Correction // see Evaluate; of a run that was read, that of its decision
	Dir        string
	Result     *train.Result     // nil if there is none
	Evaluation *train.Evaluation // with the correction; nil without a model
	Missing    *Missing          // why there is no model; nil if there is one
	Reused     bool              // finished before this process asked for it
}

// State says why there is no model.
type State string

// The states of what is missing.
const (
	Failed     State = "failed"     // in training
	Broken     State = "broken"     // a file cannot be read
	Unfinished State = "unfinished" // not started, or interrupted
	Waiting    State = "waiting"    // left to another shard, which has not finished it
	LeftOut    State = "left out"   // the data set does not allow the method
)

// Missing is a run without a model, a result that cannot be read, or a method that the data set does
// not allow. It is an error.
type Missing struct {
	Name string `json:"name"` // folder of the run, file of the result, or name of the method
	// failed, broken (unreadable), unfinished, waiting (for another shard) or left out
	State State  `json:"state"`
	Why   string `json:"why"`
	Epoch int    `json:"-"` // of the checkpoint of an unfinished run, 0 before the first
}

func (m *Missing) Error() string { return m.Name + ": " + m.Why }

// NewMissing says why a run, or another file, has nothing to show. The reason names files within it.
func NewMissing(name string, s State, err error) *Missing {
	why := strings.TrimPrefix(err.Error(), name)
	return &Missing{Name: name, State: s, Why: strings.TrimLeft(why, ": "+string(filepath.Separator))}
}

// ReadRuns reads the runs below root, in the order of their names. Files, and folders without a
// trial.json, are not runs.
func ReadRuns(root string) ([]Run, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, invalid.Folder(root, "a folder of runs", err)
	}
	var runs []Run
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(root, e.Name())); err == nil && !info.IsDir() {
			continue
		}
		r, err := ReadRun(filepath.Join(root, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// ReadRun reads the run of a folder. The error is that of its trial.json; it is in Missing too.
func ReadRun(dir string) (Run, error) {
	record, err := train.ReadRecord(dir)
	r := Run{Trial: record.Trial, Dir: dir}
	if err != nil {
		r.Missing = NewMissing(dir, Broken, err)
		return r, err
	}
	r.read()
	if r.Missing == nil && r.Result == nil {
		r.Missing = unfinished(dir, r.Stage)
	}
	if r.Missing == nil {
		decided, err := train.ReadDecision(dir)
		if r.Evaluate(decided.Correction()); err == nil && r.Evaluation == nil {
			err = invalid.At(filepath.Join(dir, train.ModelFile),
				invalid.Expected("", "another", "a correction of the method"))
		}
		if err != nil {
			r.Missing = NewMissing(dir, Broken, err)
		}
	}
	return r, nil
}

// CheckFinished returns an *invalid.Error unless the run has a result and a model.
func (r Run) CheckFinished() error {
	if r.Missing == nil {
		return nil
	}
	return &invalid.Error{Where: r.Dir, Want: "a finished run", Got: r.Missing.Why}
}

// Decide decides the corrections with which runs are evaluated. A decision with another correction is
// replaced as a whole, since what else it has rests on that. Runs without a model are left out.
func (l *Lab) Decide(ctx context.Context, runs []Run) error {
	for _, r := range runs {
		if r.Evaluation == nil {
			continue
		}
		c := r.Correction.Canonical()
		if decided, err := train.ReadDecision(r.Dir); err != nil {
			return err
		} else if decided.Correction() == c {
			continue
		}
		err := train.Decide(ctx, r.Dir, func(d *model.Decision) { *d = r.Method.Decide(c) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Curve reads the learning curve of a finished run: at least one epoch.
func (r Run) Curve() (train.Curve, error) {
	path := filepath.Join(r.Dir, train.CurveFile)
	curve, err := train.ReadCurve(path, r.Stage)
	if err == nil && len(curve) == 0 {
		err = &invalid.Error{Where: path, Want: "at least one epoch", Got: "none"}
	}
	return curve, err
}

func (r *Run) read() {
	result, err := r.ReadResult(r.Dir)
	if r.Result = result; result != nil {
		if failure := result.Failure(); failure != nil {
			r.Missing = NewMissing(r.Dir, Failed, failure)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		r.Missing = NewMissing(r.Dir, Broken, err)
	}
}

// Evaluate sets a correction, and the evaluation with it.
func (r *Run) Evaluate(c model.Correction) {
	if r.Correction = c; r.Result != nil {
		r.Evaluation = r.Result.Evaluation(c)
	}
}

// Evaluate evaluates runs with a correction.
func Evaluate(runs []Run, c model.Correction) []Run {
	for i := range runs {
		runs[i].Evaluate(c)
	}
	return runs
}

// DevEpoch returns the BestEpoch of the learning curves of dev runs. Further epochs of a run that converged
// would be like its last.
func DevEpoch(runs []Run) (int, error) {
	curves, longest := make([]train.Curve, len(runs)), 0
	for i, r := range runs {
		var err error
		if curves[i], err = r.Curve(); err != nil {
			return 0, err
		}
		longest = max(longest, len(curves[i]))
	}
	for i, r := range runs {
		if n := len(curves[i]); r.Result.Status == train.Converged {
			curves[i] = append(curves[i], slices.Repeat(curves[i][n-1:], longest-n)...)
		}
	}
	return BestEpoch(curves), nil
}

// sumTolerance is the largest difference between sums of the same accuracies in
// different orders. One sample makes far more.
const sumTolerance = 1e-9

// BestEpoch returns the epoch with the highest validation accuracy of the average curve,
// over the epochs that every seed ran: the paper's rule for how long to train on train
// and validation classes together. Of equal epochs it is the first, of none 0.
func BestEpoch(curves []train.Curve) (best int) {
	if len(curves) == 0 {
		return 0
	}
	top := -1.0
	for e := range slices.MinFunc(curves, func(a, b train.Curve) int { return len(a) - len(b) }) {
		var sum float64
		for _, c := range curves {
			sum += *c[e].ValAccuracy
		}
		if mean := sum / float64(len(curves)); mean > top+sumTolerance {
			best, top = e+1, mean
		}
	}
	return best
}

// unfinished says how far a run without a result is. The curve is written with the checkpoint.
func unfinished(dir string, stage train.Stage) *Missing {
	curve, err := train.ReadCurve(filepath.Join(dir, train.CurveFile), stage)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return NewMissing(dir, Broken, err)
	case len(curve) == 0:
		return &Missing{Name: dir, State: Unfinished, Why: "unfinished, without a checkpoint"}
	}
	return &Missing{
		Name: dir, State: Unfinished, Why: fmt.Sprintf("unfinished at epoch %d", len(curve)),
		Epoch: len(curve),
	}
}

// BySeed groups runs, in the order in which their seeds occur.
func BySeed(runs []Run) (groups [][]Run) {
	place := map[uint64]int{}
	for _, r := range runs {
		i, known := place[r.Seed]
		if !known {
			i = len(groups)
			place[r.Seed], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// Dirs returns the folder of each run.
func Dirs(runs []Run) []string {
	list := make([]string, len(runs))
	for i, r := range runs {
		list[i] = r.Dir
	}
	return list
}

// ModelFiles returns the model file of each run.
func ModelFiles(runs []Run) []string {
	files := Dirs(runs)
	for i, dir := range files {
		files[i] = filepath.Join(dir, train.ModelFile)
	}
	return files
}

// MissingOf lists why runs have no model.
func MissingOf(runs []Run) []Missing {
	list := []Missing{}
	for _, r := range runs {
		if r.Missing != nil {
			list = append(list, *r.Missing)
		}
	}
	return list
}

// Summary is a number over several runs, usually one per seed.
type Summary struct {
	Mean   float64   `json:"mean"`
	SEM    *float64  `json:"sem"`    // standard error of the mean; null for fewer than two values
	Values []float64 `json:"values"` // one per seed, fold or part
}

// Summarise returns the mean of values and its standard error. It returns the zero Summary for none.
func Summarise(values []float64) Summary {
	s := Summary{Values: values}
	if len(values) > 0 {
		s.Mean = stat.Mean(values, nil)
	}
	if len(values) > 1 {
		sem := stat.StdErr(stat.StdDev(values, nil), float64(len(values)))
		s.SEM = &sem
	}
	return s
}

// MeanText returns the mean in percent, or a dash if there are no values.
func (s Summary) MeanText() string {
	if len(s.Values) == 0 {
		return format.Percent(math.NaN())
	}
	return format.Percent(s.Mean)
}

// SEMText returns the standard error in percent, or a dash for fewer than two values.
func (s Summary) SEMText() string {
	return format.Percent(format.Value(s.SEM))
}

// ByMean orders summaries by descending mean; those without values come last.
func ByMean(x, y Summary) int {
	return cmp.Or(cmp.Compare(min(len(y.Values), 1), min(len(x.Values), 1)), cmp.Compare(y.Mean, x.Mean))
}

// PlusMinus returns a mean and its standard error in percent, "62.5 ± 0.4 %"; that of a single
// value is not known.
func (s Summary) PlusMinus() string {
	if len(s.Values) < 2 {
		return s.MeanText()
	}
	return strings.TrimSuffix(s.MeanText(), " %") + " ± " + s.SEMText()
}

// Stored is a stored result of a question.
type Stored struct {
	Version     int             `json:"version"` // of the form of results
	Kind        string          `json:"kind"`    // see below
	Dataset     string          `json:"dataset"`
	Fingerprint string          `json:"fingerprint"`    // of the data set and its split
	Config      json.RawMessage `json:"config"`         // settings of the command
	Result      json.RawMessage `json:"result"`         // what the command prints with --json
	Runs        []string        `json:"runs,omitempty"` // folders of the runs

	Path string    `json:"-"`
	Time time.Time `json:"-"` // when it was stored
}

// storedVersion changes with the form of results, so that those of other versions of the program are
// not read.
const storedVersion = 4

// Store writes the result of a question in the folder of the lab, as KIND-DATASET-DIGEST.json with a digest
// of the data and the configuration, so that one configuration does not overwrite the result of another.
func (l *Lab) Store(kind string, config, result any) (err error) {
	s := Stored{
		Version: storedVersion, Kind: kind, Dataset: l.Data.Name, Fingerprint: l.Fingerprint,
		Runs: slices.Sorted(maps.Keys(l.asked)),
	}
	if s.Config, err = json.Marshal(config); err != nil {
		return err
	}
	if s.Result, err = json.Marshal(result); err != nil {
		return err
	}
	question := s.Fingerprint + string(s.Config)
	for _, p := range l.Parts {
		question += p.Fingerprint
	}
	digest := sha256.Sum256([]byte(question))
	name := fmt.Sprintf("%s-%s-%s.json", kind, strings.ToLower(strings.ReplaceAll(l.Data.Name,
		string(filepath.Separator), "_")), hex.EncodeToString(digest[:4]))
	return fileio.WriteSealed(filepath.Join(l.Root, name), s)
}

var storedName = regexp.MustCompile(`^[a-z-]+-.+-[0-9a-f]{8}\.json$`)

const maxStoredBytes = 1 << 28

// ReadStored reads the results that Store wrote into a folder, the newest first, and lists the files that
// cannot be read. Their names begin with prefix, which may be a kind and -.
func ReadStored(ctx context.Context, root, prefix string) (list []Stored, unreadable []Missing, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, invalid.Folder(root, "a folder of runs", err)
	}
	for _, e := range entries {
		if e.IsDir() || !storedName.MatchString(e.Name()) || !strings.HasPrefix(e.Name(), prefix) {
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
		return s, &invalid.Error{
			Where: path, Want: "a result that this version of lago-train stored",
			Hint: "Repeat the command that stored it.",
		}
	}
	return s, nil
}

// Decode reads the result. The error is an *invalid.Error that names the file.
func (s Stored) Decode(result any) error {
	if string(s.Result) != "null" && json.Unmarshal(s.Result, result) == nil {
		return nil
	}
	return &invalid.Error{
		Where: s.Path, Field: "result", Want: "a result of " + s.Kind, Got: "other JSON",
		Hint: "Repeat the command that stored it.",
	}
}
