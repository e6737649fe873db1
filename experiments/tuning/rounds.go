package tuning

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// searcher is the state of a search.
type searcher struct {
	lab     *lab.Lab
	base    protocol.Config
	options SearchOptions
	space   space

	seen   map[train.Trial]bool
	tried  []Tried // in order of accuracy, the first of equals first
	failed []lab.Run
	trials int
}

// coarse tries the settings that the search starts from and n-1 different draws from the
// space, or all that it has.
func (s *searcher) coarse(ctx context.Context, n int) error {
	const spare = 20 // draws for each that is needed; settings that a config does not use make some equal
	configs := append([]protocol.Config{s.base}, s.space.draw(s.base, spare*n, s.source(0))...)
	return s.try(ctx, "coarse", s.unseen(configs, n))
}

// refine tries n neighbours of the best settings so far; where those have no more,
// of the next best.
func (s *searcher) refine(ctx context.Context, n int) error {
	rng := rand.New(s.source(uint64(s.trials)))
	var candidates []protocol.Config
	for _, t := range s.tried {
		candidates = append(candidates, s.space.neighbours(t.config, rng)...)
	}
	return s.try(ctx, "refining", s.unseen(candidates, n))
}

func (s *searcher) source(stream uint64) rand.Source { return rand.NewPCG(s.base.Seed, stream) }

// trialOf returns the trial of a config.
func (s *searcher) trialOf(c protocol.Config) train.Trial {
	return c.Trials(s.lab, train.Dev, c.DevEpochs())[0]
}

// unseen returns the first n configs whose trials were not used before.
func (s *searcher) unseen(configs []protocol.Config, n int) []protocol.Config {
	var fresh []protocol.Config
	for _, c := range configs {
		if t := s.trialOf(c); len(fresh) < n && !s.seen[t] {
			s.seen[t] = true
			fresh = append(fresh, c)
		}
	}
	return fresh
}

// do runs the trials of a round. It fails if other shards have not finished theirs.
func (s *searcher) do(ctx context.Context, round string, trials []train.Trial) ([]lab.Run, error) {
	s.trials += len(trials)
	if s.options.OnRound != nil {
		s.options.OnRound(round, len(trials))
	}
	done, err := s.lab.Do(ctx, trials)
	if err != nil {
		return nil, err
	}
	if err := lab.WaitingFor(round, done); err != nil {
		return nil, err
	}
	s.failed = append(s.failed, lab.Failures(done)...)
	return done, nil
}

// try runs a round of new settings and ranks them among the others.
func (s *searcher) try(ctx context.Context, round string, configs []protocol.Config) error {
	if len(configs) == 0 {
		return nil
	}
	trials := make([]train.Trial, len(configs))
	for i, c := range configs {
		trials[i] = s.trialOf(c)
	}
	done, err := s.do(ctx, round, trials)
	if err != nil {
		return err
	}
	for i, t := range done {
		if t.Err != nil {
			continue
		}
		settings := map[string]any{}
		for _, d := range s.space {
			if d.AppliesTo(configs[i]) {
				settings[d.Key] = d.Value(configs[i])
			}
		}
		s.tried = append(s.tried, Tried{
			Settings: settings, Accuracy: t.Result.Evaluation.PerClass, BestEpoch: t.Result.BestEpoch, Dir: t.Dir, config: configs[i],
		})
	}
	slices.SortStableFunc(s.tried, func(a, b Tried) int { return cmp.Compare(b.Accuracy, a.Accuracy) })
	if len(s.tried) == 0 {
		return fmt.Errorf("none of the %d trials of the %s round has a model; the first, %s: %w", len(trials), round, done[0].Dir, done[0].Err)
	}
	return nil
}

// further runs the n best settings with further seeds and ranks them by these alone,
// because the first seed selected them. Settings with a failed seed come last.
func (s *searcher) further(ctx context.Context, n int) error {
	best := s.tried[:min(n, len(s.tried))]
	var trials []train.Trial
	for _, t := range best {
		c := t.config
		c.Seed, c.Seeds = c.Seed+1, FurtherSeeds
		trials = append(trials, c.Trials(s.lab, train.Dev, c.DevEpochs())...)
	}
	done, err := s.do(ctx, "further seeds", trials)
	if err != nil {
		return err
	}
	for i := range best {
		part := done[i*FurtherSeeds : (i+1)*FurtherSeeds]
		if len(lab.Failures(part)) > 0 {
			continue
		}
		if best[i].epochs, err = protocol.DevEpoch(part); err != nil {
			return err
		}
		best[i].Further = &protocol.Measure(part).PerClass
	}
	slices.SortStableFunc(best, func(a, b Tried) int { return lab.ByMean(further(a), further(b)) })
	return nil
}

// further is the zero Summary unless all further seeds were run.
func further(t Tried) lab.Summary {
	if t.Further == nil {
		return lab.Summary{}
	}
	return *t.Further
}
