// Package studies has the questions that are asked of many runs. A study is a type that implements
// results.Study (settings, a plan, and a summary of what was run), its result, which is also the JSON output
// and what is stored, with tables and figures, and an Entry, from which its command and its sections of the
// report follow:
//
//	run.go          one method by the paper's protocol
//	paper.go        all variants and ESZSL by it (tables 1 and A.1), the design decisions (table A.2), and
//	                the number of groups (section 4.3)
//	comparison.go   LAGO and the baselines by one protocol (table 1)
//	generalised.go  the same among seen and unseen classes
//	noise.go        noisy class descriptions (figure A.1)
//	groups.go       the groups that a soft model learned (section 4.3)
//	studies.go      settings of one method on one data set (supplement A)
//
// No study uses another. They rest on experiments/runs, which trains and stores, and on
// experiments/answers, which predicts and evaluates with trained models.
package studies

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
)

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

// Search is the start and the extent of a search.
type Search struct {
	Start  config.Config // set by Check, as Folds and Fixed
	Budget int           // different settings to try
	Folds  int           // of the seen classes; at least 1
	Fixed  []string      // keys of settings that are not searched
	File   string        // config file to write
}

var searchEntry = Entry{"search", func() results.Study { return new(Search) }, []results.Kind{{
	Name: "searched", Title: "Searched settings", Command: "search",
	Text: "Validation accuracy of the best settings of a search. It chose them, so it is optimistic.",
	New:  func() results.Result { return new(FoundSettings) },
}}}

// FoundSettings is what a search found.
type FoundSettings struct {
	Dataset string         `json:"dataset"`
	Method  string         `json:"method"`
	Budget  int            `json:"budget"`
	Folds   int            `json:"folds"`
	Epochs  int            `json:"epochs"`  // of a run that is trained to the end, at most
	Space   []string       `json:"space"`   // names of the settings that were searched
	Tried   []lab.Tried    `json:"tried"`   // best first; fewer than the budget if the space has no more
	Missing []lab.Missing  `json:"missing"` // failed runs
	Chosen  ChosenSettings `json:"chosen"`
	File    string         `json:"file"` // config file that was written

	fingerprint string // of the data
	data        string // the data directory, "" for the default
}

// ChosenSettings is the best combination.
type ChosenSettings struct {
	Accuracy lab.Summary   `json:"val_accuracy"` // over the seeds
	Epochs   int           `json:"epochs"`       // with the highest accuracy of their average curve
	Edges    []lab.Edge    `json:"edges"`        // settings whose best value is at an end of the space
	Config   config.Config `json:"config"`       // settings for the test stage, in the form of --config
}

func (c *Search) Settings(r *config.Request) setting.List {
	return append(r.SearchSettings("seeds"), setting.List{ // a search has its own seeds
		setting.Whole("budget", &c.Budget, 24, setting.Between(lab.MinBudget, config.MaxBudget)).
			In(setting.Searching),
		setting.Raw("to", &c.File, "").In(setting.Output).Noted("search-<dataset>-<method>.json in --out"),
	}.Common()...)
}

func (c *Search) Check(r *config.Request) (err error) {
	p := r.Presets[0]
	c.File = cmp.Or(c.File, config.SearchFile(r.Out, p.Dataset, p.DevSplit, p.Method.Label()))
	c.Folds, err = r.FoldsFor(p)
	return err
}

// Files is the config file with the chosen settings.
func (c *Search) Files(found results.Result) []results.File {
	begins := `{"fingerprint": "", "dataset": ""`
	return []results.File{{Flag: "to", Path: c.File, Begins: begins, Write: func(w io.Writer) error {
		r := found.(*FoundSettings)
		return r.Chosen.Config.Write(w, r.fingerprint)
	}}}
}

// finalSeeds is the number of seeds with which the two best settings are trained (supplement A of the paper).
const finalSeeds = 3

