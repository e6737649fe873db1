package lab

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Outcome is the result of an arm in one part.
type Outcome struct {
	Part    View
	Chosen  config.Config
	Best    int // of the starts; -1 if none has all its dev runs
	Folds   []View
	Epochs  int   // best of the average dev curve, otherwise the number of the test stage
	Val     []Run // of the dev stage, over the folds; nil without one, or if a run is missing
	Test    []Run // of the test stage
	Missing []Missing
	Edges   []Edge
	Finals  []Final // of the starts, in their order; none without a dev stage

	Searched // by package search; without a search the start was tried
}

// Final is settings with their correction, and their validation accuracy, nil if a run is missing.
type Final struct {
	Config   config.Config
	Accuracy *Summary
}

// Searched is what a search tried for an arm in one part.
type Searched struct {
	Tried       []Tried  // best first
	Corrections int      // number of corrections that each was tried with
	Keys        []string // of settings that were varied
}

// Tried is the result of one combination of settings.
type Tried struct {
	Config   config.Config  `json:"-"`
	Settings map[string]any `json:"settings"` // by name
	// of the first seed, mean over folds, after a part of the epochs
	Accuracy  float64 `json:"val_accuracy"`
	BestEpoch int     `json:"best_epoch"` // of the average curve of the folds
	// validation accuracy of all seeds, trained to the end; null except for the two best
	Final *Summary `json:"final"`
	Dirs  []string `json:"dirs"` // folders of the runs
}

// Edge is a setting whose best value is at an end of the listed ones.
type Edge struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
	End     string `json:"end"` // lowest or highest of the values that were searched, or outside of them
}

// Outcomes are those of a plan: of each arm, in each part.
type Outcomes struct {
	Plan    Plan
	Arms    [][]*Outcome
	Missing []Missing // starts that the data does not allow, and runs of the outcomes, each once
}

// Done reports whether all stages of an arm have their runs, in every part.
func (r *Outcomes) Done(arm int) bool {
	dev := r.Plan.Stage != config.OnlyTest
	test := r.Plan.Stage != config.OnlyDev
	return len(r.Arms[arm]) > 0 && !slices.ContainsFunc(r.Arms[arm], func(o *Outcome) bool {
		return dev && o.Folds != nil && o.Val == nil || test && o.Test == nil
	})
}

// NewOutcomes collects outcomes of a plan, one for each entry. The error is that of runs which other shards
// have not finished.
func NewOutcomes(p Plan, entries []Entry, outcomes []*Outcome, leftOut []Missing) (*Outcomes, error) {
	r := &Outcomes{Plan: p, Missing: append([]Missing{}, leftOut...), Arms: make([][]*Outcome, len(p.Arms))}
	for i, o := range outcomes {
		r.Arms[entries[i].Arm] = append(r.Arms[entries[i].Arm], o)
		for _, m := range o.Missing {
			if !slices.Contains(r.Missing, m) {
				r.Missing = append(r.Missing, m)
			}
		}
	}
	if waiting := StillWaiting(r.Missing); waiting != nil {
		return nil, waiting
	}
	return r, nil
}

// Run carries out a plan. Runs that fail are missing from the result. The error is that of the settings or
// the data, or see NewOutcomes.
func (p Plan) Run(ctx context.Context, l *Lab) (*Outcomes, error) {
	entries, leftOut, err := p.Entries(l)
	if err != nil {
		return nil, err
	}
	outcomes := make([]*Outcome, len(entries))
	for i, e := range entries {
		c := e.Starts[0]
		outcomes[i] = &Outcome{
			Part: e.Part, Folds: e.Folds, Chosen: c, Best: -1, Epochs: c.TestEpochs(),
			Searched: Searched{Tried: []Tried{{Config: c}}, Corrections: 1},
		}
	}
	if p.Stage != config.OnlyTest {
		for i, e := range entries {
			if e.Folds == nil {
				outcomes[i].Best, outcomes[i].Epochs = 0, e.Starts[0].FixedEpochs()
			}
		}
		if err := p.develop(ctx, l, entries, outcomes); err != nil {
			return nil, err
		}
	}
	if p.Stage != config.OnlyDev {
		if err := p.test(ctx, l, entries, outcomes); err != nil {
			return nil, err
		}
	}
	return NewOutcomes(p, entries, outcomes, leftOut)
}

