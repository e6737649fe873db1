// Package engine runs plans: arms (a method with settings, or several among which the
// validation classes choose) by parts (divisions of the classes) by stages (dev and test).
// All studies that train are plans. It prints nothing.
//
// The dev stage trains on the train classes and stops by the validation classes; its average
// curve gives the number of epochs. The test stage trains on both and is evaluated once on the
// test classes. Where a plan asks for it, settings are searched on the dev stage first
// (supplement A of the paper), by the same search for LAGO and for every baseline.
package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Plan is arms by parts by stages.
type Plan struct {
	Arms  []Arm
	Stage config.Stages
	Folds int // of the seen classes, over which settings are chosen; 0 is 1
}

// Arm is a method with settings, or several settings of which the validation classes choose:
// those of the variants of LAGO.
type Arm struct {
	Name   string          // in results
	Title  string          // in tables and figures
	Starts []config.Config // each is searched around; the two best are compared over all seeds
	Tune   int             // settings to try, in equal parts around each start; 0 and 1 take the starts alone
	Fixed  []string        // keys of settings that its search does not vary
	Parts  []lab.View      // nil for those of the lab
	// EpochsOf names the arm whose epochs, mean over its parts, the test stage of this one has. It has no dev
	// stage then.
	EpochsOf string
}

// LAGOMethod is the name of LAGO with the variant that does best on the validation classes.
// Variants and baselines have their own names.
const LAGOMethod = "lago"

// leftOut returns nil if the data of a lab allows the method, otherwise why not.
func leftOut(l *lab.Lab, m methods.Named) *lab.Missing {
	if v := m.Variant(); v.Semantic() && l.Data.Groups == nil {
		return &lab.Missing{Name: string(v), State: lab.LeftOut, Why: "the data set has no attribute groups"}
	}
	return nil
}

// Outcome is the result of an arm in one part.
type Outcome struct {
	Part    lab.View
	Chosen  config.Config
	Folds   []lab.View
	Epochs  int       // best of the average dev curve, otherwise the number of the test stage
	Val     []lab.Run // of the dev stage, over the folds; nil without one, or if a run is missing
	Test    []lab.Run // of the test stage
	Missing []lab.Missing
	Edges   []Edge
	Tried   []Tried // best first
	// number of corrections that each was tried with
	Corrections int
	Searched    []string // keys of settings that the search varied

	// Searches has for each start that the data allows the accuracy of the best settings after each
	// that was tried.
	Searches [][]float64
}

// Result is the outcomes of a plan: of each arm, in each part.
type Result struct {
	Plan    Plan
	Arms    [][]*Outcome
	Missing []lab.Missing // starts that the data does not allow, and runs of the outcomes, each once
}

// Done reports whether all stages of an arm have their runs, in every part.
func (r *Result) Done(arm int) bool {
	s := r.Plan.Stage
	return len(r.Arms[arm]) > 0 && !slices.ContainsFunc(r.Arms[arm], func(o *Outcome) bool {
		return o.Val == nil && s != config.OnlyTest && r.Plan.Arms[arm].EpochsOf == "" || o.Test == nil && s != config.OnlyDev
	})
}

type runner struct {
	lab  *lab.Lab
	plan Plan
}

