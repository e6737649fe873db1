package ablation

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/invalid"
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

// defaultAlpha weighs explicit supervision as much as classification. The paper does not
// state the weight of its ablation.
const defaultAlpha = 1

// Design is one combination of the design decisions of the paper's ablation.
type Design struct {
	Prior       model.Prior      `json:"prior"`
	Complement  model.Complement `json:"complement"`
	Supervision Supervision      `json:"attribute_supervision"`
}

// perGroup is the default design with the prior per group, which the paper does not have.
var perGroup = Design{model.PerGroup, model.Const, Implicit}

// designs lists the eight combinations of the paper.
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

// inTable reports whether a table can have a row of the design.
func (d Design) inTable() bool { return d.Prior != model.PerGroup || d == perGroup }

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

// Result is the paper's table A.2 for one data set: validation accuracy by design.
type Result struct {
	Dataset  string        `json:"dataset"`
	Variant  model.Variant `json:"variant"`
	Alpha    float64       `json:"alpha"`  // of explicit supervision
	Epochs   int           `json:"epochs"` // at most
	Seeds    []uint64      `json:"seeds"`
	Rows     []Row         `json:"rows"`     // best first
	Findings []Finding     `json:"findings"` // of the paper; none if a row has no accuracy
	Missing  []lab.Missing `json:"missing"`
}

// Row is the accuracy of one design.
type Row struct {
	Design
	Accuracy  lab.Summary `json:"val_accuracy"`       // the best epoch of each curve, per class
	Published *float64    `json:"published_accuracy"` // null if the paper does not have this data set
}

// Run trains c in the eight designs on the dev stage, for every seed, and returns the table
// of their logged curves. withPerGroup adds a row of the default design with the prior per
// group. Trials without a model are listed as missing.
func Run(ctx context.Context, l *lab.Lab, c protocol.Config, withPerGroup bool) (*Result, error) {
	base, rows := ablationBase(c.Trials(l, train.Dev, c.DevEpochs())[0]), designs()
	if withPerGroup {
		rows = append(rows, perGroup)
	}
	done, err := l.Do(ctx, ablationTrials(base, rows, seeds(c)))
	if err != nil {
		return nil, err
	}
	return newResult(base, rows, done), nil
}

// ablationBase returns what the trials of an ablation have in common.
func ablationBase(t train.Trial) train.Trial {
	base := baseOf(t)
	if base.Model.Alpha == 0 {
		base.Model.Alpha = defaultAlpha
	}
	return base
}

// baseOf removes design and seed from a trial, except alpha.
func baseOf(t train.Trial) train.Trial {
	t.Model.Prior, t.Model.Complement, t.Training.Seed = "", "", 0
	return t
}

func seeds(c protocol.Config) []uint64 {
	seeds := make([]uint64, c.Seeds)
	for i := range seeds {
		seeds[i] = c.Seed + uint64(i)
	}
	return seeds
}

// ablationTrials orders the trials by seed, so that a grid that is stopped early has some
// of each row.
func ablationTrials(base train.Trial, rows []Design, seeds []uint64) []train.Trial {
	var trials []train.Trial
	for _, seed := range seeds {
		for _, d := range rows {
			trials = append(trials, d.apply(base, seed))
		}
	}
	return trials
}

// newResult returns the table from the logged curves of trials that have base in common.
func newResult(base train.Trial, rows []Design, trials []lab.Run) *Result {
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
	for _, d := range rows {
		a.Rows = append(a.Rows, Row{d, lab.Summarise(scores[d]), d.published(base.Dataset)})
	}
	slices.SortStableFunc(a.Rows, func(x, y Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	a.Findings = findings(a.Rows)
	a.Missing = lab.MissingOf(trials)
	return a
}

// bestVal returns the highest validation accuracy of the curve in a folder.
func bestVal(dir string) (float64, error) {
	path := filepath.Join(dir, train.CurveFile)
	curve, err := train.ReadCurve(path, train.Dev)
	if err != nil {
		return 0, err
	}
	best := -1.0
	for _, e := range curve {
		best = max(best, *e.ValAccuracy)
	}
	if best < 0 {
		return 0, &invalid.Error{Where: path, Want: "at least one epoch", Got: "none"}
	}
	return best, nil
}

// published returns the accuracy of a design in the paper, a fraction.
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
