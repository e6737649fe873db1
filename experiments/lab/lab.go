// Package lab runs trials, several at a time, and reads the runs of a folder. All
// questions of package experiments use it.
//
// Each trial has its own folder, named by its settings, so that equal trials are trained
// once, whatever command asks for them. The folder is locked while its trial is trained;
// the system frees the lock of a process that dies, and the next one resumes from the
// checkpoint. To spread a grid over machines, start one process per Shard, for example
// with Slurm or Kubernetes, on a shared folder.
//
// The package knows trials and their results, not the questions asked of them.
package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/split"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Lab runs trials on a data set in memory, in a folder.
type Lab struct {
	Data *dataset.Dataset
	Root string // holds the folders of the runs
	// Parts are the divisions of the classes over which a question is asked: that of Data
	// or, after Rotate, several, each class being a test class of one.
	Parts []View
	Jobs  int // trials at a time; 0 means as many as there are cores
	// Shard is the part of the trials that this process trains.
	Shard   Shard
	Options train.Options
	// OnProgress, if set, is called whenever the progress of a grid changes.
	OnProgress func(format.Progress)
	// OnRun, if set, is called with each run that this process ended.
	OnRun func(Run)
	// OnStep, if set, is called at the start of each step of a question that may take long.
	OnStep func(what string)

	fingerprint string
	views       map[string]*dataset.Dataset // by fingerprint
	failed      map[string]bool             // folders of failed runs
	asked       map[string]bool             // folders of all runs that were asked for, below Root
	models      *sync.Map                   // file of a finished one with whitening, by preparation
	fits        *sync.Map                   // *method.Cache, by preparation
}

// View is the data of a lab with one division of the classes into train, val and test
// classes, or with other descriptions. Trials on it carry its fingerprint.
type View struct {
	Data        *dataset.Dataset
	Fingerprint string
}

// Task is a trial, and the correction of the scores with which its model is evaluated.
type Task struct {
	train.Trial
	Correction model.Correction
}

// Run is a trial that was asked for, and its result.
type Run struct {
	train.Trial
	Correction model.Correction // that was asked for or, of a run that was read, decided
	Dir        string
	Result     *train.Result     // nil if there is none
	Evaluation *train.Evaluation // with the correction; nil without a model
	Missing    *Missing          // why there is no model; nil if there is one
	Ended      time.Time         // zero without a result
	Reused     bool              // finished before this process asked for it
}

// New returns a lab for a data set.
func New(d *dataset.Dataset, root string) *Lab {
	data := *d
	if data.FeaturesSum == "" {
		data.FeaturesSum = dataset.SumFeatures(d.Features)
	}
	l := &Lab{Data: &data, Root: root, views: map[string]*dataset.Dataset{}, failed: map[string]bool{}, asked: map[string]bool{}, models: new(sync.Map), fits: new(sync.Map)}
	l.Parts = []View{l.View(d.Split)}
	l.fingerprint = l.Parts[0].Fingerprint
	return l
}

// Step reports the start of a step.
func (l *Lab) Step(format string, args ...any) {
	if l.OnStep != nil {
		l.OnStep(fmt.Sprintf(format, args...))
	}
}

// View returns the data with another division of the classes.
func (l *Lab) View(s dataset.Split) View {
	d := *l.Data
	d.Split = s
	return l.ViewOf(&d)
}

// ViewOf returns other data with the same features, such as fewer attributes.
func (l *Lab) ViewOf(d *dataset.Dataset) View {
	fingerprint := d.Fingerprint()
	if l.views[fingerprint] == nil {
		l.views[fingerprint] = d
	}
	return View{l.views[fingerprint], fingerprint}
}

// Rotate replaces Parts by Rotations.
func (l *Lab) Rotate(n int, seed uint64) error {
	parts, err := l.Rotations(n, seed)
	if err == nil {
		l.Parts = parts
	}
	return err
}

// On returns a lab like l for other parts. Runs, and those that failed, are shared.
func (l *Lab) On(parts ...View) *Lab {
	other := *l
	other.Parts = parts
	return &other
}

// Rotations returns n divisions of the classes, see split.Rotations.
func (l *Lab) Rotations(n int, seed uint64) ([]View, error) {
	splits, err := split.Rotations(l.Data, n, seed)
	var parts []View
	for _, s := range splits {
		parts = append(parts, l.View(s))
	}
	return parts, err
}

// Folds returns n views with the test classes of v, over which settings are chosen: v
// itself for 1; the data set's own divisions of the seen classes if it has n of them; else
// n parts of the seen classes in turn as val classes, see split.Folds.
func (l *Lab) Folds(v View, n int) ([]View, error) {
	if n == 1 {
		return []View{v}, nil
	}
	splits := l.Data.DevSplits
	if len(splits) != n || len(l.Parts) > 1 {
		var err error
		if splits, err = split.Folds(l.Data, v.Data.Split, n, 0); err != nil {
			return nil, err
		}
	}
	views := make([]View, n)
	for i, s := range splits {
		d := *v.Data
		d.Split = s
		views[i] = l.ViewOf(&d)
	}
	return views, nil
}

// Fingerprint is that of the data set.
func (l *Lab) Fingerprint() string { return l.fingerprint }

// splitsDir is the folder below Root for runs of other views than that of the data set,
// so that reports and lists of runs do not mix them.
const splitsDir = "splits"

// dir returns the folder that holds the folder of a trial.
func (l *Lab) dir(t train.Trial) string {
	if t.Fingerprint == l.fingerprint {
		return l.Root
	}
	return filepath.Join(l.Root, splitsDir)
}

// Failed returns the number of runs that failed since New.
func (l *Lab) Failed() int { return len(l.failed) }

// Shard is the part of a grid that one process of several trains: the trials whose
// index is Index modulo Count. The zero value is the whole grid.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n", i from 0 to n-1.
func ParseShard(s string) (Shard, error) {
	index, count, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err1 != nil || err2 != nil || i < 0 || i >= n {
		return Shard{}, &invalid.Error{Want: "I/N with I from 0 to N-1", Got: invalid.Quote(s)}
	}
	return Shard{i, n}, nil
}

// ShardFromEnvironment returns the shard that Slurm or Kubernetes assigns to this
// process: SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, counted from
// SLURM_ARRAY_TASK_MIN, or JOB_COMPLETION_INDEX of JOB_COMPLETIONS, which the
// manifest of an Indexed Job sets beside it. Without them it is the whole grid.
func ShardFromEnvironment() (Shard, error) {
	index, count, least := "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"
	if os.Getenv(index) == "" {
		index, count, least = "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", ""
	}
	if os.Getenv(index) == "" {
		return Shard{}, nil
	}
	var numbers [3]int
	for i, name := range []string{index, count, least} {
		text := os.Getenv(name)
		if name == least && text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return Shard{}, &invalid.Error{
				Where: "$" + name, Want: "a number", Got: invalid.Quote(text), Hint: "Set it to a number, or give --shard I/N.",
			}
		}
		numbers[i] = n
	}
	s := Shard{numbers[0] - numbers[2], numbers[1]}
	if s.Index < 0 || s.Index >= s.Count {
		return Shard{}, &invalid.Error{Where: "$" + index, Want: fmt.Sprintf("an index of the %d shards of $%s", s.Count, count), Got: os.Getenv(index)}
	}
	return s, nil
}

// Holds reports whether the trial with this index is in the shard.
func (s Shard) Holds(index int) bool { return s.Count <= 1 || index%s.Count == s.Index }
