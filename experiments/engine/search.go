package engine

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// MinBudget is two settings to choose from.
const MinBudget = 2

// FurtherSeeds is the number of further seeds of the best settings (supplement A).
const FurtherSeeds = 3

const refiningRounds = 4

// budget is the division of the settings of a search.
type budget struct {
	coarse  int
	refined [refiningRounds]int // around the best of all before
	best    int                 // of all, settings that are run with further seeds
}

// divide gives half of the settings to the coarse search, or two thirds if there are few, the
// others to refining rounds, and further seeds to an eighth of all, at most five.
func divide(settings int) budget {
	b := budget{coarse: min(settings-settings/3, max(settings/2, 8)), best: min(max(settings/8, 1), 5)}
	for i := range settings - b.coarse {
		b.refined[i%refiningRounds]++
	}
	return b
}

// searcher is the search for settings of one method in one part. A budget of 1 tries the
// settings that it starts from alone.
type searcher struct {
	base    Config
	space   space
	folds   []lab.View // settings are chosen by the mean over their validation classes
	budget  budget
	further int // further seeds of the best settings; 0 for a method without randomness

	seen    map[string]bool // names of trials
	tried   []Tried         // in order of accuracy, the first of equals first
	failed  []lab.Run       // in the order in which they failed
	trials  int
	waiting bool // for other shards
}

// Tried is the result of one combination of settings.
type Tried struct {
	Config
	Accuracy  float64      // validation accuracy of the first seed, the mean over folds
	BestEpoch int          // of the average curve of the folds
	Further   *lab.Summary // of the further seeds; nil unless all were run
	Epochs    int          // of the average curve of the further seeds
	Runs      []lab.Run    // of the first seed, one per fold
}

func newSearcher(base Config, folds []lab.View, settings, further int, fixed []string) *searcher {
	base = base.On(folds[0].Data) // what is left to the data is searched around, too
	return &searcher{
		base: base, space: base.searchSpace(len(folds[0].Data.Attributes), fixed), folds: folds,
		budget: divide(settings), further: further, seen: map[string]bool{},
	}
}

// batch is the new settings of one searcher in a round.
type batch struct {
	settings []Config
	first    uint64 // added to the seed
	seeds    int
}

