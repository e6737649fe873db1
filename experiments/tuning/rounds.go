package tuning

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// searcher is the search of one method in one part.
type searcher struct {
	name    string // of the variant or baseline
	base    candidate
	space   space
	folds   []lab.View // settings are chosen by the mean over their val classes
	budget  budget
	further int // further seeds of the best settings; 0 for a method without randomness

	seen   map[train.Trial]bool
	tried  []tried   // in order of accuracy, the first of equals first
	failed []lab.Run // in the order in which they failed
	trials int
}

// tried is the result of one candidate.
type tried struct {
	candidate
	accuracy  float64 // of the first seed, the mean over folds
	bestEpoch int     // of the average curve of the folds
	further   *lab.Summary
	epochs    int // of the average curve of the further seeds
	runs      []lab.Run
}

// batch is the new candidates of one searcher in a round.
type batch struct {
	candidates []candidate
	first      uint64 // added to the seed
	seeds      int
}

// searchAll carries out searches side by side, so that each round is one grid. It fails if
// other shards have not finished their trials of a round.
func searchAll(ctx context.Context, l *lab.Lab, searchers []*searcher, onRound func(round string, trials int)) error {
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
			batches[i] = round.next(s)
			lists[i] = s.trialsOf(batches[i])
			s.trials += len(lists[i])
			total += len(lists[i])
		}
		if total == 0 {
			continue
		}
		if onRound != nil {
			onRound(round.name, total)
		}
		done, err := doAll(ctx, l, round.name, lists)
		if err != nil {
			return err
		}
		for i, s := range searchers {
			s.failed = append(s.failed, lab.Failures(done[i])...)
			if err := round.end(s, batches[i], done[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// doAll does the trials of a round. It fails while other shards have not finished theirs.
func doAll(ctx context.Context, l *lab.Lab, round string, lists [][]train.Trial) ([][]lab.Run, error) {
	done, err := l.DoAll(ctx, lists)
	if err != nil {
		return nil, err
	}
	return done, lab.WaitingFor(round, slices.Concat(done...))
}

// trialsOf lists the trials of a batch: for each candidate, for each fold, one per seed.
func (s *searcher) trialsOf(b batch) []train.Trial {
	var trials []train.Trial
	for _, c := range b.candidates {
		c.config.Seed += b.first
		for _, fold := range s.folds {
			trials = append(trials, c.trials(fold, train.Dev, c.config.DevEpochs(), b.seeds)...)
		}
	}
	return trials
}

// coarse tries the settings that the search starts from, the general defaults, the start
// without preprocessing, and different draws from the space, or all that it has.
func (s *searcher) coarse() batch {
	const spare = 20 // draws for each that is needed; settings that make no difference make some equal
	candidates := []candidate{s.base}
	if s.budget.coarse > 1 {
		candidates = append(candidates, s.defaults(), s.raw())
		candidates = append(candidates, s.space.draw(s.base, spare*s.budget.coarse, s.source(0))...)
	}
	return s.unseen(candidates, s.budget.coarse)
}

// defaults returns the start of the search with the general defaults: a preset may be far
// from the best on other features than its own.
func (s *searcher) defaults() candidate {
	return s.searched(protocol.DefaultsOf(s.base.config.Variant).On(s.folds[0].Data))
}

// raw returns the start of the search on features as they are, which the settings of
// baselines were published for.
func (s *searcher) raw() candidate {
	config := s.base.config
	config.Preprocess = preprocess.None
	return s.searched(config)
}

// searched returns the start of the search with those settings of config that are searched.
func (s *searcher) searched(config protocol.Config) candidate {
	c, from := s.base, s.base
	from.config = config
	for _, d := range s.space {
		d.set(&c, d.get(from))
	}
	return c
}

// refine tries n neighbours of the best settings so far; where those have no more,
// of the next best.
func (s *searcher) refine(n int) batch {
	rng := rand.New(s.source(uint64(len(s.seen))))
	var candidates []candidate
	for _, t := range s.tried {
		candidates = append(candidates, s.space.neighbours(t.candidate, rng)...)
	}
	return s.unseen(candidates, n)
}

func (s *searcher) source(stream uint64) rand.Source {
	return rand.NewPCG(s.base.config.Seed, stream)
}

// unseen returns the first n candidates whose trials were not used before.
func (s *searcher) unseen(candidates []candidate, n int) batch {
	b := batch{seeds: 1}
	for _, c := range candidates {
		if len(b.candidates) == n {
			break
		}
		if t := c.trials(s.folds[0], train.Dev, 1, 1)[0]; !s.seen[t] {
			s.seen[t] = true
			b.candidates = append(b.candidates, c)
		}
	}
	return b
}

// rank ranks the candidates of a round among the others. Those with a failed fold are
// left out.
func (s *searcher) rank(b batch, runs []lab.Run) error {
	for i, c := range b.candidates {
		folds := runs[i*len(s.folds) : (i+1)*len(s.folds)]
		if len(lab.Failures(folds)) > 0 {
			continue
		}
		epoch, err := protocol.DevEpoch(folds)
		if err != nil {
			return err
		}
		s.tried = append(s.tried, tried{candidate: c, accuracy: accuracy(folds).Mean, bestEpoch: epoch, runs: folds})
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
		b.candidates = append(b.candidates, t.candidate)
	}
	return b
}

// rankBest ranks the best settings by their further seeds alone, because the first seed
// selected them. Settings with a failed trial come last.
func (s *searcher) rankBest(b batch, runs []lab.Run) error {
	best := s.tried[:len(b.candidates)]
	each := len(s.folds) * s.further
	for i := range best {
		part := runs[i*each : (i+1)*each]
		if len(lab.Failures(part)) > 0 {
			continue
		}
		epochs, err := protocol.DevEpoch(part)
		if err != nil {
			return err
		}
		summary := accuracy(part)
		best[i].further, best[i].epochs = &summary, epochs
	}
	slices.SortStableFunc(best, bestFirst)
	return nil
}

// bestFirst orders by the further seeds and, where these are equal or not run, by the first.
func bestFirst(a, b tried) int {
	return cmp.Or(lab.ByMean(a.furtherSeeds(), b.furtherSeeds()), cmp.Compare(b.accuracy, a.accuracy))
}

// furtherSeeds is the zero Summary unless all further seeds were run.
func (t tried) furtherSeeds() lab.Summary {
	if t.further == nil {
		return lab.Summary{}
	}
	return *t.further
}

// accuracy is the validation accuracy of runs over seeds, each value a mean over folds.
func accuracy(runs []lab.Run) lab.Summary {
	var seeds []uint64
	sums, counts := map[uint64]float64{}, map[uint64]int{}
	for _, r := range runs {
		seed := r.Training.Seed
		if counts[seed] == 0 {
			seeds = append(seeds, seed)
		}
		sums[seed] += r.Result.Evaluation.PerClass
		counts[seed]++
	}
	values := make([]float64, len(seeds))
	for i, seed := range seeds {
		values[i] = sums[seed] / float64(counts[seed])
	}
	return lab.Summarise(values)
}
