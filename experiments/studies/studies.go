package studies

import (
	"context"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies/ablation"
	"github.com/lago-train/lago-train/experiments/studies/comparison"
	"github.com/lago-train/lago-train/experiments/studies/grouping"
	"github.com/lago-train/lago-train/experiments/studies/protocol"
	"github.com/lago-train/lago-train/experiments/studies/robustness"
	"github.com/lago-train/lago-train/experiments/studies/search"
	"github.com/lago-train/lago-train/experiments/studies/sweep"
	"github.com/lago-train/lago-train/internal/setting"
)

// Study is a question asked of many runs.
type Study struct {
	Command string // of lago-train
	New     func() Question
	Kinds   []results.Kind // of its results
}

// Question is a study with its settings.
type Question interface {
	// Settings lists the settings of the study, which are bound to its fields and those of r.
	Settings(r *config.Request) setting.List
	// Resolve completes the settings by what r has, and returns the presets of the runs.
	Resolve(ctx context.Context, r *config.Request) ([]config.Preset, error)
	// Ask carries out the study on the parts of a lab, and stores the result.
	Ask(ctx context.Context, l *lab.Lab) (results.Result, error)
}

// Studies are all of them, in the order of the help and of the report.
var Studies = []Study{
	{"run", func() Question { return new(protocol.Method) }, protocol.MethodKinds},
	{"reproduce", func() Question { return new(protocol.Variants) }, protocol.VariantsKinds},
	{"compare", func() Question { return new(comparison.Config) }, comparison.Kinds},
	{"ablate", func() Question { return new(ablation.Config) }, ablation.Kinds},
	{"sweep-k", func() Question { return new(sweep.GroupNumbers) }, sweep.KKinds},
	{"noise", func() Question { return new(robustness.Noise) }, robustness.NoiseKinds},
	{"partial", func() Question { return new(robustness.Partial) }, robustness.PartialKinds},
	{"subsets", func() Question { return new(sweep.Subsets) }, sweep.SubsetsKinds()},
	{"groups", func() Question { return new(grouping.Analysis) }, grouping.Kinds},
	{"search", func() Question { return new(search.Config) }, search.Kinds},
}

// Kinds lists the kinds of results of all studies.
func Kinds() (list []results.Kind) {
	for _, s := range Studies {
		list = append(list, s.Kinds...)
	}
	return list
}