// Plan has the search on the dev stage.
func (c *Search) Plan(r *config.Request, _ *lab.Lab) (lab.Plan, error) {
	c.Start, c.Fixed = r.Presets[0].Config, r.Keys()
	start := c.Start
	start.Seeds = finalSeeds
	arm := lab.NewArm(start)
	arm.Tune, arm.Fixed = c.Budget, c.Fixed
	return lab.Plan{Arms: []lab.Arm{arm}, Stage: config.OnlyDev, Folds: max(c.Folds, 1)}, nil
}

// Summarise lists what was tried, the best first.
func (c *Search) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	o := done.Arms[0][0]
	if len(o.Tried) == 0 {
		return nil, fmt.Errorf("none of the settings has a model; the first that failed, %w", &o.Missing[0])
	}
	best := o.Tried[0]
	if best.Final == nil {
		return nil, fmt.Errorf("none of the best settings has a model with each of %d seeds; the "+
			"last that failed, %w", finalSeeds, &o.Missing[len(o.Missing)-1])
	}
	r := &FoundSettings{
		Dataset: c.Start.DataName(), Method: c.Start.Method.Label(), Budget: c.Budget, File: c.File,
		Folds: len(o.Folds), Epochs: c.Start.DevEpochs(), Space: o.Keys, Tried: o.Tried,
		Missing: append([]lab.Missing{}, o.Missing...), fingerprint: l.Fingerprint,
		Chosen: ChosenSettings{Accuracy: *best.Final, Epochs: o.Epochs, Edges: o.Edges, Config: o.Chosen},
	}
	chosen := &r.Chosen.Config
	chosen.Stage, chosen.Epochs, chosen.Seeds = config.OnlyTest, r.Chosen.Epochs, c.Start.Seeds
	return r, nil
}

func (s *FoundSettings) Follow(_, data string) { s.data = data }

func (s *FoundSettings) KindName() string { return "searched" }

// Tables are the best settings, and what was chosen.
func (s *FoundSettings) Tables() []*table.Table {
	best := s.Tried[:min(10, len(s.Tried))]
	t := table.New(fmt.Sprintf("%s on %s: the best %d of %s by validation accuracy, the mean over %s",
		s.Method, s.Dataset, len(best), format.Count(len(s.Tried), "setting"), format.Count(s.Folds, "fold")),
		"settings; below the first, those that differ from it", "best epoch", "accuracy, 1 seed",
		fmt.Sprintf("accuracy, %d seeds", finalSeeds), "s.e.m.").Right(3, 4, 5)
	for i, tried := range best {
		var settings []string
		for _, name := range s.Space {
			if value, ok := tried.Settings[name]; ok && (i == 0 || value != best[0].Settings[name]) {
				settings = append(settings, name+" "+format.Setting(value))
			}
		}
		final := cmp.Or(tried.Final, &lab.Summary{})
		t.Row(strings.Join(settings, ", "), tried.BestEpoch, format.Percent(tried.Accuracy), final.MeanText(),
			final.SEMText())
	}
	if len(s.Tried)+len(s.Missing) < s.Budget {
		t.Note("--budget %d: there are no more settings to try", s.Budget)
	}
	chosen := s.Chosen
	t.Note("1 seed: trained for a part of the epochs; %d seeds: the two best settings, for all epochs",
		finalSeeds)
	t.Note("chosen: the first, %s, for %s", chosen.Accuracy.MeanText(), format.Count(chosen.Epochs, "epoch"))
	for _, e := range chosen.Edges {
		end := strings.TrimPrefix("the "+e.End+" of", "the outside of")
		t.Note("  %s %s is %s the searched values: others beyond it may be better",
			e.Setting, format.Setting(e.Value), cmp.Or(end, "outside"))
	}
	if s.File != "" {
		words := []string{"run", "--config", s.File}
		if s.data != "" {
			words = append(words, "--data-dir", s.data)
		}
		t.Note("written to %s; evaluate it once on the test classes:\n  lago-train %s", s.File,
			format.ShellLine(words...))
	}
	return []*table.Table{t, results.MissingTable(s.Missing)}
}

func (s *FoundSettings) Figures(string) ([]plot.Figure, error) { return nil, nil }
