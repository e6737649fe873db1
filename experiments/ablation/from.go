package ablation

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// AblationFrom makes the table from the runs that have a folder in dir, and trains
// nothing. An ablation in dir is a configuration that was run in at least two of
// the eight designs. Where there are several, only those count that have the
// settings of c whose names are in chosen; the error is a *Ambiguous where more
// than one is left. The seeds are those of c where "seed" or "seeds" is chosen, else
// those that are found.
func From(dir string, c protocol.Config, chosen []string) (*Result, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	wanted := ablationBase(c.Trial(train.Dev, "", c.Seed, c.DevEpochs()))
	bases := slices.DeleteFunc(ablationBases(runs, wanted.Model.Alpha), func(b train.Trial) bool { return !agree(b, wanted, chosen) })
	switch len(bases) {
	case 0:
		return nil, fmt.Errorf("%s: expected the trials of an ablation, one configuration in some of its %d designs, found none%s",
			dir, len(designs()), withSettings(chosen))
	case 1:
	default:
		return nil, &Ambiguous{dir, len(bases), differences(bases)}
	}
	seeds := seedList(c)
	if !slices.Contains(chosen, "seeds") && !slices.Contains(chosen, "seed") {
		seeds = seedsOf(runs, bases[0])
	}
	return newAblation(bases[0], gather(dir, runs, ablationTrials(bases[0], seeds))), nil
}

func withSettings(chosen []string) string {
	if len(chosen) == 0 {
		return ""
	}
	return " with the given " + strings.Join(chosen, ", ")
}

// Ambiguous says that a folder holds the ablation of more than one configuration.
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

// differences lists the settings that are not the same in all of the trials.
func differences(trials []train.Trial) []Difference {
	var list []Difference
	for i, s := range protocol.Settings(trials[0]) {
		var values []string
		for _, t := range trials {
			v := fmt.Sprint(protocol.Settings(t)[i].Value)
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

// agree says whether two trials have the named settings in common.
func agree(a, b train.Trial, names []string) bool {
	other := protocol.Settings(b)
	for i, s := range protocol.Settings(a) {
		if s.Name == "k" && b.Model.K == 0 {
			continue // stands for a number that the data decides
		}
		if slices.Contains(names, s.Name) && s.Value != other[i].Value {
			return false
		}
	}
	return true
}

// ablationBases finds the configurations that were run in at least two designs on
// the dev stage, in the order of their first run. Their alpha is that of explicit
// supervision, or the given one where there is no such run yet; trials with implicit
// supervision belong to each of them.
func ablationBases(runs []lab.Run, alpha float64) []train.Trial {
	var order []train.Trial // alpha taken out
	found := map[train.Trial]map[Design]bool{}
	alphas := map[train.Trial][]float64{}
	for _, r := range runs {
		if r.Stage != train.Dev || r.Baseline.Method != "" {
			continue
		}
		base := baseOf(r.Trial)
		base.Model.Alpha = 0
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

// seedsOf lists the seeds of the runs of an ablation, ascending.
func seedsOf(runs []lab.Run, base train.Trial) []uint64 {
	var seeds []uint64
	for _, r := range runs {
		seed := r.Training.Seed
		if designOf(r.Trial).apply(base, seed) == r.Trial && !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// errNotTrained says that a trial has no folder.
var errNotTrained = errors.New("not trained")

// gather finds trials among the runs of a folder.
func gather(dir string, runs []lab.Run, trials []train.Trial) []lab.Run {
	index := map[train.Trial]lab.Run{}
	for _, r := range runs {
		index[r.Trial] = r
	}
	out := make([]lab.Run, len(trials))
	for i, t := range trials {
		var ok bool
		if out[i], ok = index[t]; !ok {
			out[i] = lab.Run{Trial: t, Dir: filepath.Join(dir, t.Name()), Err: errNotTrained}
		}
	}
	return out
}
