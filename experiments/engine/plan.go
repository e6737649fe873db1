package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Plan is arms by parts by stages. The parts are those of the lab.
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
}

// LAGOMethod is the name of LAGO with the variant that does best on the validation classes.
// Variants and baselines have their own names.
const LAGOMethod = "lago"

// LeftOut is a variant that the data set does not allow.
type LeftOut struct {
	Variant model.Variant `json:"variant"`
	Why     string        `json:"why"`
}

// LeftOutText lists variants that the data set does not allow, one per line.
func LeftOutText(list []LeftOut) (lines []string) {
	for _, o := range list {
		lines = append(lines, fmt.Sprintf("%s is left out: %s", o.Variant, o.Why))
	}
	return lines
}

// Allows returns nil if the data of a lab allows the method, otherwise why not.
func Allows(l *lab.Lab, m methods.Spec) *LeftOut {
	if v := m.Variant(); v.Semantic() && l.Data.Groups == nil {
		return &LeftOut{v, "the data set has no attribute groups"}
	}
	return nil
}

// Outcome is the result of an arm in one part.
type Outcome struct {
	Part   lab.View
	Chosen config.Config
	Folds  []lab.View
	Epochs int       // best of the average dev curve, otherwise the number of the test stage
	Val    []lab.Run // of the dev stage, over the folds; nil without one, or if a run failed
	Test   []lab.Run // of the test stage
	Failed []lab.Run // runs without a model, also those that other shards have not finished
	Edges  []Edge
	Tried  int // number of settings

	seeds     int
	searchers []*searcher // one for each start that the data allows
}

// Done reports whether all stages of the plan have their runs.
func (o *Outcome) Done(s config.Stages) bool {
	return (s == config.OnlyTest || o.Val != nil) && (s == config.OnlyDev || o.Test != nil)
}

// Searches has for each search of the outcome the accuracy of the best settings after each that was tried.
func (o *Outcome) Searches() (list [][]float64) {
	for _, s := range o.searchers {
		list = append(list, s.best)
	}
	return list
}

// Done reports whether all stages of an arm have their runs, in every part.
func (r *Result) Done(arm int) bool {
	outcomes := r.Arms[arm]
	return len(outcomes) > 0 && !slices.ContainsFunc(outcomes, func(o *Outcome) bool { return !o.Done(r.Plan.Stage) })
}

// Result is the outcomes of a plan: of each arm, in each part.
type Result struct {
	Plan    Plan
	Arms    [][]*Outcome
	Missing []lab.Missing // runs without a model
	LeftOut []LeftOut     // of the starts
	Waiting *lab.Waiting  // the first round that waits for other shards, nil for none
}

// runner carries out a plan.
type runner struct {
	lab     *lab.Lab
	plan    Plan
	waiting *lab.Waiting
}

// Run carries out a plan. Runs that fail are listed in the outcomes. The error is that of the
// settings or the data, or a *lab.Cancelled.
func Run(ctx context.Context, l *lab.Lab, p Plan) (*Result, error) {
	r := &runner{lab: l, plan: p}
	result := &Result{Plan: p, LeftOut: []LeftOut{}, Arms: make([][]*Outcome, len(p.Arms))}
	all, err := r.outcomes(result)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(result.LeftOut) > 0 {
		return nil, notAllowed(result.LeftOut[0])
	}
	if p.Stage != config.OnlyTest {
		var searchers []*searcher
		for _, o := range all {
			for _, s := range o.searchers {
				if (s.budget.coarse > 1 || len(o.searchers) > 1) && !slices.Contains(searchers, s) {
					searchers = append(searchers, s)
				}
			}
		}
		if err := r.searchAll(ctx, searchers); err != nil {
			return nil, err
		}
		if err := r.develop(ctx, all); err != nil {
			return nil, err
		}
	}
	if p.Stage != config.OnlyDev {
		if err := r.test(ctx, all); err != nil {
			return nil, err
		}
	}
	result.Missing, result.Waiting = lab.MissingOf(result.Failed()), r.waiting
	return result, nil
}

// do does lists of trials together, and records the first round whose runs are in part left to
// other shards.
func (r *runner) do(ctx context.Context, round string, lists [][]train.Trial) ([][]lab.Run, error) {
	runs, err := r.lab.Do(ctx, slices.Concat(lists...))
	if err != nil {
		return nil, err
	}
	if r.waiting == nil {
		r.waiting = lab.WaitingFor(round, runs)
	}
	done := make([][]lab.Run, len(lists))
	for i, list := range lists {
		done[i], runs = runs[:len(list)], runs[len(list):]
	}
	return done, nil
}