// StillWaiting returns the error of runs that other shards have not finished, nil if there are none.
func StillWaiting(list []Missing) error {
	if n := len(slices.DeleteFunc(slices.Clone(list), func(m Missing) bool {
		return m.State != Waiting
	})); n > 0 {
		return &Incomplete{Left: format.Count(n, "run")}
	}
	return nil
}

// DoLists does lists of trials together, and returns the runs of each.
func (l *Lab) DoLists(ctx context.Context, lists [][]train.Trial) ([][]Run, error) {
	runs, err := l.Do(ctx, slices.Concat(lists...))
	if err != nil {
		return nil, err
	}
	done := make([][]Run, len(lists))
	for i, list := range lists {
		done[i], runs = runs[:len(list)], runs[len(list):]
	}
	return done, nil
}

// DevTrials lists the trials of settings in the dev stage: for each fold one per seed.
func DevTrials(c config.Config, folds []View, seeds, epochs int) (trials []train.Trial) {
	c.Seeds = seeds
	for _, fold := range folds {
		trials = append(trials, c.Trials(fold.Data, fold.Fingerprint, train.Dev, epochs)...)
	}
	return trials
}

// develop runs the dev stage of all starts, over the folds, and chooses one of each entry.
func (p Plan) develop(ctx context.Context, l *Lab, entries []Entry, outcomes []*Outcome) error {
	var lists [][]train.Trial
	for _, e := range entries {
		if e.Folds == nil {
			continue
		}
		for _, c := range e.Starts {
			lists = append(lists, DevTrials(c, e.Folds, e.Seeds, c.DevEpochs()))
		}
	}
	done, err := l.DoLists(ctx, lists)
	if err != nil {
		return err
	}
	var chosen []Run
	for i, e := range entries {
		if e.Folds == nil {
			continue
		}
		arm := p.Arms[e.Arm]
		for k, c := range e.Starts {
			var corrections []model.Correction
			if arm.Corrections != nil {
				corrections = arm.Corrections[k]
			}
			if err := outcomes[i].consider(k, c, corrections, done[0],
				p.Stage == config.OnlyDev); err != nil {
				return err
			}
			done = done[1:]
		}
		chosen = append(chosen, outcomes[i].Val...)
	}
	return l.Decide(ctx, chosen)
}

// consider chooses a start if its dev runs are better than those of the starts before it, with that of some
// corrections which does best. If shown, runs of which some are missing are kept until there are others.
func (o *Outcome) consider(start int, c config.Config, corrections []model.Correction, runs []Run,
	shown bool,
) (err error) {
	o.Finals = append(o.Finals, Final{Config: c})
	Evaluate(runs, c.Correction)
	if missing := MissingOf(runs); len(missing) > 0 {
		if o.Missing = append(o.Missing, missing...); shown && o.Val == nil {
			o.Chosen, o.Epochs, o.Edges, o.Val = c, 0, []Edge{}, runs
		}
		return nil
	}
	c, _ = Corrected(c, corrections, runs)
	accuracy := Validation(Evaluate(runs, c.Correction))
	o.Finals[start] = Final{c, &accuracy}
	if o.Best >= 0 && accuracy.Mean <= o.Finals[o.Best].Accuracy.Mean {
		return nil
	}
	o.Chosen, o.Best, o.Edges, o.Val = c, start, []Edge{}, runs
	if o.Epochs, err = DevEpoch(runs); EndedAt(runs, o.Epochs) {
		o.Edges = append(o.Edges, Edge{"epochs", o.Epochs, "highest"})
	}
	return err
}

