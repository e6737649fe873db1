// Package results has what a study implements, and its results: the accuracy over seeds and classes, rows of
// tables and their figures, the report on what is stored, and the list of runs.
package results

import (
	"context"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/lab/search"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
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
		AskModel(d *dataset.Dataset, m *train.Saved) (Result, error)
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

// Result is the result of a study: its JSON is what the command prints and what is stored.
type Result interface {
	Tables() []*table.Table
	// Figures draws the result. dir is the folder that holds the runs.
	Figures(dir string) ([]plot.Figure, error)
	// KindName is the name of its Kind.
	KindName() string
}

// Kind is a kind of results, as they are stored and shown.
type Kind struct {
	Name    string // in stored results and in addresses
	Title   string
	Text    string // how to read it
	Command string // that stores a result
	New     func() Result
}

// Header is what the results of all studies have in common.
type Header struct {
	Kind    string        `json:"kind"`  // of the study
	Title   string        `json:"title"` // what is compared
	Dataset string        `json:"dataset"`
	Parts   int           `json:"parts"` // 1, or the parts of a rotation over classes
	Missing []lab.Missing `json:"missing"`
}

// KindName implements Result.
func (h Header) KindName() string { return h.Kind }

// MissingTable says below a table what is missing from it, nil if nothing is.
func MissingTable(list []lab.Missing) *table.Table {
	if len(list) == 0 {
		return nil
	}
	t := table.New("missing from the table:")
	for _, m := range list {
		t.Note("  %s", &m)
	}
	return t
}