// Run carries out a plan. Runs that fail are missing from the result. The error is that of the settings or
// the data or, unless the plan has the dev stage alone, that of runs which other shards have not finished.
func Run(ctx context.Context, l *lab.Lab, p Plan) (*Result, error) {
	r := &runner{lab: l, plan: p}
	result := &Result{Plan: p, Missing: []lab.Missing{}, Arms: make([][]*Outcome, len(p.Arms))}
	entries, err := r.entries(result)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 && len(result.Missing) > 0 {
		return nil, &invalid.Error{
			Field: "variant", Want: "one that the data set allows", Got: result.Missing[0].Error(), Hint: model.WithoutGroups(),
		}
	}
	outcomes := make([]*Outcome, len(entries))
	for i, e := range entries {
		c := e.searches[0].base
		outcomes[i] = &Outcome{Part: e.part, Folds: e.folds, Chosen: c, Epochs: c.TestEpochs()}
	}
	if p.Stage != config.OnlyTest {
		if err := r.develop(ctx, entries, outcomes); err != nil {
			return nil, err
		}
		setEpochs(p, entries, outcomes)
	}
	if p.Stage != config.OnlyDev {
		if err := r.test(ctx, entries, outcomes); err != nil {
			return nil, err
		}
	}
	for i, o := range outcomes {
		result.Arms[entries[i].arm] = append(result.Arms[entries[i].arm], o)
		for _, m := range o.Missing {
			if !slices.Contains(result.Missing, m) {
				result.Missing = append(result.Missing, m)
			}
		}
	}
	if waiting := Waiting(result.Missing); waiting != nil && p.Stage != config.OnlyDev {
		return nil, waiting
	}
	return result, nil
}

// Waiting returns the error of runs that other shards have not finished, nil if there are none.
func Waiting(list []lab.Missing) error {
	if n := len(slices.DeleteFunc(slices.Clone(list), func(m lab.Missing) bool { return m.State != lab.Waiting })); n > 0 {
		return &lab.Incomplete{Left: format.Count(n, "run")}
	}
	return nil
}

// do does lists of trials together.
func (r *runner) do(ctx context.Context, lists [][]lab.Task) ([][]lab.Run, error) {
	runs, err := r.lab.Do(ctx, slices.Concat(lists...))
	if err != nil {
		return nil, err
	}
	done := make([][]lab.Run, len(lists))
	for i, list := range lists {
		done[i], runs = runs[:len(list)], runs[len(list):]
	}
	return done, nil
}

// entry is an arm in one part.
type entry struct {
	arm      int
	part     lab.View
	folds    []lab.View
	searches []*search // one for each start that the data allows
	seeds    int
}

// entries lists the arms that the data allows in their parts. Arms with the same start share its search in
// a part. What the data does not allow is added to the result.
func (r *runner) entries(result *Result) (all []entry, err error) {
	shared := map[string]*search{}
	for i, arm := range r.plan.Arms {
		parts := arm.Parts
		if parts == nil {
			parts = r.lab.Parts
		}
		for _, part := range parts {
			e := entry{arm: i, part: part}
			if e.folds, err = r.lab.Folds(part, max(r.plan.Folds, 1)); err != nil {
				return nil, err
			}
			for _, c := range arm.Starts {
				if out := leftOut(r.lab, c.Method); out != nil {
					if !slices.Contains(result.Missing, *out) {
						result.Missing = append(result.Missing, *out)
					}
					continue
				}
				found, err := methods.Find(c.Method.Name)
				if err != nil {
					return nil, err
				}
				e.seeds = c.Seeds
				tune := max(arm.Tune/len(arm.Starts), 1)
				if !found.Seeded {
					e.seeds = 1
				}
				trial := c.Trials(e.folds[0], train.Dev, 1)[0].Name()
				key := fmt.Sprint(part.Fingerprint, tune, arm.Fixed, trial, c.Correction, c.Epochs)
				if shared[key] == nil {
					shared[key] = newSearch(c, e.folds, tune, arm.Fixed, found)
				}
				e.searches = append(e.searches, shared[key])
			}
			if e.searches != nil {
				all = append(all, e)
			}
		}
	}
	return all, nil
}

// setEpochs sets the epochs of arms that have those of another one: 0, and no test stage, if that one lacks
// dev runs.
func setEpochs(p Plan, entries []entry, outcomes []*Outcome) {
	for i, o := range outcomes {
		like := p.Arms[entries[i].arm].EpochsOf
		if like == "" {
			continue
		}
		sum, parts := 0, 0
		for j, other := range outcomes {
			if p.Arms[entries[j].arm].Name != like {
				continue
			}
			if other.Val == nil {
				sum, parts = 0, 1
				break
			}
			sum, parts = sum+other.Epochs, parts+1
		}
		o.Epochs = int(math.Round(float64(sum) / float64(parts)))
	}
}

