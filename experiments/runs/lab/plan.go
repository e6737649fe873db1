package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Plan is arms by parts, which are those of the lab, by stages.
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
	Starts []config.Config // all of which are trained, with all seeds

	// settings that a search tries, in equal parts around each start; 0 and 1 take the starts alone
	Tune  int
	Fixed []string // keys of settings that it does not vary
}

// MinBudget is the least Tune with a search: two settings to choose from.
const MinBudget = 2

// NewArm is the arm of one method with its settings.
func NewArm(c config.Config) Arm {
	a := Arm{Name: c.Method.Label(), Title: c.Method.Label(), Starts: []config.Config{c}}
	if c.Method.Variant() == "" {
		a.Title = c.Method.Entry().Title
	}
	return a
}

// FullPlan is the full protocol for variants with their settings, and for baselines, which try some settings
// with the preprocessing, seeds, epochs, patience and held-out samples of like. They try
// corrections, too, unless that of like is of the paper or was given.
func FullPlan(variants []config.Config, baselines []string, like config.Config,
	given []string,
) (Plan, error) {
	const budget = 16 // of settings of a baseline
	p := Plan{Stage: config.DevThenTest}
	for _, c := range variants {
		p.Arms = append(p.Arms, NewArm(c))
	}
	for _, name := range baselines {
		c, err := like.Baseline(name, given)
		if err != nil {
			return p, err
		}
		arm := NewArm(c)
		arm.Tune, arm.Fixed = budget, append([]string{"preprocess", "ridge"}, given...)
		if like.Paper() {
			arm.Fixed = append(arm.Fixed, methods.CorrectionKeys...)
		}
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// EpochSource says where the number of epochs of a test stage comes from.
type EpochSource int

// The sources.
const (
	DevStage    EpochSource = iota // the best epoch of the average curve of the dev stage
	TestEpochs                     // the settings, see config.Config.TestEpochs: the plan has no dev stage
	FixedEpochs                    // the settings: too few classes are seen for a dev stage
)

// Outcome is an arm in one part, and what became of it.
type Outcome struct {
	Part   View
	Folds  []View // of the dev stage; settings are left to the data of the first
	Source EpochSource
	Starts []Start // that the data allow
	Seeds  int

	Chosen  config.Config
	Best    int   // of the starts; -1 if none has all its dev runs
	Epochs  int   // of the test stage
	Val     []Run // of the dev stage, over the folds; nil without one, or if a run is missing
	Test    []Run // of the test stage
	Missing []Missing
	Edges   []Edge

	// what a search tried, best first; without one the start was tried
	Tried       []Tried
	Corrections int      // number of corrections that each was tried with
	Keys        []string // of settings that were varied
}

// Start is settings that are trained to the end with all seeds.
type Start struct {
	Config      config.Config
	Corrections []model.Correction // of which the validation classes choose; nil for that of the settings
	// on the validation classes; nil before the dev stage, or if a run is missing
	Accuracy *Summary
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
	return len(r.Arms[arm]) > 0 && !slices.ContainsFunc(r.Arms[arm], func(o *Outcome) bool {
		return o.Source == DevStage && o.Val == nil || r.Plan.Stage != config.OnlyDev && o.Test == nil
	})
}

// Prepare returns the outcomes of a plan before its runs. The error is that of the data, or of starts none of
// which the data allow.
func (p Plan) Prepare(l *Lab) (*Outcomes, error) {
	r := &Outcomes{Plan: p, Arms: make([][]*Outcome, len(p.Arms)), Missing: []Missing{}}
	for i, arm := range p.Arms {
		starts := r.allowed(arm, l)
		if len(starts) == 0 {
			continue
		}
		for _, part := range l.Parts {
			o, err := p.prepare(l, arm, part, starts)
			if err != nil {
				return nil, err
			}
			r.Arms[i] = append(r.Arms[i], o)
		}
	}
	if len(slices.Concat(r.Arms...)) == 0 && len(r.Missing) > 0 {
		return nil, &invalid.Error{
			Field: "method", Want: "one that the data set allows", Got: r.Missing[0].Error(),
			Hint: model.WithoutGroups(),
		}
	}
	return r, nil
}

func (r *Outcomes) allowed(arm Arm, l *Lab) (starts []config.Config) {
	for _, c := range arm.Starts {
		if v := c.Method.Variant(); v.Semantic() && l.Data.Groups == nil {
			r.note(Missing{Name: string(v), State: LeftOut, Why: "the data set has no attribute groups"})
		} else {
			starts = append(starts, c)
		}
	}
	return starts
}

func (r *Outcomes) note(list ...Missing) {
	for _, m := range list {
		if !slices.Contains(r.Missing, m) {
			r.Missing = append(r.Missing, m)
		}
	}
}

func (p Plan) prepare(l *Lab, arm Arm, part View, starts []config.Config) (*Outcome, error) {
	o := &Outcome{Part: part, Best: -1, Corrections: 1}
	if err := o.divide(l, p, arm); err != nil {
		return nil, err
	}
	for _, c := range starts {
		if o.Seeds = c.Seeds; !c.Method.Entry().Seeded {
			o.Seeds = 1
		}
		o.Starts = append(o.Starts, Start{Config: c.On(o.Folds[0].Data)})
	}
	o.Chosen = o.Starts[0].Config
	o.Tried = []Tried{{Config: o.Chosen}}
	switch o.Source {
	case TestEpochs:
		o.Best, o.Epochs = 0, o.Chosen.TestEpochs()
	case FixedEpochs:
		o.Best, o.Epochs = 0, o.Chosen.FixedEpochs()
	}
	return o, nil
}

func (o *Outcome) divide(l *Lab, p Plan, arm Arm) (err error) {
	if o.Folds, err = l.Folds(o.Part, max(p.Folds, 1)); err != nil {
		return err
	}
	if p.Stage == config.OnlyTest {
		o.Source = TestEpochs
	}
	const least = 2 // validation classes, as on one any prediction is right
	val := len(o.Part.Data.Split.Val)
	// a dev stage alone is about the given validation classes
	if p.Folds > 1 || val >= check.FewVal || val >= least && p.Stage != config.DevThenTest {
		return nil
	}
	if folds := l.SeenFolds(o.Part); folds != nil {
		o.Folds = folds
		return nil
	}
	if p.Stage == config.DevThenTest && len(arm.Starts) == 1 && arm.Tune < MinBudget { // nothing to choose
		o.Source = FixedEpochs
	}
	if o.Source == DevStage && val < least {
		return &invalid.Error{
			Where: o.Part.Data.Name, Field: "seen classes",
			Want: fmt.Sprintf("at least %d validation classes, or %d seen classes to take them from", least,
				check.FewSeen),
			Got: fmt.Sprintf("%d with %s", len(o.Part.Data.Split.Seen()),
				format.Count(val, "validation class")),
			Hint: "lago-train run trains without, for a fixed number of epochs.",
		}
	}
	return nil
}

// Run carries out the stages of the plan from the starts of the outcomes, from which runs that fail are
// missing. The error is that of the settings or the data, or of runs that other shards have not finished.
func (r *Outcomes) Run(ctx context.Context, l *Lab) error {
	all := slices.Concat(r.Arms...)
	if err := r.develop(ctx, l, all); err != nil {
		return err
	}
	if r.Plan.Stage != config.OnlyDev {
		if err := test(ctx, l, all); err != nil {
			return err
		}
	}
	for _, o := range all {
		r.note(o.Missing...)
	}
	return StillWaiting(r.Missing)
}

// StillWaiting returns the error of runs that other shards have not finished, nil if there are none.
func StillWaiting(list []Missing) error {
	waiting := 0
	for _, m := range list {
		if m.State == Waiting {
			waiting++
		}
	}
	if waiting == 0 {
		return nil
	}
	return &Incomplete{Left: format.Count(waiting, "run")}
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

func (r *Outcomes) develop(ctx context.Context, l *Lab, all []*Outcome) error {
	all = slices.DeleteFunc(slices.Clone(all), func(o *Outcome) bool { return o.Source != DevStage })
	var lists [][]train.Trial
	for _, o := range all {
		for _, s := range o.Starts {
			lists = append(lists, DevTrials(s.Config, o.Folds, o.Seeds, s.Config.DevEpochs()))
		}
	}
	done, err := l.DoLists(ctx, lists)
	if err != nil {
		return err
	}
	var chosen []Run
	for _, o := range all {
		for k := range o.Starts {
			if err := o.consider(k, done[0], r.Plan.Stage == config.OnlyDev); err != nil {
				return err
			}
			done = done[1:]
		}
		chosen = append(chosen, o.Val...)
	}
	return l.Decide(ctx, chosen)
}

// consider chooses a start if its dev runs are better than those of the starts before it, with that of its
// corrections which does best. If shown, runs of which some are missing are kept until there are others.
func (o *Outcome) consider(start int, runs []Run, shown bool) (err error) {
	s := &o.Starts[start]
	Evaluate(runs, s.Config.Correction)
	if missing := MissingOf(runs); len(missing) > 0 {
		if o.Missing = append(o.Missing, missing...); shown && o.Val == nil {
			o.Chosen, o.Edges, o.Val = s.Config, []Edge{}, runs
		}
		return nil
	}
	s.Config, _ = Corrected(s.Config, s.Corrections, runs)
	accuracy := Validation(Evaluate(runs, s.Config.Correction))
	s.Accuracy = &accuracy
	if o.Best >= 0 && accuracy.Mean <= o.Starts[o.Best].Accuracy.Mean {
		return nil
	}
	o.Chosen, o.Best, o.Edges, o.Val = s.Config, start, []Edge{}, runs
	o.Epochs, err = DevEpoch(runs)
	if slices.ContainsFunc(runs, func(r Run) bool { // neither patience nor convergence ended it
		return r.Result.Status == train.Epochs && r.Epochs == o.Epochs
	}) {
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

func test(ctx context.Context, l *Lab, all []*Outcome) error {
	lists := make([][]train.Trial, len(all))
	for i, o := range all {
		if o.Best >= 0 {
			c := o.Chosen
			c.Seeds = o.Seeds
			lists[i] = c.Trials(o.Part.Data, o.Part.Fingerprint, train.Test, o.Epochs)
		}
	}
	tested, err := l.DoLists(ctx, lists)
	for i, runs := range tested {
		Evaluate(runs, all[i].Chosen.Correction)
		if missing := MissingOf(runs); len(missing) > 0 {
			all[i].Missing = append(all[i].Missing, missing...)
		} else if len(runs) > 0 {
			all[i].Test = runs
		}
	}
	if err != nil {
		return err
	}
	return l.Decide(ctx, slices.Concat(tested...))
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
