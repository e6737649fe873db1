package ablation

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Supervision says whether the loss has a term for the attributes (section 4.2 of
// the paper).
type Supervision string

// The two kinds of attribute supervision of the paper's ablation.
const (
	Implicit Supervision = "implicit" // alpha = 0: attributes are learned through the classes alone
	Explicit Supervision = "explicit" // alpha > 0
)

// defaultAlpha weighs explicit supervision as much as that of the classes. The
// paper doesn't say which weight its ablation has.
const defaultAlpha = 1

// Design is one combination of the decisions that the paper's ablation takes apart.
type Design struct {
	Prior       model.Prior      `json:"prior"`
	Complement  model.Complement `json:"complement"`
	Supervision Supervision      `json:"attribute_supervision"`
}

// designs lists the eight combinations.
func designs() []Design {
	var all []Design
	for _, p := range []model.Prior{model.Uniform, model.PerAttribute} {
		for _, c := range []model.Complement{model.Const, model.DeMorgan} {
			for _, s := range []Supervision{Implicit, Explicit} {
				all = append(all, Design{p, c, s})
			}
		}
	}
	return all
}

// designOf returns the design of a trial.
func designOf(t train.Trial) Design {
	d := Design{t.Model.Prior, t.Model.Complement, Implicit}
	if t.Model.Alpha > 0 {
		d.Supervision = Explicit
	}
	return d
}

// apply returns the trial of this design and seed. The alpha of base is that of
// explicit supervision.
func (d Design) apply(base train.Trial, seed uint64) train.Trial {
	t := base
	t.Model.Prior, t.Model.Complement, t.Training.Seed = d.Prior, d.Complement, seed
	if d.Supervision == Implicit {
		t.Model.Alpha = 0
	}
	return t
}

// Ablation is the paper's table A.2 for one data set: val accuracy by design.
type Result struct {
	Dataset  string        `json:"dataset"`
	Variant  model.Variant `json:"variant"`
	Alpha    float64       `json:"alpha"`  // of explicit supervision
	Epochs   int           `json:"epochs"` // at most
	Seeds    []uint64      `json:"seeds"`
	Rows     []Row         `json:"rows"`     // best first
	Findings []Finding     `json:"findings"` // of the paper; none while a row is without accuracy
	Missing  []lab.Missing `json:"missing"`
}

// AblationRow is what one design scored.
type Row struct {
	Design
	Accuracy  lab.Summary `json:"val_accuracy"`       // the best epoch of each curve, per class
	Published *float64    `json:"published_accuracy"` // null where the paper has not this data set
}

// Ablate carries out the trials of c in the eight designs on the dev stage, and
// makes the table of what they logged. A trial without a model is listed in it.
func Run(ctx context.Context, l *lab.Lab, c protocol.Config) (*Result, error) {
	base := ablationBase(c.Trials(l, train.Dev, c.DevEpochs())[0])
	done, err := l.Do(ctx, ablationTrials(base, seedList(c)))
	if err != nil {
		return nil, err
	}
	return newAblation(base, done), nil
}

// ablationBase is what the ablation of a trial's settings has in common.
func ablationBase(t train.Trial) train.Trial {
	base := baseOf(t)
	if base.Model.Alpha == 0 {
		base.Model.Alpha = defaultAlpha
	}
	return base
}

// baseOf takes design and seed out of a trial, and leaves alpha.
func baseOf(t train.Trial) train.Trial {
	t.Model.Prior, t.Model.Complement, t.Training.Seed = "", "", 0
	return t
}

func seedList(c protocol.Config) []uint64 {
	seeds := make([]uint64, c.Seeds)
	for i := range seeds {
		seeds[i] = c.Seed + uint64(i)
	}
	return seeds
}

// ablationTrials has the designs of the first seed before those of the second, so
// that a grid that is stopped early has something of each row.
func ablationTrials(base train.Trial, seeds []uint64) []train.Trial {
	var trials []train.Trial
	for _, seed := range seeds {
		for _, d := range designs() {
			trials = append(trials, d.apply(base, seed))
		}
	}
	return trials
}

// newAblation makes the table from the logged curves of trials that have base in
// common.
func newAblation(base train.Trial, trials []lab.Run) *Result {
	a := &Result{
		Dataset: base.Dataset, Variant: base.Model.Variant, Alpha: base.Model.Alpha, Epochs: base.Training.Epochs,
	}
	scores := map[Design][]float64{}
	for i := range trials {
		t := &trials[i]
		if !slices.Contains(a.Seeds, t.Training.Seed) {
			a.Seeds = append(a.Seeds, t.Training.Seed)
		}
		if t.Err != nil {
			continue
		}
		var best float64
		if best, t.Err = bestVal(t.Dir); t.Err == nil {
			d := designOf(t.Trial)
			scores[d] = append(scores[d], best)
		}
	}
	for _, d := range designs() {
		a.Rows = append(a.Rows, Row{d, lab.Summarise(scores[d]), d.published(base.Dataset)})
	}
	slices.SortStableFunc(a.Rows, func(x, y Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	a.Findings = findings(a.Rows)
	a.Missing = lab.MissingOf(trials)
	return a
}

// bestVal is the highest val accuracy of the curve in a folder.
func bestVal(dir string) (float64, error) {
	path := filepath.Join(dir, train.CurveFile)
	curve, err := train.ReadCurve(path)
	if err != nil {
		return 0, err
	}
	best := -1.0
	for _, e := range curve {
		if e.ValAccuracy != nil {
			best = max(best, *e.ValAccuracy)
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%s: expected epochs with a val accuracy, found none", path)
	}
	return best, nil
}

// published is what the paper has of a design, a fraction.
func (d Design) published(dataset string) *float64 {
	for _, row := range published.All().Ablation {
		if (Design{row.Prior, row.Complement, Supervision(row.Supervision)}) != d {
			continue
		}
		if percent, ok := row.On(dataset); ok {
			fraction := percent / 100
			return &fraction
		}
	}
	return nil
}