// Corrected returns c with that of some corrections which does best on the validation classes of its runs,
// its own unless another one does better, and the accuracy with it. None is trained again.
func Corrected(c config.Config, corrections []model.Correction, runs []Run) (config.Config, float64) {
	accuracy := Validation(Evaluate(runs, c.Correction)).Mean
	for _, other := range corrections {
		var mean float64
		for _, r := range runs {
			mean += r.Result.Evaluation(other).PerClass / float64(len(runs))
		}
		if mean > accuracy+sumTolerance {
			c, accuracy = c.WithCorrection(other), mean
		}
	}
	return c, accuracy
}

// test runs the test stage of what was chosen.
func (p Plan) test(ctx context.Context, l *Lab, entries []Entry, outcomes []*Outcome) error {
	lists := make([][]train.Trial, len(entries))
	for i, o := range outcomes {
		if p.Stage == config.OnlyTest || o.Best >= 0 {
			c := o.Chosen
			c.Seeds = entries[i].Seeds
			lists[i] = c.Trials(o.Part.Data, o.Part.Fingerprint, train.Test, o.Epochs)
		}
	}
	tested, err := l.DoLists(ctx, lists)
	for i, runs := range tested {
		Evaluate(runs, outcomes[i].Chosen.Correction)
	}
	if err == nil {
		err = l.Decide(ctx, slices.Concat(tested...))
	}
	for i, runs := range tested {
		if missing := MissingOf(runs); len(missing) > 0 {
			outcomes[i].Missing = append(outcomes[i].Missing, missing...)
		} else if len(runs) > 0 {
			outcomes[i].Test = runs
		}
	}
	return err
}

// Validation is the validation accuracy of runs over seeds, each value a mean over folds.
func Validation(runs []Run) Summary {
	var values []float64
	for _, seed := range BySeed(runs) {
		var sum float64
		for _, r := range seed {
			sum += r.Evaluation.PerClass
		}
		values = append(values, sum/float64(len(seed)))
	}
	return Summarise(values)
}

// DevEpoch returns the BestEpoch of the learning curves of dev runs.
func DevEpoch(runs []Run) (int, error) {
	curves, err := devCurves(runs)
	return BestEpoch(curves), err
}

// devCurves reads the learning curves of dev runs. Further epochs of a run that converged would be like its
// last.
func devCurves(runs []Run) ([]train.Curve, error) {
	curves := make([]train.Curve, len(runs))
	longest := 0
	for i, r := range runs {
		var err error
		if curves[i], err = train.ReadCurve(filepath.Join(r.Dir, train.CurveFile), train.Dev); err != nil {
			return nil, err
		}
		longest = max(longest, len(curves[i]))
	}
	for i, r := range runs {
		if n := len(curves[i]); n > 0 && r.Result.Status == train.Converged {
			curves[i] = append(curves[i], slices.Repeat(curves[i][n-1:], longest-n)...)
		}
	}
	return curves, nil
}

// sumTolerance is the largest difference between sums of the same accuracies in
// different orders. One sample makes far more.
const sumTolerance = 1e-9

// BestEpoch returns the epoch with the highest validation accuracy of the average curve,
// over the epochs that every seed ran: the paper's rule for how long to train on train
// and validation classes together. Of equal epochs it is the first, of none 0.
func BestEpoch(curves []train.Curve) int {
	best, top := 0, -1.0
	for e, accuracy := range meanCurve(curves) {
		if accuracy > top+sumTolerance {
			best, top = e+1, accuracy
		}
	}
	return best
}

// meanCurve is the validation accuracy after each epoch, mean over the curves, as far as all have epochs.
func meanCurve(curves []train.Curve) (mean []float64) {
	for e := 0; len(curves) > 0; e++ {
		var sum float64
		for _, c := range curves {
			if e >= len(c) {
				return mean
			}
			sum += *c[e].ValAccuracy
		}
		mean = append(mean, sum/float64(len(curves)))
	}
	return mean
}
