package results

import (
	"context"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/lab/search"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
)

// Study is a question asked of many runs: it has settings, plans runs, and sums up their outcomes. It runs
// and stores nothing itself: Ask does, for every study. After Plan, its JSON is the configuration of the
// stored result.
type Study interface {
	// Settings lists the settings of the study, which are bound to its fields and those of r.
	Settings(r *config.Request) setting.List
	// Plan says what to run on the data of a lab, with the presets of r.
	Plan(r *config.Request, l *lab.Lab) (lab.Plan, error)
	// Summarise makes the result of what was run.
	Summarise(ctx context.Context, l *lab.Lab, done *lab.Outcomes) (Result, error)
}

// What some studies can do beside. Check refuses settings before any data are read.
type (
	Checker interface{ Check(r *config.Request) error }

	// Single is a study of one method alone, whose epochs are shown as they end.
	Single interface{ Single() }

	// OfModel is a study that can also be asked of a trained model, without training.
	OfModel interface {
		Of(d *dataset.Dataset, m *train.Saved) (Result, error)
	}

	// Writer is a study that also writes files for users. Before there is a result, found is nil.
	Writer interface {
		Files(found Result) []File
	}

	// Followed is a result that names the command to go on with. latest is the model that was trained last,
	// as users name it, and data the folder of data sets, "" for the usual one.
	Followed interface {
		Follow(latest, data string)
	}
)

// File is a file that a study writes for users.
type File struct {
	Flag   string // that names it
	Path   string // "" for none
	Begins string // how such a file begins, by which one of an earlier call is recognised
	Write  func(io.Writer) error
}

// Ask carries out a study on the parts of a lab, and stores the result.
func Ask(ctx context.Context, s Study, r *config.Request, l *lab.Lab) (Result, error) {
	plan, err := s.Plan(r, l)
	if err != nil {
		return nil, err
	}
	var done *lab.Outcomes
	if plan.Searches() {
		done, err = search.Run(ctx, l, plan)
	} else {
		done, err = plan.Run(ctx, l)
	}
	if err != nil {
		return nil, err
	}
	found, err := s.Summarise(ctx, l, done)
	if err != nil {
		return nil, err
	}
	return found, l.Store(found.KindName(), s, found)
}
