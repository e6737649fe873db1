package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Plan is arms by parts by stages. The parts are those of the lab.
type Plan struct {
	Arms  []Arm
	Stage Stages
	Folds int      // of the seen classes, over which settings are chosen; 0 is 1
	Fixed []string // keys of settings that no search varies

	// OnRound, if set, is called at the start of each round of a search with its number of
	// trials.
	OnRound func(round string, trials int) `json:"-"`
}

// Arm is a method with settings, or several settings of which the validation classes choose:
// those of the variants of LAGO.
type Arm struct {
	Name   string   // in results
	Title  string   // in tables and figures
	Starts []Config // each is searched around; the two best are compared over all seeds
	Tune   int      // settings to try for each start, with it; 0 and 1 take the start alone
	Fixed  []string // keys of settings that its search does not vary, beside those of the plan
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
	Chosen Config
	Folds  []lab.View
	Epochs int       // best of the average dev curve, otherwise the number of the test stage
	Val    []lab.Run // of the dev stage, over the folds; nil without one, or if a run failed
	Test   []lab.Run // of the test stage
	Failed []lab.Run // runs without a model, also those that other shards have not finished
	Edges  []Edge
	Tried  int // number of settings
}

// Done reports whether all stages of the plan have their runs.
func (o *Outcome) Done(s Stages) bool {
	return (s == OnlyTest || o.Val != nil) && (s == OnlyDev || o.Test != nil)
}

// Result is the outcomes of a plan: of each arm, in each part.
type Result struct {
	Arms    [][]*Outcome
	LeftOut []LeftOut    // of the starts
	Waiting *lab.Waiting // the first round that waits for other shards, nil for none
}

// runner carries out a plan.
type runner struct {
	lab     *lab.Lab
	plan    Plan
	waiting *lab.Waiting
}

// contender is an arm in one part.
type contender struct {
	*Outcome
	arm       Arm
	seeds     int
	searchers []*searcher // one for each start
	finalists []*searcher
	chosen    *searcher
}

