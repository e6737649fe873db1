package ablation

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Family is the ablation of one configuration.
type Family struct {
	*Result
	grid grid
}

// Has reports whether a trial is part of the ablation.
func (f Family) Has(t train.Trial) bool { return f.grid.has(t) }

// All makes one table for each configuration of a data set and variant that was run in at
// least two designs in dir, De Morgan among them, and trains nothing.
func All(dir, dataset, fingerprint string, v model.Variant) ([]Family, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	c := protocol.PresetFor(dataset, v).Config
	alpha := alphaOf(c.Trial(train.Dev, "", c.Seed, c.DevEpochs()))
	bases := slices.DeleteFunc(ablationBases(runs, alpha), func(b train.Trial) bool {
		return b.Dataset != dataset || b.Fingerprint != fingerprint || b.Model.Variant != v
	})
	var families []Family
	for _, base := range bases {
		g := gridOf(runs, base)
		families = append(families, Family{g.fromRuns(dir, runs, g.seeds(runs)), g})
	}
	return families, nil
}

// IsLAGO reports whether this is the design of LAGO.
func (d Design) IsLAGO() bool { return d == lago }

// ablationBases returns the configurations that were run in at least two designs on the
// dev stage, in the order of their first run. A search varies prior and alpha, but never the
// none-of-group term: only an ablation has De Morgan runs. The configurations have no design
// but the alpha of explicit supervision in these runs, or the given one if there is none yet;
// trials with implicit supervision belong to each of them.
func ablationBases(runs []lab.Run, alpha float64) []train.Trial {
	var order []train.Trial // without alpha
	found := map[train.Trial]map[Design]bool{}
	isAblation := map[train.Trial]bool{}
	alphas := map[train.Trial][]float64{}
	for _, r := range runs {
		if r.Stage != train.Dev || r.Baseline.Method != "" || r.Model.Prior == model.PerGroup && designOf(r.Trial) != perGroup {
			continue
		}
		base := baseOf(r.Trial)
		if found[base] == nil {
			order = append(order, base)
			found[base] = map[Design]bool{}
		}
		found[base][designOf(r.Trial)] = true
		if r.Model.Complement != model.DeMorgan {
			continue
		}
		isAblation[base] = true
		if alpha := r.Model.Alpha; alpha > 0 && !slices.Contains(alphas[base], alpha) {
			alphas[base] = append(alphas[base], alpha)
		}
	}
	var bases []train.Trial
	for _, base := range order {
		if len(found[base]) < 2 || !isAblation[base] {
			continue
		}
		if alphas[base] == nil {
			alphas[base] = []float64{alpha}
		}
		for _, alpha := range alphas[base] {
			base.Model.Alpha = alpha
			bases = append(bases, base)
		}
	}
	return bases
}

// gridOf returns the grid of one of ablationBases, with the prior per group if it was run.
func gridOf(runs []lab.Run, base train.Trial) grid {
	g := grid{baseOf(base), append(designs(), perGroup), []float64{base.Model.Alpha}}
	if !slices.ContainsFunc(runs, func(r lab.Run) bool { return designOf(r.Trial) == perGroup && g.has(r.Trial) }) {
		g.designs = designs()
	}
	return g
}

// seeds lists the seeds of the runs of an ablation, ascending.
func (g grid) seeds(runs []lab.Run) []uint64 {
	var seeds []uint64
	for _, r := range runs {
		// The design of LAGO may have more seeds, by other commands.
		if seed := r.Training.Seed; r.Model.Complement == model.DeMorgan && g.has(r.Trial) && !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// fromRuns returns the table of the runs of a folder with the given seeds.
func (g grid) fromRuns(dir string, runs []lab.Run, seeds []uint64) *Result {
	index := map[train.Trial]lab.Run{}
	for _, r := range runs {
		index[r.Trial] = r
	}
	var out []lab.Run
	for _, t := range g.trials(seeds) {
		r, ok := index[t]
		if !ok {
			r = lab.Run{Trial: t, Dir: filepath.Join(dir, t.Name()), Err: errors.New("not trained")}
		}
		out = append(out, r)
	}
	return g.result(out)
}
