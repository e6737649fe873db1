package tuning

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// SearchOptions is the extent of a search.
type SearchOptions struct {
	Budget int      // different settings to try, at least MinBudget
	Folds  int      // of the seen classes, see lab.Folds; at least 1
	Fixed  []string // keys of settings that are not searched
	// OnRound, if set, is called at the start of each round with its number of trials.
	OnRound func(round string, trials int)
}

// MinBudget is two settings to choose from.
const MinBudget = 2

// FurtherSeeds is the number of further seeds of the best settings (supplement A).
const FurtherSeeds = 3

// budget is the division of the settings of a search.
type budget struct {
	coarse  int
	refined [refiningRounds]int // around the best of all before
	best    int                 // of all, settings that are run with further seeds
}

const refiningRounds = 4

// divide gives half of the settings to the coarse search, or two thirds if there are few, the
// others to refining rounds, and further seeds to an eighth of all, at most five.
func divide(settings int) budget {
	b := budget{coarse: min(settings-settings/3, max(settings/2, 8)), best: min(max(settings/8, 1), 5)}
	for i := range settings - b.coarse {
		b.refined[i%refiningRounds]++
	}
	return b
}

// Found is the result of a search.
type Found struct {
	Dataset string        `json:"dataset"`
	Variant model.Variant `json:"variant"`
	Budget  int           `json:"budget"`
	Folds   int           `json:"folds"`
	Trials  int           `json:"trials"` // of all folds and seeds
	Epochs  int           `json:"epochs"` // of a trial, at most
	Space   []string      `json:"space"`  // names of the settings that were searched
	Tried   []Tried       `json:"tried"`  // best first; fewer than the budget if the space has no more
	Chosen  Chosen        `json:"chosen"`
	Missing []lab.Missing `json:"missing"` // failed trials
}

// Tried is one combination of settings.
type Tried struct {
	Settings  map[string]any `json:"settings"`      // that were searched
	Accuracy  float64        `json:"val_accuracy"`  // mean over folds
	BestEpoch int            `json:"best_epoch"`    // of the average curve of the folds
	Further   *lab.Summary   `json:"further_seeds"` // validation accuracy; null except for the best
	Dirs      []string       `json:"dirs"`          // of the folds
}

// Chosen is the best combination.
type Chosen struct {
	Accuracy lab.Summary     `json:"val_accuracy"` // of the further seeds
	Epochs   int             `json:"epochs"`       // with the highest accuracy of their average curve
	Edges    []Edge          `json:"edges"`        // settings whose best value is at an end of the space
	Config   protocol.Config `json:"config"`       // for the test stage
}

// Search finds the settings of c's variant by the paper's procedure (supplement A) on the
// dev stage, over folds of the seen classes: a coarse search of the space, starting from c
// itself; finer rounds around the best; then further seeds of the best settings, whose
// average chooses and whose average curve gives the number of epochs. Trials that fail
// count as the worst. The error is a *lab.Waiting if a round needs the trials of other
// shards.
//
// The same c and options use the same trials.
func Search(ctx context.Context, l *lab.Lab, c protocol.Config, o SearchOptions) (*Found, error) {
	if o.Budget < MinBudget {
		return nil, &invalid.Error{Field: "budget", Want: fmt.Sprintf("at least %d settings", MinBudget), Got: strconv.Itoa(o.Budget)}
	}
	folds, err := l.Folds(l.Parts[0], o.Folds)
	if err != nil {
		return nil, err
	}
	s := newSearcher(string(c.Variant), candidate{config: c}, folds, o.Budget, FurtherSeeds, o.Fixed)
	if err := searchAll(ctx, l, []*searcher{s}, o.OnRound); err != nil {
		return nil, err
	}
	if len(s.tried) == 0 {
		return nil, fmt.Errorf("none of the settings has a model; the first that failed, %s: %w", s.failed[0].Dir, s.failed[0].Err)
	}
	if s.tried[0].further == nil {
		last := s.failed[len(s.failed)-1]
		return nil, fmt.Errorf("none of the best settings has a model with each of %d further seeds; the last that failed, %s: %w",
			FurtherSeeds, last.Dir, last.Err)
	}
	r := &Found{
		Dataset: c.Dataset, Variant: c.Variant, Budget: o.Budget, Folds: len(folds), Trials: s.trials, Epochs: c.DevEpochs(),
		Missing: lab.MissingOf(s.failed),
		Chosen:  Chosen{Accuracy: *s.tried[0].further, Epochs: s.tried[0].epochs, Edges: s.space.edges(s.tried[0].candidate)},
	}
	for _, d := range s.space {
		r.Space = append(r.Space, d.key)
	}
	for _, t := range s.tried {
		one := Tried{Settings: map[string]any{}, Accuracy: t.accuracy, BestEpoch: t.bestEpoch, Further: t.further}
		for _, d := range s.space {
			if d.applies(t.candidate) {
				one.Settings[d.key] = d.get(t.candidate)
			}
		}
		for _, run := range t.runs {
			one.Dirs = append(one.Dirs, run.Dir)
		}
		r.Tried = append(r.Tried, one)
	}
	r.Chosen.Config = s.tried[0].config
	r.Chosen.Config.Stage, r.Chosen.Config.Epochs, r.Chosen.Config.Seeds = protocol.OnlyTest, r.Chosen.Epochs, c.Seeds
	return r, nil
}

// newSearcher returns a search that starts from base. A budget of 1 tries base alone.
func newSearcher(name string, base candidate, folds []lab.View, settings, further int, fixed []string) *searcher {
	attributes := len(folds[0].Data.Attributes)
	base.config = base.config.On(folds[0].Data) // what is left to the data is searched around, too
	return &searcher{
		name: name, base: base, space: base.searchSpace(attributes, fixed), folds: folds,
		budget: divide(settings), further: further, seen: map[train.Trial]bool{},
	}
}
