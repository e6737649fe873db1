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
	Kinds   []Kind // of its results
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

// Kind is a kind of results, as they are stored and shown.
type Kind struct {
	Name    string // in stored results and in addresses
	Title   string
	Text    string // how to read it
	Command string // that stores a result
	New     func() results.Result
}

// Studies are all of them, in the order of the help and of the report.
var Studies = []Study{
	{"run", func() Question { return new(protocol.Method) }, []Kind{{
		protocol.Kind, "Methods by the paper's protocol",
		"Each result is that of one run command: the dev stage chooses the number of epochs by the validation classes, and the test stage is evaluated once on the test classes.",
		"run", result[protocol.Result],
	}}},
	{"reproduce", func() Question { return new(protocol.Variants) }, []Kind{{
		protocol.ReproductionKind, "The paper's tables",
		"Every variant by the paper's protocol. The variant with the best validation accuracy is the result; test accuracies of the others are for reference.",
		"reproduce", result[protocol.Reproduction],
	}}},
	{"compare", func() Question { return new(comparison.Config) }, []Kind{{
		comparison.Kind, "LAGO and its baselines",
		"Accuracy of every method by one protocol: settings and epochs are chosen on the seen classes, then the method is trained on train and validation classes and evaluated once on the test classes.",
		"compare", result[comparison.Result],
	}, {
		comparison.RotationKind, "LAGO and its baselines, each class unseen once",
		"The classes are divided into parts, and each part in turn holds the unseen classes; settings and epochs are chosen on the others.",
		"compare --rotate 5", result[comparison.Result],
	}}},
	{"ablate", func() Question { return new(ablation.Config) }, []Kind{{
		ablation.Kind, "Design decisions",
		"Validation accuracy by the prior p(a), the none-of-group term and the supervision of attributes in the loss, best first. All other settings are the same within a figure.",
		"ablate", result[results.Accuracies],
	}, {
		ablation.GroupsKind, "Do groups matter?",
		"Accuracy on unseen classes with the groups of the data set, without groups, and with random groups of the same sizes.",
		"ablate --groups", result[results.Accuracies],
	}}},
	{"sweep-k", func() Question { return new(sweep.GroupNumbers) }, []Kind{{
		sweep.KKind, "Number of groups",
		"Validation accuracy of k-soft against its number of groups K, and of singletons and semantic-hard with the same features and training.",
		"sweep-k", result[results.Accuracies],
	}}},
	{"noise", func() Question { return new(robustness.Noise) }, []Kind{{
		robustness.NoiseKind, "Noisy descriptions",
		"Test accuracy when entries of the class descriptions are replaced by 0 or 1 at random. Relative accuracy is that divided by the accuracy of the same model without noise.",
		"noise", result[results.Accuracies],
	}}},
	{"partial", func() Question { return new(robustness.Partial) }, []Kind{
		{robustness.PartialKind, "Partial descriptions, attributes given at random", partialText, "partial", result[results.Accuracies]},
		{robustness.StrongestKind, "Partial descriptions, strongest attributes first", partialText, "partial --given strongest", result[results.Accuracies]},
	}},
	{"subsets", func() Question { return new(sweep.Subsets) }, []Kind{
		subsets(sweep.Classes), subsets(sweep.Samples), subsets(sweep.Groups), subsets(sweep.Entries),
	}},
	{"groups", func() Question { return new(grouping.Analysis) }, []Kind{{
		grouping.Kind, "Learned groups",
		"Gamma, the share of each attribute in each learned group: the mean over the attributes of a named group, and the share of each attribute.",
		"groups", func() results.Result { return &grouping.Result{Top: 5} },
	}}},
	{"search", func() Question { return new(search.Config) }, []Kind{{
		search.Kind, "Searched settings",
		"Validation accuracy of the best settings of a search. It chose them, so it is optimistic.",
		"search", result[search.Result],
	}}},
}

const partialText = "Test accuracy when only part of each class's attributes is given. Missing entries are imputed from the given ones " +
	"of their group or, for methods marked \"inferred\", from all given ones."

func subsets(of sweep.Axis) Kind {
	return Kind{
		sweep.SubsetsKind(of), "Fewer " + sweep.Words[of],
		"Test accuracy when the variant is trained on random subsets, each contained in the larger ones, and evaluated on the same classes.",
		"subsets --of " + string(of), result[results.Accuracies],
	}
}

// result returns a result to be read.
func result[T any, P interface {
	*T
	results.Result
}]() results.Result {
	return P(new(T))
}

// Kinds lists the kinds of results of all studies.
func Kinds() (list []Kind) {
	for _, s := range Studies {
		list = append(list, s.Kinds...)
	}
	return list
}