// search carries out the searches of all entries, each once, and returns the state of each. Where
// nothing is to be chosen, the start was tried.
func (r *runner) search(ctx context.Context, entries []entry) ([][]state, error) {
	var searches []*search
	for _, e := range entries {
		for _, s := range e.searches {
			if (s.budget.coarse > 1 || len(e.searches) > 1) && !slices.Contains(searches, s) {
				searches = append(searches, s)
			}
		}
	}
	states, err := r.searchAll(ctx, searches)
	found := make([][]state, len(entries))
	for i, e := range entries {
		for _, s := range e.searches {
			if k := slices.Index(searches, s); k < 0 {
				found[i] = append(found[i], state{tried: []Tried{{Config: s.base}}})
			} else if err == nil {
				found[i] = append(found[i], states[k])
			}
		}
	}
	return found, err
}

// finalist is settings that are trained to the end with all seeds, and the search that found them.
type finalist struct {
	*search
	*Tried
}

// finalists are the two best settings, of several searches, those of the variants of LAGO, the best of
// each of the two best.
func (e entry) finalists(found []state) (list []finalist) {
	each := max(3-len(found), 1)
	for i, st := range found {
		if Waiting(st.missing) != nil {
			return nil
		}
		for k := range st.tried[:min(each, len(st.tried))] {
			list = append(list, finalist{e.searches[i], &st.tried[k]})
		}
	}
	slices.SortStableFunc(list, func(a, b finalist) int { return bestFirst(*a.Tried, *b.Tried) })
	return list[:min(2, len(list))]
}

// develop searches, runs the dev stage of the finalists with all seeds, over the folds, and chooses
// between them and, if that was searched, their correction.
func (r *runner) develop(ctx context.Context, entries []entry, outcomes []*Outcome) error {
	found, err := r.search(ctx, entries)
	if err != nil {
		return err
	}
	finals := make([][]finalist, len(entries))
	var lists [][]lab.Task
	for i, e := range entries {
		if r.plan.Arms[e.arm].EpochsOf == "" {
			finals[i] = e.finalists(found[i])
		}
		for _, f := range finals[i] {
			lists = append(lists, f.trialsOf(batch{settings: []config.Config{f.Config}, seeds: e.seeds}))
		}
	}
	done, err := r.do(ctx, lists)
	if err != nil {
		return err
	}
	var chosen []lab.Run
	for i, e := range entries {
		o, best := outcomes[i], -1.0
		o.Corrections, o.Searched = max(len(e.searches[0].corrections), 1), e.searches[0].searched
		for _, st := range found[i] {
			o.Missing = append(o.Missing, st.missing...)
			o.Searches = append(o.Searches, st.best)
		}
		for _, f := range finals[i] {
			runs, settings := done[0], f.Config
			done = done[1:]
			epochs, mean := 0, best
			if missing := lab.MissingOf(runs); len(missing) > 0 {
				o.Missing = append(o.Missing, missing...)
				if r.plan.Stage != config.OnlyDev || o.Val != nil {
					continue
				} // else the other runs are shown
			} else {
				settings, _ = f.corrected(settings, runs, validation(runs).Mean)
				for i := range runs {
					runs[i].Evaluate(settings.Correction)
				}
				accuracy := validation(runs)
				f.Config, f.Settings, f.Final = settings, f.settings(settings), &accuracy
				if mean = accuracy.Mean; mean <= best {
					continue
				}
				if epochs, err = DevEpoch(runs); err != nil {
					return err
				}
			}
			best = mean
			o.Chosen, o.Epochs, o.Edges, o.Val = settings, epochs, []Edge{}, runs
			if f.budget.coarse > 1 {
				o.Edges = f.space.edges(settings)
			}
			if lab.EndedAt(runs, epochs) {
				o.Edges = append(o.Edges, Edge{"epochs", epochs, "highest"})
			}
		}
		for _, st := range found[i] {
			o.Tried = append(o.Tried, st.tried...)
		}
		slices.SortStableFunc(o.Tried, bestFirst)
		chosen = append(chosen, o.Val...)
	}
	return r.lab.Decide(ctx, chosen)
}