// searchAll carries out searches side by side, so that each round is one grid. A search whose
// trials are left to other shards goes no further.
func (r *runner) searchAll(ctx context.Context, searchers []*searcher) error {
	type round struct {
		name string
		next func(s *searcher) batch
		end  func(s *searcher, b batch, runs []lab.Run) error
	}
	rounds := []round{{"coarse", (*searcher).coarse, (*searcher).rank}}
	for i := range refiningRounds {
		rounds = append(rounds, round{"refining", func(s *searcher) batch { return s.refine(s.budget.refined[i]) }, (*searcher).rank})
	}
	rounds = append(rounds, round{"further seeds", (*searcher).best, (*searcher).rankBest})
	for _, round := range rounds {
		batches := make([]batch, len(searchers))
		lists := make([][]train.Trial, len(searchers))
		total := 0
		for i, s := range searchers {
			if !s.waiting {
				batches[i] = round.next(s)
				lists[i] = s.trialsOf(batches[i])
			}
			s.trials += len(lists[i])
			total += len(lists[i])
		}
		if total == 0 {
			continue
		}
		if r.plan.OnRound != nil {
			r.plan.OnRound(round.name, total)
		}
		runs, err := r.lab.Do(ctx, slices.Concat(lists...))
		if err != nil {
			return err
		}
		r.waits(round.name, runs)
		done := lab.Split(runs, lists)
		for i, s := range searchers {
			s.failed = append(s.failed, lab.Failures(done[i])...)
			if s.waiting = s.waiting || lab.WaitingFor(round.name, done[i]) != nil; s.waiting {
				continue
			}
			if err := round.end(s, batches[i], done[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// trialsOf lists the trials of a batch: for each settings, for each fold, one per seed.
func (s *searcher) trialsOf(b batch) []train.Trial {
	var trials []train.Trial
	for _, c := range b.settings {
		c.Seed, c.Seeds = c.Seed+b.first, b.seeds
		for _, fold := range s.folds {
			trials = append(trials, c.Trials(fold, train.Dev, c.DevEpochs())...)
		}
	}
	return trials
}

// coarse tries the settings that the search starts from, the general defaults, the start
// without preprocessing, and different draws from the space, or all that it has.
func (s *searcher) coarse() batch {
	const spare = 20 // draws for each that is needed; settings that make no difference make some equal
	list := []Config{s.base}
	if s.budget.coarse > 1 {
		// A preset may be far from the best on other features than its own, and the settings of
		// baselines were published for features as they are.
		list = append(list, s.searched(Defaults(s.base.Method).On(s.folds[0].Data)), s.searched(s.base.With("preprocess", preprocess.None)))
		list = append(list, s.space.draw(s.base, spare*s.budget.coarse, s.source(0))...)
	}
	return s.unseen(list, s.budget.coarse)
}

// searched returns the start of the search with those settings of from that are searched.
func (s *searcher) searched(from Config) Config {
	c := s.base
	for _, d := range s.space {
		c = c.With(d.key, d.of(from))
	}
	return c
}

// refine tries n neighbours of the best settings so far; where those have no more,
// of the next best.
func (s *searcher) refine(n int) batch {
	rng := rand.New(s.source(uint64(len(s.seen))))
	var list []Config
	for _, t := range s.tried {
		list = append(list, s.space.neighbours(t.Config, rng)...)
	}
	return s.unseen(list, n)
}

func (s *searcher) source(stream uint64) rand.Source { return rand.NewPCG(s.base.Seed, stream) }

// unseen returns the first n settings whose trials were not used before.
func (s *searcher) unseen(list []Config, n int) batch {
	b := batch{seeds: 1}
	for _, c := range list {
		if len(b.settings) == n {
			break
		}
		one := c
		one.Seeds = 1
		if name := one.Trials(s.folds[0], train.Dev, 1)[0].Name(); !s.seen[name] {
			s.seen[name] = true
			b.settings = append(b.settings, c)
		}
	}
	return b
}

// rank ranks the settings of a round among the others. Those with a failed fold are left out.
func (s *searcher) rank(b batch, runs []lab.Run) error {
	for i, c := range b.settings {
		folds := runs[i*len(s.folds) : (i+1)*len(s.folds)]
		if len(lab.Failures(folds)) > 0 {
			continue
		}
		epoch, err := DevEpoch(folds)
		if err != nil {
			return err
		}
		s.tried = append(s.tried, Tried{Config: c, Accuracy: validation(folds).Mean, BestEpoch: epoch, Runs: folds})
	}
	slices.SortStableFunc(s.tried, bestFirst)
	return nil
}

// best returns the best settings, to run with further seeds.
func (s *searcher) best() batch {
	b := batch{first: 1, seeds: s.further}
	if s.further == 0 || s.budget.coarse < 2 {
		return b
	}
	for _, t := range s.tried[:min(s.budget.best, len(s.tried))] {
		b.settings = append(b.settings, t.Config)
	}
	return b
}

// rankBest ranks the best settings by their further seeds alone, because the first seed
// selected them. Settings with a failed trial come last.
func (s *searcher) rankBest(b batch, runs []lab.Run) error {
	best := s.tried[:len(b.settings)]
	each := len(s.folds) * s.further
	for i := range best {
		part := runs[i*each : (i+1)*each]
		if len(lab.Failures(part)) > 0 {
			continue
		}
		epochs, err := DevEpoch(part)
		if err != nil {
			return err
		}
		summary := validation(part)
		best[i].Further, best[i].Epochs = &summary, epochs
	}
	slices.SortStableFunc(best, bestFirst)
	return nil
}

// bestFirst orders by the further seeds and, where these are equal or not run, by the first.
func bestFirst(a, b Tried) int {
	of := func(t Tried) lab.Summary {
		if t.Further == nil {
			return lab.Summary{}
		}
		return *t.Further
	}
	return cmp.Or(lab.ByMean(of(a), of(b)), cmp.Compare(b.Accuracy, a.Accuracy))
}

// Found is the result of a search.
type Found struct {
	Tried  []Tried // best first
	Space  []string
	Folds  int
	Trials int // of all folds and seeds
	Edges  []Edge
	Failed []lab.Run
}

// Settings returns the searched settings of t that apply, by key.
func (f *Found) Settings(t Tried) map[string]any {
	values := t.Config.Settings().Used().Values()
	for key := range values {
		if !slices.Contains(f.Space, key) {
			delete(values, key)
		}
	}
	return values
}

// Search finds the settings of a method by the paper's procedure (supplement A) on the dev
// stage, over folds of the seen classes: a coarse search of the space, starting from c itself;
// finer rounds around the best; then further seeds of the best settings, whose average chooses
// and whose average curve gives the number of epochs. Trials that fail count as the worst. The
// error is a *lab.Waiting if a round needs the trials of other shards.
//
// The same c and plan use the same trials.
func Search(ctx context.Context, l *lab.Lab, c Config, p Plan, settings int) (*Found, error) {
	folds, err := l.Folds(l.Parts[0], max(p.Folds, 1))
	if err != nil {
		return nil, err
	}
	s := newSearcher(c, folds, settings, FurtherSeeds, p.Fixed)
	r := &runner{lab: l, plan: p}
	if err := r.searchAll(ctx, []*searcher{s}); err != nil {
		return nil, err
	}
	if r.waiting != nil {
		return nil, r.waiting
	}
	f := &Found{Tried: s.tried, Folds: len(folds), Trials: s.trials, Failed: s.failed}
	for _, d := range s.space {
		f.Space = append(f.Space, d.key)
	}
	if len(s.tried) > 0 {
		f.Edges = s.space.edges(s.tried[0].Config)
	}
	return f, nil
}
