package report

import (
	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/experiments/sweep"
	"github.com/lago-train/lago-train/internal/table"
)

// result is the result of a question, as it is stored.
type result interface {
	Tables() []*table.Table
	// Figures draws the result. dir is the folder that holds the runs.
	Figures(dir string) ([]plot.Figure, error)
}

// kind is a question whose results are stored.
type kind struct {
	Name, Title string // Name is that in addresses, too
	Text        string // how to read it
	command     string // that stores a result
	new         func() result
}

// kinds lists the questions in the order of the page.
var kinds = []kind{
	{
		protocol.Kind, "Methods by the paper's protocol",
		"Each result is that of one run command: the dev stage chooses the number of epochs by the validation classes, and the test stage is evaluated once on the test classes.",
		"run", func() result { return new(protocol.Result) },
	},
	{
		reproduction.Kind, "The paper's tables",
		"Every variant by the paper's protocol. The variant with the best validation accuracy is the result; test accuracies of the others are for reference.",
		"reproduce", func() result { return new(reproduction.Result) },
	},
	{
		comparison.Kind, "LAGO and its baselines",
		"Accuracy of every method by one protocol: settings and epochs are chosen on the seen classes, then the method is trained on train and validation classes and evaluated once on the test classes.",
		"compare", func() result { return new(comparison.Result) },
	},
	{
		comparison.RotationKind, "LAGO and its baselines, each class unseen once",
		"The classes are divided into parts, and each part in turn holds the unseen classes; settings and epochs are chosen on the others.",
		"compare --rotate 5", func() result { return new(comparison.Result) },
	},
	{
		comparison.LadderKind, "LAGO and ESZSL step by step",
		"Each row has one more setting of the general defaults than the one above it.",
		"compare --ladder", func() result { return new(comparison.Result) },
	},
	{
		ablation.Kind, "Design decisions",
		"Validation accuracy by the prior p(a), the none-of-group term and the supervision of attributes in the loss, best first. All other settings are the same within a figure.",
		"ablate", func() result { return new(ablation.Result) },
	},
	{
		ablation.GroupsKind, "Do groups matter?",
		"Accuracy on unseen classes with the groups of the data set, without groups, and with random groups of the same sizes.",
		"ablate --groups", func() result { return new(results.Accuracies) },
	},
	{
		sweep.KKind, "Number of groups",
		"Validation accuracy of k-soft against its number of groups K, and of singletons and semantic-hard with the same features and training.",
		"sweep-k", func() result { return new(results.Accuracies) },
	},
	{
		robustness.NoiseKind, "Noisy descriptions",
		"Test accuracy when entries of the class descriptions are replaced by 0 or 1 at random. The first table has it relative to the same model without noise.",
		"noise", func() result { return new(robustness.Result) },
	},
	{
		robustness.PartialKind, "Partial descriptions, attributes given at random",
		partialText, "partial", func() result { return new(robustness.Result) },
	},
	{
		robustness.StrongestKind, "Partial descriptions, strongest attributes first",
		partialText, "partial --given strongest", func() result { return new(robustness.Result) },
	},
	subset(sweep.Classes), subset(sweep.Samples), subset(sweep.Attributes), subset(sweep.Groups), subset(sweep.Entries),
	{
		grouping.Kind, "Learned groups",
		"Gamma, the share of each attribute in each learned group: the mean over the attributes of a named group, and the share of each attribute.",
		"groups", func() result { return &grouping.Result{Top: 5} },
	},
	{
		search.Kind, "Searched settings",
		"Validation accuracy of the best settings of a search. It chose them, so it is optimistic.",
		"search", func() result { return new(search.Result) },
	},
	{
		search.RotationKind, "Searched settings, each class unseen once",
		"The search is repeated without each part of the classes, and its choice evaluated on that part.",
		"search --rotate 5", func() result { return new(search.Rotation) },
	},
}

const partialText = "Test accuracy when only part of each class's attributes is given. Missing entries are imputed from the given ones " +
	"of their group or, for methods marked \"inferred\", from all given ones."

func subset(of sweep.Axis) kind {
	return kind{
		sweep.SubsetsKind(of), "Fewer " + sweep.Words[of],
		"Test accuracy when the variant is trained on random subsets, each contained in the larger ones, and evaluated on the same classes.",
		"subsets --of " + string(of), func() result { return new(results.Accuracies) },
	}
}