// outcomes adds an outcome of each arm that the data allows, part after part, and returns them
// in this order. Arms with the same start share its search.
func (r *runner) outcomes(result *Result) (all []*Outcome, err error) {
	for _, part := range r.lab.Parts {
		folds, err := r.lab.Folds(part, max(r.plan.Folds, 1))
		if err != nil {
			return nil, err
		}
		shared := map[string]*searcher{}
		for i, arm := range r.plan.Arms {
			o := &Outcome{Part: part, Folds: folds}
			for _, c := range arm.Starts {
				if out := Allows(r.lab, c.Method); out != nil {
					if !slices.Contains(result.LeftOut, *out) {
						result.LeftOut = append(result.LeftOut, *out)
					}
					continue
				}
				entry, err := methods.Find(c.Method.Name)
				if err != nil {
					return nil, err
				}
				o.seeds = c.Seeds
				tune := max(arm.Tune/len(arm.Starts), 1)
				further := FurtherSeeds
				if divide(tune).best < 2 || !entry.Seeded {
					further = 0 // there is nothing to choose, or they would be equal
				}
				if !entry.Seeded {
					o.seeds = 1
				}
				s := newSearcher(c, folds, tune, further, arm.Fixed, entry.Closed)
				key := fmt.Sprint(tune, arm.Fixed, c.Trials(folds[0], train.Dev, 1)[0].Name(), c.Epochs)
				if shared[key] == nil {
					shared[key] = s
				}
				o.searchers = append(o.searchers, shared[key])
			}
			if o.searchers != nil {
				all, result.Arms[i] = append(all, o), append(result.Arms[i], o)
			}
		}
	}
	return all, nil
}

// finalists are the searches whose best settings run with all seeds: of LAGO those of the
// two best variants, because the others are rarely better and take as long.
func (o *Outcome) finalists() []*searcher {
	if slices.ContainsFunc(o.searchers, func(s *searcher) bool { return s.waiting }) {
		return nil
	}
	found := slices.DeleteFunc(slices.Clone(o.searchers), func(s *searcher) bool { return len(s.Tried) == 0 })
	slices.SortStableFunc(found, func(a, b *searcher) int { return bestFirst(a.Tried[0], b.Tried[0]) })
	return found[:min(2, len(found))]
}

// develop runs the dev stage of the finalists with all seeds, over the folds, and chooses
// between them.
func (r *runner) develop(ctx context.Context, all []*Outcome) error {
	type finalist struct {
		o *Outcome
		s *searcher
	}
	var finalists []finalist
	var lists [][]train.Trial
	for _, o := range all {
		for _, s := range o.searchers {
			if len(s.seen) == 0 { // nothing was to be chosen
				s.Tried = []Tried{{Config: s.base}}
			}
			o.Failed = append(o.Failed, s.Failed...)
			o.Tried += len(s.Tried)
		}
		for _, s := range o.finalists() {
			finalists = append(finalists, finalist{o, s})
			lists = append(lists, s.trialsOf(batch{settings: []config.Config{s.Tried[0].Config}, seeds: o.seeds}))
		}
	}
	done, err := r.do(ctx, "development", lists)
	if err != nil {
		return err
	}
	best := map[*Outcome]float64{}
	for i, f := range finalists {
		o := f.o
		if failures := lab.Failures(done[i]); len(failures) > 0 {
			o.Failed = append(o.Failed, failures...)
			if r.plan.Stage != config.OnlyDev || o.Val != nil {
				continue
			} // else the other runs are shown
		} else {
			mean := validation(done[i]).Mean
			if before, chosen := best[o]; chosen && mean <= before {
				continue
			}
			best[o] = mean
			if o.Epochs, err = DevEpoch(done[i]); err != nil {
				return err
			}
		}
		o.Val, o.Chosen = done[i], f.s.Tried[0].Config
		o.Edges = f.s.space.edges(o.Chosen)
		if lab.EndedAt(o.Val, o.Epochs) {
			o.Edges = append(o.Edges, Edge{"epochs", o.Epochs, "highest"})
		}
	}
	return nil
}

// test runs the test stage of what was chosen.
func (r *runner) test(ctx context.Context, all []*Outcome) error {
	lists := make([][]train.Trial, len(all))
	for i, o := range all {
		if r.plan.Stage == config.OnlyTest {
			o.Chosen = o.searchers[0].base
			o.Epochs = cmp.Or(o.Chosen.Epochs, config.PresetFor(o.Chosen.Dataset, o.Chosen.Method).TestEpochs)
		} else if o.Val == nil {
			continue
		}
		c := o.Chosen
		c.Seeds = o.seeds
		lists[i] = c.Trials(o.Part, train.Test, o.Epochs)
	}
	done, err := r.do(ctx, "evaluation", lists)
	if err != nil {
		return err
	}
	for i, o := range all {
		if failed := lab.Failures(done[i]); len(failed) > 0 {
			o.Failed = append(o.Failed, failed...)
		} else if len(done[i]) > 0 {
			o.Test = done[i]
		}
	}
	return nil
}

// Failed lists the runs without a model of all arms, each once.
func (r *Result) Failed() []lab.Run {
	var list []lab.Run
	for _, parts := range r.Arms {
		for _, o := range parts {
			for _, run := range o.Failed {
				if !slices.ContainsFunc(list, func(other lab.Run) bool { return other.Dir == run.Dir }) {
					list = append(list, run)
				}
			}
		}
	}
	return list
}

// CheckArms returns an *invalid.Error unless there is an arm, and none twice.
func CheckArms(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return &invalid.Error{Field: "methods", Want: "each method once", Got: name + " twice"}
		}
	}
	return lab.NotEmpty("methods", len(names))
}

// notAllowed is the error of a question about one variant that the data set does not allow.
func notAllowed(o LeftOut) error {
	return &invalid.Error{
		Field: "variant", Want: "one that the data set allows", Got: fmt.Sprintf("%s: %s", o.Variant, o.Why),
		Hint: "A data set names groups by prefixes of its attributes, as in wing_colour::red.",
	}
}
