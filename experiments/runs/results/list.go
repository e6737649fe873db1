package results

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train"
)

// The status of runs without a result.
const (
	statusUnfinished = train.Status(lab.Unfinished)
	statusBroken     = train.Status(lab.Broken)
)

// RunStatuses are those of runs, of finished ones first.
var RunStatuses = []train.Status{
	train.Patience, train.Epochs, train.Converged, train.NotFinite, train.Failed, statusUnfinished,
	statusBroken,
}

// RunList is the runs of a folder.
type RunList struct {
	Dir  string    `json:"dir"`
	Runs []RunLine `json:"runs"`

	studies map[string]string // that asked for runs, by the name of their folder
}

// RunLine is a run in one line.
type RunLine struct {
	Dir       string       `json:"dir"`
	Dataset   string       `json:"dataset"`
	Method    string       `json:"method"` // a variant of LAGO or a baseline
	Stage     train.Stage  `json:"stage"`
	Seed      uint64       `json:"seed"`
	Status    train.Status `json:"status"`             // as in result.json, unfinished or broken
	Error     string       `json:"error,omitempty"`    // why there is no model
	Epochs    int          `json:"epochs"`             // of an unfinished run, up to its checkpoint
	BestEpoch int          `json:"best_epoch"`         // 0 if there is no model
	Accuracy  *float64     `json:"per_class_accuracy"` // null if there is no model

	written time.Time // last
}

// RunFilter selects runs; an empty field selects all.
type RunFilter struct{ Dataset, Method, Stage, Status string }

// List reads the selected runs in dir, which may have been trained for results of some kinds.
func (f RunFilter) List(ctx context.Context, dir string, kinds []Kind) (*RunList, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	stored, _, err := lab.ReadStored(ctx, dir)
	if err != nil {
		return nil, err
	}
	l := &RunList{Dir: dir, Runs: []RunLine{}, studies: map[string]string{}}
	for _, s := range stored { // the newest first, and the oldest that asked for a run trained it
		for _, k := range kinds {
			for _, run := range s.Runs {
				if k.Name == s.Kind {
					l.studies[run] = fmt.Sprintf("%s: %s, %s", k.Command, k.Title, s.Dataset)
				}
			}
		}
	}
	for _, r := range runs {
		line := runLine(r)
		if (f.Dataset == "" || strings.EqualFold(f.Dataset, line.Dataset)) &&
			(f.Method == "" || f.Method == line.Method) &&
			(f.Stage == "" || f.Stage == string(line.Stage)) &&
			(f.Status == "" || f.Status == string(line.Status)) {
			l.Runs = append(l.Runs, line)
		}
	}
	return l, nil
}

func runLine(t lab.Run) RunLine {
	r := RunLine{Dir: t.Dir, Dataset: t.Dataset, Method: t.Method.Label(), Stage: t.Stage, Seed: t.Seed}
	if info, err := os.Stat(t.Dir); err == nil { // it may have been deleted since
		r.written = info.ModTime()
	}
	if m := t.Missing; m != nil {
		r.Status, r.Error, r.Epochs = train.Status(m.State), m.Why, m.Epoch
	}
	if t.Result != nil {
		r.Status, r.Epochs, r.BestEpoch = t.Result.Status, t.Result.Epochs, t.Result.BestEpoch
		if t.Evaluation != nil {
			r.Accuracy = &t.Evaluation.PerClass
		}
	}
	return r
}

// fewTrials is the number of dev runs of a study that are still listed one by one.
const fewTrials = 10

// Tables has one row per run, the newest first, whose name has the data set, the variant, the stage and the
// seed. The dev runs with which a study tries settings share a row, at the place of the last of them.
func (l *RunList) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s in %s", format.Count(len(l.Runs), "run"), l.Dir),
		"run", "status", "epochs", "accuracy").Right(4)
	newest := slices.SortedStableFunc(slices.Values(l.Runs), func(a, b RunLine) int {
		return b.written.Compare(a.written)
	})
	tried := map[string][]RunLine{} // by study
	for _, r := range newest {
		if study := l.studies[filepath.Base(r.Dir)]; study != "" && r.Stage == train.Dev {
			tried[study] = append(tried[study], r)
		}
	}
	var reasons []string
	failed := map[string][]string{} // folders, by the reason
	for _, r := range newest {
		if r.Error != "" && r.Status != statusUnfinished {
			if failed[r.Error] == nil {
				reasons = append(reasons, r.Error)
			}
			failed[r.Error] = append(failed[r.Error], r.Dir)
		}
		study := l.studies[filepath.Base(r.Dir)]
		switch others := tried[study]; {
		case r.Stage != train.Dev || len(others) <= fewTrials:
			t.Row(filepath.Base(r.Dir), r.Status, r.Epochs, format.Percent(format.Value(r.Accuracy)))
		case r.Dir == others[0].Dir:
			best := slices.MaxFunc(others, func(a, b RunLine) int { // NaN is the least
				return cmp.Compare(format.Value(a.Accuracy), format.Value(b.Accuracy))
			})
			t.Row(study, fmt.Sprintf("best of %d", len(others)), "",
				format.Percent(format.Value(best.Accuracy)))
		}
	}
	for _, why := range reasons {
		name := failed[why][0]
		if others := len(failed[why]) - 1; others > 0 {
			name += " and " + format.Count(others, "other run")
		}
		t.Note("%s: %s", name, why)
	}
	return []*table.Table{t}
}
