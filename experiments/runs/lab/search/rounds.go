package search

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

const refiningRounds = 2

// shorter is the part of the epochs for which the settings that a search tries are trained. The best ones
// are trained to the end.
const shorter = 6

// budget is the division of the settings of a search.
type budget struct {
	coarse  int
	refined [refiningRounds]int // around the best of all before
}

// divide gives half of the settings to the coarse search, or two thirds if there are few, and the
// others to refining rounds.
func divide(settings int) budget {
	b := budget{coarse: min(settings-settings/3, max(settings/2, 8))}
	for i := range settings - b.coarse {
		b.refined[i%refiningRounds]++
	}
	return b
}

// search is the search for settings of one method in one part. A budget of 1 tries the settings
// that it starts from alone. It does not change: each round takes a state, and ends in another.
type search struct {
	base        config.Config
	space       space
	folds       []lab.View // settings are chosen by the mean over their validation classes
	closed      bool       // the whole grid is tried
	epochs      int        // for which settings are tried, at most
	budget      budget
	corrections []model.Correction // of which the validation classes choose
	searched    []string           // keys of settings
}

// state is what a search has found so far.
type state struct {
	tried   []lab.Tried   // best first, without settings that failed
	seen    []string      // names of trials, one of each settings
	missing []lab.Missing // in the order in which they were asked for
}

func newSearch(base config.Config, folds []lab.View, settings int, fixed []string, of methods.Entry) *search {
	base = base.On(folds[0].Data) // what is left to the data is searched around, too
	s := &search{
		base: base, space: newSpace(base, len(folds[0].Data.Attributes), fixed), folds: folds,
		closed: of.Closed,
		epochs: base.DevEpochs(), budget: divide(settings),
	}
	if of.Seeded { // others have an optimum, which ends the training
		s.epochs = max(s.epochs/shorter, 1)
	}
	for _, d := range s.space {
		s.searched = append(s.searched, d.key)
	}
	if settings < lab.MinBudget {
		return s
	}
	if s.closed {
		s.budget = budget{coarse: len(s.space.grid(base)) + 1}
	}
	own := base.Correction
	for _, c := range base.Method.Corrections() {
		if slices.Contains(fixed, "correction") && c.Kind != own.Kind || slices.Contains(fixed, "omega") &&
			c.On() && c.Omega != own.Omega {
			continue
		}
		s.corrections = append(s.corrections, c)
	}
	if len(s.corrections) > 1 {
		s.searched = append(s.searched, methods.CorrectionKeys...)
	}
	return s
}

// round is a step of all searches.
type round struct {
	name string
	next func(*search, state) []config.Config
}

// all carries out searches side by side, so that each round is one grid, and returns what
// each found. A search whose trials are left to other shards goes no further.
func all(ctx context.Context, l *lab.Lab, searches []*search) ([]state, error) {
	states := make([]state, len(searches))
	rounds := []round{{"coarse", (*search).coarse}}
	for i := range refiningRounds {
		rounds = append(rounds, round{"refining", func(s *search, st state) []config.Config {
			return s.refine(st, s.budget.refined[i])
		}})
	}
	for _, round := range rounds {
		next := make([][]config.Config, len(searches))
		lists := make([][]train.Trial, len(searches))
		total := 0
		for i, s := range searches {
			if lab.StillWaiting(states[i].missing) == nil {
				next[i] = round.next(s, states[i])
			}
			for _, c := range next[i] {
				lists[i] = append(lists[i], lab.DevTrials(c, s.folds, 1, s.epochs)...)
			}
			total += len(lists[i])
		}
		if total == 0 {
			continue
		}
		l.Step("search: %s, %s", round.name, format.Count(total, "run"))
		done, err := l.DoLists(ctx, lists)
		if err != nil {
			return nil, err
		}
		for i, s := range searches {
			if states[i], err = s.after(states[i], next[i], done[i]); err != nil {
				return nil, err
			}
		}
	}
	return states, nil
}

