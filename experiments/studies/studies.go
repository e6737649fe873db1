package studies

import (
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies/ablation"
	"github.com/lago-train/lago-train/experiments/studies/comparison"
	"github.com/lago-train/lago-train/experiments/studies/grouping"
	"github.com/lago-train/lago-train/experiments/studies/protocol"
	"github.com/lago-train/lago-train/experiments/studies/robustness"
	"github.com/lago-train/lago-train/experiments/studies/search"
	"github.com/lago-train/lago-train/experiments/studies/sweep"
)

// Entry is a study with its command.
type Entry struct {
	Command string // of lago-train
	New     func() results.Study
	Kinds   []results.Kind // of its results
}

// Studies are all of them, in the order of the help and of the report.
var Studies = []Entry{
	{"run", func() results.Study { return new(protocol.Method) }, protocol.MethodKinds},
	{"reproduce", func() results.Study { return new(protocol.Variants) }, protocol.VariantsKinds},
	{"compare", func() results.Study { return new(comparison.Config) }, comparison.Kinds},
	{"ablate", func() results.Study { return new(ablation.Config) }, ablation.Kinds},
	{"sweep-k", func() results.Study { return new(sweep.GroupNumbers) }, sweep.KKinds},
	{"noise", func() results.Study { return new(robustness.Noise) }, robustness.NoiseKinds},
	{"groups", func() results.Study { return new(grouping.Analysis) }, grouping.Kinds},
	{"search", func() results.Study { return new(search.Config) }, search.Kinds},
}

// Kinds lists the kinds of results of all studies.
func Kinds() (list []results.Kind) {
	for _, s := range Studies {
		list = append(list, s.Kinds...)
	}
	return list
}