// Run carries out a plan. Runs that fail are listed in the outcomes. The error is that of the
// settings or the data, or a *lab.Cancelled.
func Run(ctx context.Context, l *lab.Lab, p Plan) (*Result, error) {
	r := &runner{lab: l, plan: p}
	result := &Result{LeftOut: []LeftOut{}}
	all, err := r.contenders(result)
	if err != nil {
		return nil, err
	}
	if p.Stage != OnlyTest {
		var searchers []*searcher
		for _, m := range all {
			for _, s := range m.searchers {
				if (m.arm.Tune > 1 || len(m.searchers) > 1) && !slices.Contains(searchers, s) {
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
	if p.Stage != OnlyDev {
		if err := r.test(ctx, all); err != nil {
			return nil, err
		}
	}
	result.Arms = make([][]*Outcome, len(p.Arms))
	for i, m := range all {
		at := i % len(p.Arms)
		if m.searchers != nil {
			result.Arms[at] = append(result.Arms[at], m.Outcome)
		}
	}
	result.Waiting = r.waiting
	return result, nil
}

// waits records the first round whose runs are in part left to other shards.
func (r *runner) waits(round string, runs []lab.Run) {
	if waiting := (*lab.Waiting)(nil); r.waiting == nil && errors.As(lab.WaitingFor(round, runs), &waiting) {
		r.waiting = waiting
	}
}

// contenders returns each arm in each part, part after part. Arms with the same start share
// its search.
func (r *runner) contenders(result *Result) (all []*contender, err error) {
	for _, arm := range r.plan.Arms {
		for _, c := range arm.Starts {
			if out := Allows(r.lab, c.Method); out != nil && !slices.Contains(result.LeftOut, *out) {
				result.LeftOut = append(result.LeftOut, *out)
			}
		}
	}
	for _, part := range r.lab.Parts {
		folds, err := r.lab.Folds(part, max(r.plan.Folds, 1))
		if err != nil {
			return nil, err
		}
		shared := map[string]*searcher{}
		for _, arm := range r.plan.Arms {
			m := &contender{arm: arm, Outcome: &Outcome{Part: part, Folds: folds}}
			for _, c := range arm.Starts {
				if Allows(r.lab, c.Method) != nil {
					continue
				}
				entry, err := methods.Find(c.Method.Name)
				if err != nil {
					return nil, err
				}
				m.seeds = c.Seeds
				further := FurtherSeeds
				if divide(max(arm.Tune, 1)).best < 2 || !entry.Seeded {
					further = 0 // there is nothing to choose, or they would be equal
				}
				if !entry.Seeded {
					m.seeds = 1
				}
				s := newSearcher(c, folds, max(arm.Tune, 1), further, slices.Concat(r.plan.Fixed, arm.Fixed))
				key := fmt.Sprint(arm.Tune, c.Trials(folds[0], train.Dev, 1)[0].Name(), c.Epochs)
				if shared[key] != nil {
					s = shared[key]
				}
				shared[key] = s
				m.searchers = append(m.searchers, s)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// finalistsOf are the searches whose best settings run with all seeds: of LAGO those of the
// two best variants, because the others are rarely better and take as long.
func finalistsOf(searchers []*searcher) []*searcher {
	found := slices.DeleteFunc(slices.Clone(searchers), func(s *searcher) bool { return len(s.tried) == 0 || s.waiting })
	slices.SortStableFunc(found, func(a, b *searcher) int { return bestFirst(a.tried[0], b.tried[0]) })
	return found[:min(2, len(found))]
}

// develop runs the dev stage of the finalists with all seeds, over the folds, and chooses
// between them.
func (r *runner) develop(ctx context.Context, all []*contender) error {
	var lists [][]train.Trial
	for _, m := range all {
		for _, s := range m.searchers {
			if len(s.seen) == 0 { // nothing was to be chosen
				s.tried = []Tried{{Config: s.base}}
			}
			m.Failed = append(m.Failed, s.failed...)
		}
		if slices.ContainsFunc(m.searchers, func(s *searcher) bool { return s.waiting }) {
			continue
		}
		m.finalists = finalistsOf(m.searchers)
		for _, s := range m.finalists {
			best := s.tried[0].Config
			best.Seeds = m.seeds
			var trials []train.Trial
			for _, fold := range s.folds {
				trials = append(trials, best.Trials(fold, train.Dev, best.DevEpochs())...)
			}
			lists = append(lists, trials)
		}
	}
	runs, err := r.lab.Do(ctx, slices.Concat(lists...))
	if err != nil {
		return err
	}
	r.waits("development", runs)
	done := lab.Split(runs, lists)
	for _, m := range all {
		best := -1.0
		for _, s := range m.finalists {
			runs := done[0]
			done = done[1:]
			if failures := lab.Failures(runs); len(failures) > 0 {
				m.Failed = append(m.Failed, failures...)
				if r.plan.Stage == OnlyDev {
					m.choose(s, runs) // the others are shown
				}
				continue
			}
			if mean := validation(runs).Mean; mean > best {
				best = mean
				m.choose(s, runs)
			}
		}
		for _, s := range m.searchers {
			m.Tried += len(s.tried)
		}
		if m.Val == nil || len(lab.Failures(m.Val)) > 0 {
			continue
		}
		if m.Epochs, err = DevEpoch(m.Val); err != nil {
			return err
		}
	}
	return nil
}

func (m *contender) choose(s *searcher, runs []lab.Run) {
	m.chosen, m.Val, m.Chosen = s, runs, s.tried[0].Config
	m.Edges = s.space.edges(m.Chosen)
}

// test runs the test stage of what was chosen.
func (r *runner) test(ctx context.Context, all []*contender) error {
	lists := make([][]train.Trial, len(all))
	for i, m := range all {
		switch {
		case r.plan.Stage == OnlyTest && len(m.searchers) > 0:
			m.Chosen = m.searchers[0].base
			m.Epochs = cmp.Or(m.Chosen.Epochs, PresetFor(m.Chosen.Dataset, m.Chosen.Method).TestEpochs)
		case m.Val == nil:
			continue
		}
		c := m.Chosen
		c.Seeds = m.seeds
		lists[i] = c.Trials(m.Part, train.Test, m.Epochs)
	}
	runs, err := r.lab.Do(ctx, slices.Concat(lists...))
	if err != nil {
		return err
	}
	r.waits("evaluation", runs)
	done := lab.Split(runs, lists)
	for i, m := range all {
		if failed := lab.Failures(done[i]); len(failed) > 0 {
			m.Failed = append(m.Failed, failed...)
		} else if len(done[i]) > 0 {
			m.Test = done[i]
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
	if len(names) == 0 {
		return &invalid.Error{Field: "methods", Want: "at least one", Got: "none"}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return &invalid.Error{Field: "methods", Want: "each method once", Got: name + " twice"}
		}
	}
	return nil
}

// Trained says which runs a result rests on, and when they were trained.
type Trained struct {
	Seconds float64  `json:"seconds"`
	BLAS    string   `json:"blas"` // with which the runs were trained
	RunDirs []string `json:"run_dirs"`
	Reused  int      `json:"reused_runs"` // that were finished before
	// From and To are when the first and the last run ended.
	From time.Time `json:"trained_from"`
	To   time.Time `json:"trained_to"`
}

// TrainedOf summarises runs that have a model.
func TrainedOf(runs []lab.Run) (t Trained, err error) {
	for _, r := range runs {
		if r.Err != nil {
			if strings.HasPrefix(r.Err.Error(), r.Dir) {
				return t, r.Err // which names one of the run's files
			}
			return t, fmt.Errorf("%s: %w", r.Dir, r.Err)
		}
		record, err := train.ReadRecord(r.Dir)
		if err != nil {
			return t, err
		}
		if used := record.BLAS.String(); !strings.Contains(t.BLAS, used) {
			t.BLAS = strings.TrimPrefix(t.BLAS+"; "+used, "; ")
		}
		if r.Reused {
			t.Reused++
		}
		if t.From.IsZero() || r.Ended.Before(t.From) {
			t.From = r.Ended
		}
		if r.Ended.After(t.To) {
			t.To = r.Ended
		}
		t.Seconds += r.Result.Seconds
		t.RunDirs = append(t.RunDirs, r.Dir)
	}
	return t, nil
}

// IsElsewhere reports whether a run belongs to another shard, which has not finished it.
func IsElsewhere(r lab.Run) bool { return errors.Is(r.Err, lab.ErrElsewhere) }

// NotAllowed is the error of a question about one variant that the data set does not allow.
func NotAllowed(o LeftOut) error {
	return &invalid.Error{
		Field: "variant", Want: "one that the data set allows", Got: fmt.Sprintf("%s: %s", o.Variant, o.Why),
		Hint: "A data set names groups by prefixes of its attributes, as in wing_colour::red.",
	}
}