// test runs the test stage of what was chosen.
func (r *runner) test(ctx context.Context, entries []entry, outcomes []*Outcome) error {
	lists := make([][]lab.Task, len(entries))
	for i, o := range outcomes {
		if r.plan.Stage == config.OnlyTest || o.Val != nil || r.plan.Arms[entries[i].arm].EpochsOf != "" && o.Epochs > 0 {
			c := o.Chosen
			c.Seeds = entries[i].seeds
			lists[i] = c.Trials(o.Part, train.Test, o.Epochs)
		}
	}
	tested, err := r.do(ctx, lists)
	if err == nil {
		err = r.lab.Decide(ctx, slices.Concat(tested...))
	}
	for i, runs := range tested {
		if missing := lab.MissingOf(runs); len(missing) > 0 {
			outcomes[i].Missing = append(outcomes[i].Missing, missing...)
		} else if len(runs) > 0 {
			outcomes[i].Test = runs
		}
	}
	return err
}

// CheckArms returns an *invalid.Error if an arm occurs twice.
func CheckArms(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return &invalid.Error{Field: "methods", Want: "each method once", Got: name + " twice"}
		}
	}
	return nil
}

// BaselineArm is the arm of a baseline with its defaults and, of common, the preprocessing and what all
// methods have: also the correction, if common has that of the paper, or one of the given keys sets it.
func BaselineArm(name string, common config.Config, tune int, given []string) (Arm, error) {
	e, err := methods.Find(name)
	if err != nil {
		return Arm{}, err
	}
	c := common.WithMethodOf(config.Defaults(e.Default()))
	settings := c.Settings()
	for _, key := range methods.CorrectionKeys {
		if slices.Contains(given, key) || key == "correction" && common.Paper() {
			text := fmt.Sprint(common.Value(key))
			if err := settings.Set(setting.Assignment{Key: key, Text: text}); err != nil {
				return Arm{}, &invalid.Error{Field: key, Want: "one that all methods can have", Got: text + ", which " + name + " cannot"}
			}
		}
	}
	return Arm{Name: e.Name, Title: e.Title, Starts: []config.Config{c}, Tune: tune}, nil
}

// SearchedBudget is the number of settings that a baseline tries beside variants that are not searched.
const SearchedBudget = 16

// FullPlan is the full protocol for variants with their settings, and for baselines, which try SearchedBudget
// settings with the preprocessing, seeds, epochs, patience and held-out samples of like. They try corrections,
// too, unless that of like is of the paper or was given.
func FullPlan(variants []config.Config, baselines []string, like config.Config, given []string) (Plan, error) {
	p := Plan{Stage: config.DevThenTest}
	for _, c := range variants {
		title := c.Method.Variant().Info().Title
		p.Arms = append(p.Arms, Arm{Name: c.Method.Label(), Title: title, Starts: []config.Config{c}})
	}
	for _, name := range baselines {
		arm, err := BaselineArm(name, like, SearchedBudget, given)
		if err != nil {
			return p, err
		}
		arm.Fixed = append([]string{"preprocess", "ridge"}, given...)
		if like.Paper() {
			arm.Fixed = append(arm.Fixed, methods.CorrectionKeys...)
		}
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
// Without variants it is otherwise.
func ForBaselines(variants []config.Config, otherwise config.Config) config.Config {
	for i, c := range variants {
		if i == 0 || c.Method.Variant() == model.SemanticHard {
			otherwise = c
		}
	}
	return otherwise
}