// coarse tries the settings that the search starts from, the general defaults, the start
// without preprocessing, and different draws from the space, or all that it has.
func (s *search) coarse(st state) []config.Config {
	const spare = 20 // draws for each that is needed; settings that make no difference make some equal
	list := []config.Config{s.base}
	switch {
	case s.budget.coarse <= 1:
	case s.closed:
		list = append(list, s.space.grid(s.base)...)
	default:
		// A preset may be far from the best on other features than its own, and the settings of
		// baselines were published for features as they are.
		list = append(list, s.startFrom(config.Defaults(s.base.Method).On(s.folds[0].Data)),
			s.startFrom(s.base.With("preprocess", preprocess.None)))
		list = append(list, s.space.draw(s.base, spare*s.budget.coarse, s.source(0))...)
	}
	return s.unseen(st, list, s.budget.coarse)
}

// startFrom returns the start of the search with those settings of from that are searched.
func (s *search) startFrom(from config.Config) config.Config {
	c := s.base
	for _, d := range s.space {
		c = c.With(d.key, from.Value(d.key))
	}
	return c
}

// refine tries n neighbours of the best settings so far; where those have no more, of the next best.
func (s *search) refine(st state, n int) []config.Config {
	rng := rand.New(s.source(uint64(len(st.seen))))
	var list []config.Config
	for _, t := range st.tried {
		list = append(list, s.space.neighbours(t.Config, rng)...)
	}
	return s.unseen(st, list, n)
}

func (s *search) source(stream uint64) rand.Source { return rand.NewPCG(s.base.Seed, stream) }

// unseen returns the first n settings whose trials were not used before, with the correction of
// the start, on which no training depends.
func (s *search) unseen(st state, list []config.Config, n int) (next []config.Config) {
	seen := slices.Clone(st.seen)
	for _, c := range list {
		if len(next) == n {
			break
		}
		c = c.WithCorrection(s.base.Correction)
		if name := s.nameOf(c); !slices.Contains(seen, name) {
			seen, next = append(seen, name), append(next, c)
		}
	}
	return next
}

func (s *search) nameOf(c config.Config) string {
	return lab.DevTrials(c, s.folds[:1], 1, 1)[0].Name()
}

// after returns the state after the runs of some settings, which are ranked among the others; those
// with a failed trial are left out.
func (s *search) after(st state, settings []config.Config, runs []lab.Run) (state, error) {
	next := state{
		tried: slices.Clone(st.tried), seen: slices.Clone(st.seen),
		missing: append(slices.Clone(st.missing), lab.MissingOf(runs)...),
	}
	waiting := lab.StillWaiting(next.missing) != nil
	for i, c := range settings {
		next.seen = append(next.seen, s.nameOf(c))
		part := runs[i*len(s.folds) : (i+1)*len(s.folds)]
		if waiting || len(lab.MissingOf(part)) > 0 {
			continue
		}
		epoch, err := lab.DevEpoch(part)
		if err != nil {
			return st, err
		}
		c, mean := lab.Corrected(c, s.corrections, part)
		one := lab.Tried{
			Config: c, Settings: s.settings(c), Accuracy: mean, BestEpoch: epoch, Dirs: lab.Dirs(part),
		}
		next.tried = append(next.tried, one)
	}
	slices.SortStableFunc(next.tried, bestFirst)
	return next, nil
}

// settings returns the searched settings of c that apply, by key.
func (s *search) settings(c config.Config) map[string]any {
	return slices.DeleteFunc(c.Settings().Used(), func(one setting.Setting) bool {
		return !slices.Contains(s.searched, one.Key)
	}).Values()
}

// bestFirst orders by all seeds and, where these are equal or not run, by the first.
func bestFirst(a, b lab.Tried) int {
	of := func(t lab.Tried) lab.Summary {
		if t.Final == nil {
			return lab.Summary{}
		}
		return *t.Final
	}
	return cmp.Or(lab.ByMean(of(a), of(b)), cmp.Compare(b.Accuracy, a.Accuracy))
}
