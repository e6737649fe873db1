// Package search finds the settings of the arms of a plan on the dev stage (supplement A of the paper), by
// the same search for LAGO and for every baseline, and carries out the plan with them.
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

type searched struct {
	*lab.Outcome
	searches []*search
	finals   []finalist // in the order of the starts of the outcome
}

type finalist struct {
	*search
	*lab.Tried
}

// Run carries out a plan. For each arm and part, settings are searched on the dev stage; the two best are
// trained to the end with all seeds, and the validation classes choose between them. Arms without a choice
// are trained as they are. See lab.Outcomes.Run for the errors.
func Run(ctx context.Context, l *lab.Lab, p lab.Plan) (*lab.Outcomes, error) {
	outcomes, err := p.Prepare(l)
	if err != nil {
		return nil, err
	}
	list, searches := searchesOf(outcomes)
	if err := carryOut(ctx, l, searches); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].setStarts()
	}
	if err := outcomes.Run(ctx, l); err != nil {
		return nil, err
	}
	for _, s := range list {
		s.report()
	}
	return outcomes, nil
}

// searchesOf returns the outcomes with something to choose, and all searches of them.
func searchesOf(outcomes *lab.Outcomes) (list []searched, searches []*search) {
	for i, arm := range outcomes.Plan.Arms {
		for _, o := range outcomes.Arms[i] {
			settings := max(arm.Tune/len(arm.Starts), 1) // of each search
			if settings < lab.MinBudget && len(o.Starts) == 1 {
				continue
			}
			s := searched{Outcome: o}
			for _, start := range o.Starts {
				s.searches = append(s.searches, newSearch(start.Config, o.Folds, settings, arm.Fixed))
			}
			list, searches = append(list, s), append(searches, s.searches...)
		}
	}
	return list, searches
}

// setStarts makes finalists the starts of the outcome: the two best settings; of several searches, those of
// the variants of LAGO, the best of each of the two best. There are none before all searches ended.
func (s *searched) setStarts() {
	each := max(3-len(s.searches), 1)
	waiting := false
	for _, search := range s.searches {
		waiting = waiting || lab.StillWaiting(search.missing) != nil
		for k := range search.tried[:min(each, len(search.tried))] {
			s.finals = append(s.finals, finalist{search, &search.tried[k]})
		}
		s.Missing = append(s.Missing, search.missing...)
	}
	slices.SortStableFunc(s.finals, func(a, b finalist) int { return bestFirst(*a.Tried, *b.Tried) })
	s.finals = s.finals[:min(2, len(s.finals))]
	if s.Starts = nil; waiting {
		return
	}
	for _, f := range s.finals {
		s.Starts = append(s.Starts, lab.Start{Config: f.Config, Corrections: f.corrections})
	}
}

func (s searched) report() {
	first := s.searches[0]
	s.Tried, s.Corrections, s.Keys = nil, max(len(first.corrections), 1), first.keys
	for k, start := range s.Starts {
		f := s.finals[k]
		if f.Config, f.Final = start.Config, start.Accuracy; f.Final != nil {
			f.Settings = f.settings(f.Config)
		}
		if k == s.Best && f.rounds[0] > 1 {
			s.Edges = append(f.space.edges(f.Config), s.Edges...)
		}
	}
	for _, search := range s.searches {
		s.Tried = append(s.Tried, search.tried...)
	}
	slices.SortStableFunc(s.Tried, bestFirst)
}

const refiningRounds = 2

// shorter is the part of the epochs for which the settings that a search tries are trained. The best ones
// are trained to the end.
const shorter = 6

// divide gives half of the settings to the coarse search, or two thirds if there are few, and the
// others to refining rounds, around the best of all before.
func divide(settings int) (rounds [1 + refiningRounds]int) {
	rounds[0] = min(settings-settings/3, max(settings/2, 8))
	for i := range settings - rounds[0] {
		rounds[1+i%refiningRounds]++
	}
	return rounds
}

// search is the search around the settings of one method in one part. A budget of 1 tries these alone.
type search struct {
	base        config.Config
	space       space
	folds       []lab.View              // settings are chosen by the mean over their validation classes
	closed      bool                    // the whole grid is tried
	epochs      int                     // for which settings are tried, at most
	rounds      [1 + refiningRounds]int // numbers of settings
	corrections []model.Correction      // of which the validation classes choose
	keys        []string                // of settings that are searched

	// found so far
	tried   []lab.Tried   // best first, without settings that failed
	seen    []string      // names of trials, one of each settings
	missing []lab.Missing // in the order in which they were asked for
}

