// Package studies has the questions that are asked of many runs. A study is one file: a type that implements
// results.Study (settings, a plan, and a summary of what was run), its result, which is also the JSON output
// and what is stored, with tables and figures, and an Entry, from which its command and its sections of the
// report follow:
//
//	run.go            one method by the paper's protocol
//	reproduction.go   all variants and ESZSL by the paper's protocol (tables 1 and A.1)
//	comparison.go     LAGO and the baselines by one protocol (table 1)
//	ablation.go       the design decisions of the model (table A.2)
//	sweep.go          accuracy against the number of groups (section 4.3)
//	noise.go          noisy class descriptions (figure A.1)
//	groups.go         the groups that a soft model learned (section 4.3)
//	search.go         settings of one method on one data set (supplement A)
//
// No study uses another. They rest on experiments/runs, which trains and stores, and on
// experiments/answers, which predicts and evaluates with trained models.
package studies

import "github.com/lago-train/lago-train/experiments/runs/results"

// Entry is a study with its command.
type Entry struct {
	Command string // of lago-train
	New     func() results.Study
	Kinds   []results.Kind // of its results
}

// All are the studies, in the order of the help and of the report.
var All = []Entry{
	methodEntry, reproductionEntry, comparisonEntry, ablationEntry, sweepEntry, noiseEntry, groupsEntry,
	searchEntry,
}

// Kinds lists the kinds of results of all studies.
func Kinds() (list []results.Kind) {
	for _, s := range All {
		list = append(list, s.Kinds...)
	}
	return list
}
