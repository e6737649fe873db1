package tuning

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
)

// contenders returns the methods with tuned settings, ready for the dev stage.
func (c Config) contenders(ctx context.Context, l *lab.Lab, r *Methods) ([]*contender, error) {
	baselines, err := c.baselines(l)
	if err != nil {
		return nil, err
	}
	if err := tune(ctx, l, baselines); err != nil {
		return nil, err
	}
	variants, err := c.variants(ctx, l, r)
	if err != nil {
		return nil, err
	}
	var all []*contender
	for _, name := range c.Methods {
		if p, ok := baselines[name]; ok {
			all = append(all, p)
			continue
		}
		m := &contender{name: name, title: published.Method(model.Variant(name)), seeds: c.Seeds}
		if name == LAGOMethod {
			m.title = published.ResultRow
		}
		for _, v := range variants {
			if name == LAGOMethod || name == v.name {
				m.finalists = append(m.finalists, v.finalists...)
				m.tried += v.tried
			}
		}
		if len(m.finalists) > 0 {
			all = append(all, m)
		}
	}
	return all, nil
}

// baselines returns a contender for each baseline; its finalists are all settings to try.
func (c Config) baselines(l *lab.Lab) (map[string]*contender, error) {
	all := map[string]*contender{}
	for _, name := range c.Methods {
		m, err := methods.Find(name)
		if err != nil {
			continue // LAGO
		}
		candidates, err := c.candidates(m)
		if err != nil {
			return nil, err
		}
		p := &contender{name: name, title: m.Title, seeds: 1, tried: len(candidates)}
		if m.Seeded {
			p.seeds = c.Seeds
		}
		for _, config := range candidates {
			p.finalists = append(p.finalists, c.baselineTrial(l, config))
		}
		all[name] = p
	}
	return all, nil
}

func (c Config) baselineTrial(l *lab.Lab, config methods.Spec) train.Trial {
	return train.Trial{
		Dataset: l.Data.Name, Fingerprint: l.Fingerprint(), Stage: train.Dev,
		Preprocess: c.Preprocess, Ridge: c.Ridge, HoldOut: c.HoldOut, Baseline: config,
		Training: train.Training{Epochs: c.Epochs, Patience: c.Patience, Seed: c.Seed},
	}
}

// candidates returns the settings of a baseline to try: its defaults with the fixed
// settings and, within the budget, others drawn from its grid with the seed of c.
func (c Config) candidates(m methods.Method) ([]methods.Spec, error) {
	base := methods.Spec{Method: m.Name, Settings: m.Default}
	space := m.Space()
	for _, f := range c.Fixed {
		if f.Method != m.Name {
			continue
		}
		var err error
		if base, err = base.Set(f.Setting, f.Value); err != nil {
			return nil, err
		}
		space = slices.DeleteFunc(space, func(a baseline.Setting) bool { return a.Name == f.Setting })
	}
	if err := base.Check(); err != nil {
		return nil, err
	}
	if c.Budget == 0 && !m.FullGrid {
		return []methods.Spec{base}, nil
	}
	grid, err := gridOf(base, space)
	if err != nil || m.FullGrid {
		return grid, err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x7e4e))
	rng.Shuffle(len(grid), func(i, j int) { grid[i], grid[j] = grid[j], grid[i] })
	grid = slices.DeleteFunc(grid, func(g methods.Spec) bool { return g == base })
	return append([]methods.Spec{base}, grid[:min(c.Budget-1, len(grid))]...), nil
}

// gridOf returns every combination of the values of a space, over base.
func gridOf(base methods.Spec, space []baseline.Setting) ([]methods.Spec, error) {
	grid := []methods.Spec{base}
	for _, axis := range space {
		var wider []methods.Spec
		for _, g := range grid {
			for _, v := range axis.Search {
				value, err := json.Marshal(v)
				if err != nil {
					return nil, err
				}
				next, err := g.Set(axis.Name, value)
				if err != nil {
					return nil, err
				}
				wider = append(wider, next)
			}
		}
		grid = wider
	}
	return grid, nil
}

// tune keeps for each baseline the settings with the best validation accuracy, the first
// of equals. Settings whose trial fails count as the worst.
func tune(ctx context.Context, l *lab.Lab, baselines map[string]*contender) error {
	var names []string
	var lists [][]train.Trial
	for _, name := range methods.Names() {
		if p := baselines[name]; p != nil && len(p.finalists) > 1 {
			names, lists = append(names, name), append(lists, p.finalists)
		}
	}
	done, err := l.DoAll(ctx, lists)
	if err != nil {
		return err
	}
	for i, name := range names {
		if err := lab.WaitingFor("tuning", done[i]); err != nil {
			return err
		}
		best := -1
		for j, t := range done[i] {
			if t.Err == nil && (best < 0 || t.Result.Evaluation.PerClass > done[i][best].Result.Evaluation.PerClass) {
				best = j
			}
		}
		baselines[name].failed = lab.Failures(done[i])
		if best < 0 {
			baselines[name].finalists = nil
			continue
		}
		baselines[name].finalists = []train.Trial{lists[i][best]}
	}
	return nil
}

// variants returns a contender for each variant, with the settings of its config or, with
// a budget, those that a search finds.
func (c Config) variants(ctx context.Context, l *lab.Lab, r *Methods) ([]*contender, error) {
	var all []*contender
	for _, config := range c.LAGO {
		if out := protocol.Allows(l, config.Variant); out != nil {
			r.LeftOut = append(r.LeftOut, *out)
			continue
		}
		tried := 1
		if c.Budget > 0 {
			s, err := Search(ctx, l, config, SearchOptions{Budget: c.Budget, Fixed: c.Given})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", config.Variant, err)
			}
			found := s.Chosen.Config
			found.Stage, found.Epochs, found.Seeds = config.Stage, config.Epochs, config.Seeds
			config, tried = found, len(s.Tried)
		}
		all = append(all, &contender{
			name: string(config.Variant), tried: tried,
			finalists: config.Trials(l, train.Dev, config.DevEpochs())[:1],
		})
	}
	return all, nil
}