func newSearch(base config.Config, folds []lab.View, settings int, fixed []string) *search {
	method := base.Method.Entry()
	s := &search{
		base: base, space: newSpace(base, len(folds[0].Data.Attributes), fixed), folds: folds,
		closed: method.Closed, epochs: base.DevEpochs(), rounds: divide(settings),
	}
	if method.Seeded { // others have an optimum, which ends the training
		s.epochs = max(s.epochs/shorter, 1)
	}
	for _, d := range s.space {
		s.keys = append(s.keys, d.key)
	}
	if settings < lab.MinBudget {
		return s
	}
	if s.closed {
		s.rounds = [1 + refiningRounds]int{len(s.space.grid(base)) + 1}
	}
	for _, c := range base.Method.Corrections() {
		if slices.Contains(fixed, "correction") && c.Kind != base.Correction.Kind ||
			slices.Contains(fixed, "omega") && c.On() && c.Omega != base.Correction.Omega {
			continue
		}
		s.corrections = append(s.corrections, c)
	}
	if len(s.corrections) > 1 {
		s.keys = append(s.keys, methods.CorrectionKeys...)
	}
	return s
}

// carryOut carries out searches side by side, so that each round is one grid. A search whose trials are left
// to other shards goes no further.
func carryOut(ctx context.Context, l *lab.Lab, searches []*search) error {
	for round := range 1 + refiningRounds {
		next := make([][]config.Config, len(searches))
		lists := make([][]train.Trial, len(searches))
		total := 0
		for i, s := range searches {
			next[i] = s.next(round)
			for _, c := range next[i] {
				lists[i] = append(lists[i], lab.DevTrials(c, s.folds, 1, s.epochs)...)
			}
			total += len(lists[i])
		}
		if total == 0 {
			continue
		}
		l.Step("search: %s, %s", []string{"coarse", "refining"}[min(round, 1)], format.Count(total, "run"))
		done, err := l.DoLists(ctx, lists)
		if err != nil {
			return err
		}
		for i, s := range searches {
			if err := s.add(next[i], done[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the settings of a round: first the coarse search, then neighbours of the best.
func (s *search) next(round int) []config.Config {
	switch {
	case lab.StillWaiting(s.missing) != nil:
		return nil
	case round == 0:
		return s.coarse()
	}
	return s.refine(s.rounds[round])
}

// coarse tries the settings that the search starts from, the general defaults, the start
// without preprocessing, and different draws from the space, or all that it has.
func (s *search) coarse() []config.Config {
	const spare = 20 // draws for each that is needed; settings that make no difference make some equal
	list := []config.Config{s.base}
	switch {
	case s.rounds[0] <= 1:
	case s.closed:
		list = append(list, s.space.grid(s.base)...)
	default:
		// A preset may be far from the best on other features than its own, and the settings of
		// baselines were published for features as they are.
		list = append(list, s.startFrom(config.Defaults(s.base.Method).On(s.folds[0].Data)),
			s.startFrom(s.base.With("preprocess", preprocess.None)))
		list = append(list, s.space.draw(s.base, spare*s.rounds[0], s.source(0))...)
	}
	return s.unseen(list, s.rounds[0])
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
func (s *search) refine(n int) []config.Config {
	rng := rand.New(s.source(uint64(len(s.seen))))
	var list []config.Config
	for _, t := range s.tried {
		list = append(list, s.space.neighbours(t.Config, rng)...)
	}
	return s.unseen(list, n)
}

func (s *search) source(stream uint64) rand.Source { return rand.NewPCG(s.base.Seed, stream) }

// unseen returns the first n settings whose trials were not used before, with the correction of
// the start, on which no training depends.
func (s *search) unseen(list []config.Config, n int) (next []config.Config) {
	for _, c := range list {
		if len(next) == n {
			break
		}
		c = c.WithCorrection(s.base.Correction)
		if name := lab.DevTrials(c, s.folds[:1], 1, 1)[0].Name(); !slices.Contains(s.seen, name) {
			s.seen, next = append(s.seen, name), append(next, c)
		}
	}
	return next
}

func (s *search) add(settings []config.Config, runs []lab.Run) error {
	s.missing = append(s.missing, lab.MissingOf(runs)...)
	if lab.StillWaiting(s.missing) != nil {
		return nil
	}
	for i, c := range settings {
		part := runs[i*len(s.folds) : (i+1)*len(s.folds)]
		if len(lab.MissingOf(part)) > 0 {
			continue
		}
		epoch, err := lab.DevEpoch(part)
		if err != nil {
			return err
		}
		c, mean := lab.Corrected(c, s.corrections, part)
		s.tried = append(s.tried, lab.Tried{
			Config: c, Settings: s.settings(c), Accuracy: mean, BestEpoch: epoch, Dirs: lab.Dirs(part),
		})
	}
	slices.SortStableFunc(s.tried, bestFirst)
	return nil
}

func (s *search) settings(c config.Config) map[string]any {
	return slices.DeleteFunc(c.Settings().Used(), func(listed setting.Setting) bool {
		return !slices.Contains(s.keys, listed.Key)
	}).Values()
}

// bestFirst orders by all seeds and, where these are equal or not run, by the first.
func bestFirst(a, b lab.Tried) int {
	final := func(t lab.Tried) lab.Summary {
		if t.Final == nil {
			return lab.Summary{}
		}
		return *t.Final
	}
	return cmp.Or(lab.ByMean(final(a), final(b)), cmp.Compare(b.Accuracy, a.Accuracy))
}
