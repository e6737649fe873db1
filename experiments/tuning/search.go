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
	Budget int      // trials, at least MinBudget
	Fixed  []string // keys of settings that are not searched
	// OnRound, if set, is called at the start of each round with its number of trials.
	OnRound func(round string, trials int)
}

// MinBudget is two settings to choose from and the further seeds of one.
const MinBudget = 2 + FurtherSeeds

// FurtherSeeds is the number of further seeds of the best settings (supplement A).
const FurtherSeeds = 3

// budget is the division of the trials of a search.
type budget struct {
	coarse  int
	refined [2]int // around the best of all before
	best    int    // settings that are run with further seeds
}

// divide gives a quarter of the trials to the further seeds of up to five settings,
// and of the others two thirds to the coarse search.
func divide(trials int) budget {
	b := budget{best: min(max(trials/(4*FurtherSeeds), 1), 5)}
	left := trials - b.best*FurtherSeeds
	refined := left / 3
	b.coarse, b.refined = left-refined, [2]int{(refined + 1) / 2, refined / 2}
	return b
}

// Found is the result of a search.
type Found struct {
	Dataset string        `json:"dataset"`
	Variant model.Variant `json:"variant"`
	Budget  int           `json:"budget"`
	Trials  int           `json:"trials"` // that were used; fewer than the budget if the space has no more
	Epochs  int           `json:"epochs"` // of a trial, at most
	Space   []string      `json:"space"`  // names of the settings that were searched
	Tried   []Tried       `json:"tried"`  // best first
	Chosen  Chosen        `json:"chosen"`
	Missing []lab.Missing `json:"missing"` // failed trials

	space space
}

// Tried is one combination of settings.
type Tried struct {
	Settings  map[string]any `json:"settings"` // that were searched
	Accuracy  float64        `json:"val_accuracy"`
	BestEpoch int            `json:"best_epoch"`
	Further   *lab.Summary   `json:"further_seeds"` // validation accuracy; null except for the best
	Dir       string         `json:"dir"`

	config protocol.Config
	epochs int // the best of the average curve of the further seeds
}

// Chosen is the best combination.
type Chosen struct {
	Accuracy lab.Summary     `json:"val_accuracy"` // of the further seeds
	Epochs   int             `json:"epochs"`       // with the highest accuracy of their average curve
	Edges    []Edge          `json:"edges"`        // settings whose best value is at an end of the space
	Config   protocol.Config `json:"config"`       // for the test stage
}

// Search finds the settings of c's variant by the paper's procedure (supplement A) on the
// dev stage: a coarse search of the space, starting from c itself; two finer rounds around
// the best; then further seeds of the best settings, whose average chooses and whose
// average curve gives the number of epochs. Trials that fail count as the worst. The error
// is a *lab.Waiting if a round needs the trials of other shards.
//
// The same c and options use the same trials.
func Search(ctx context.Context, l *lab.Lab, c protocol.Config, o SearchOptions) (*Found, error) {
	if o.Budget < MinBudget {
		return nil, &invalid.Error{Field: "budget", Want: fmt.Sprintf("at least %d trials", MinBudget), Got: strconv.Itoa(o.Budget)}
	}
	seeds := c.Seeds
	c.Seeds = 1
	c.K = c.Trials(l, train.Dev, c.DevEpochs())[0].Model.K // which 0 leaves to the data
	s := &searcher{
		lab: l, base: c, options: o, seen: map[train.Trial]bool{},
		space: searchSpace(c.Variant, len(l.Data.Attributes), o.Fixed),
	}
	part := divide(o.Budget)
	if err := s.coarse(ctx, part.coarse); err != nil {
		return nil, err
	}
	for _, n := range part.refined {
		if err := s.refine(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := s.further(ctx, part.best); err != nil {
		return nil, err
	}
	return s.result(seeds)
}

// result returns the best settings, with the given number of seeds.
func (s *searcher) result(seeds int) (*Found, error) {
	best := s.tried[0]
	if best.Further == nil {
		last := s.failed[len(s.failed)-1]
		return nil, fmt.Errorf("none of the best settings has a model with each of %d further seeds; the last that failed, %s: %w",
			FurtherSeeds, last.Dir, last.Err)
	}
	r := &Found{
		Dataset: s.base.Dataset, Variant: s.base.Variant, Budget: s.options.Budget, Trials: s.trials, Epochs: s.base.DevEpochs(),
		Tried: s.tried, Missing: lab.MissingOf(s.failed), space: s.space,
		Chosen: Chosen{Accuracy: *best.Further, Epochs: best.epochs, Edges: s.space.edges(best.config)},
	}
	for _, d := range s.space {
		r.Space = append(r.Space, d.Key)
	}
	c := best.config
	c.Stage, c.Epochs, c.Seeds = protocol.OnlyTest, r.Chosen.Epochs, seeds
	r.Chosen.Config = c
	return r, nil
}
