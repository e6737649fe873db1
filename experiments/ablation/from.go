package ablation

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// From returns the table of the runs in dir, and trains nothing. An ablation in dir is a
// configuration that was run in at least two of the eight designs. Only those count that
// agree with c in the chosen settings; the error is an *Ambiguous if several are left. The
// seeds are those of c if "seed" or "seeds" is chosen, otherwise those in dir. Runs with
// different alphas are several configurations, unless alphas lists those of one table. The
// prior per group has a row if it was run.
func From(dir string, c protocol.Config, alphas []float64, chosen []string) (*Result, error) {
	if err := checkAlphas(alphas); err != nil {
		return nil, err
	}
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	t := c.Trial(train.Dev, "", c.Seed, c.DevEpochs())
	wanted := baseOf(t)
	wanted.Model.Alpha = alphaOf(t)
	bases := slices.DeleteFunc(ablationBases(runs, wanted.Model.Alpha, alphas), func(b train.Trial) bool { return !agree(b, wanted, chosen) })
	switch len(bases) {
	case 0:
		want := fmt.Sprintf("one configuration in at least two of its %d designs", len(designs()))
		if len(chosen) > 0 {
			want += " with the given " + strings.Join(chosen, ", ")
		}
		return nil, &invalid.Error{Where: dir, Want: want, Got: "none"}
	case 1:
	default:
		return nil, &Ambiguous{dir, len(bases), differences(bases)}
	}
	g := gridOf(runs, bases[0])
	if alphas != nil {
		g.alphas = alphas
	}
	list := seeds(c)
	if !slices.Contains(chosen, "seeds") && !slices.Contains(chosen, "seed") {
		list = g.seeds(runs)
	}
	return g.fromRuns(dir, runs, list), nil
}

// Family is the ablation of one configuration.
type Family struct {
	*Result
	grid grid
}

// Has reports whether a trial is part of the ablation.
func (f Family) Has(t train.Trial) bool { return f.grid.has(t) }

// All makes one table for each configuration of a data set and variant that was run in at
// least two designs in dir, and trains nothing.
func All(dir, dataset, fingerprint string, v model.Variant) ([]Family, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	c := protocol.PresetFor(dataset, v).Config
	alpha := alphaOf(c.Trial(train.Dev, "", c.Seed, c.DevEpochs()))
	bases := slices.DeleteFunc(ablationBases(runs, alpha, nil), func(b train.Trial) bool {
		return b.Dataset != dataset || b.Fingerprint != fingerprint || b.Model.Variant != v
	})
	var families []Family
	for _, base := range bases {
		g := gridOf(runs, base)
		families = append(families, Family{g.fromRuns(dir, runs, g.seeds(runs)), g})
	}
	return families, nil
}

// Ambiguous is the error of a folder with the ablation of several configurations.
type Ambiguous struct {
	Dir    string
	Count  int
	Differ []Difference
}

// Difference is a setting in which configurations differ.
type Difference struct {
	Name   string
	Values []string
}

func (a *Ambiguous) Error() string {
	parts := make([]string, len(a.Differ))
	for i, d := range a.Differ {
		parts[i] = fmt.Sprintf("%s (%s)", d.Name, strings.Join(d.Values, ", "))
	}
	return fmt.Sprintf("%s: expected the ablation of one configuration, found %d, which differ in %s", a.Dir, a.Count, strings.Join(parts, ", "))
}

// differences lists the settings that are not the same in all trials.
func differences(trials []train.Trial) []Difference {
	var list []Difference
	for i, s := range protocol.OfTrial(trials[0]) {
		var values []string
		for _, t := range trials {
			v := fmt.Sprint(protocol.OfTrial(t)[i].Value)
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		slices.Sort(values) // runs are in the order of their digests
		if len(values) > 1 {
			list = append(list, Difference{s.Name, values})
		}
	}
	return list
}

// agree reports whether two trials agree in the named settings.
func agree(a, b train.Trial, names []string) bool {
	other := protocol.OfTrial(b)
	for i, s := range protocol.OfTrial(a) {
		if s.Name == "k" && b.Model.K == 0 {
			continue // 0 leaves the number to the data
		}
		if slices.Contains(names, s.Name) && s.Value != other[i].Value {
			return false
		}
	}
	return true
}

// ablationBases returns the configurations that were run in at least two designs on the
// dev stage, in the order of their first run. They have no design but the alpha of explicit
// supervision, or the given one if there is no such run yet; trials with implicit
// supervision belong to each of them. With chosen alphas, a configuration is listed once.
func ablationBases(runs []lab.Run, alpha float64, chosen []float64) []train.Trial {
	var order []train.Trial // without alpha
	found := map[train.Trial]map[Design]bool{}
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
		if alpha := r.Model.Alpha; alpha > 0 && !slices.Contains(alphas[base], alpha) {
			alphas[base] = append(alphas[base], alpha)
		}
	}
	var bases []train.Trial
	for _, base := range order {
		if len(found[base]) < 2 {
			continue
		}
		if alphas[base] == nil || chosen != nil {
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
		if seed := r.Training.Seed; g.has(r.Trial) && !slices.Contains(seeds, seed) {
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
