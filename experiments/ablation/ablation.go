package ablation

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
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

// lago is the design of LAGO; perGroup, which the paper does not have, differs in the prior.
var (
	lago     = Design{model.Uniform, model.Const, Implicit}
	perGroup = Design{model.PerGroup, model.Const, Implicit}
)

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

// designOf returns the design of a trial.
func designOf(t train.Trial) Design {
	d := Design{t.Model.Prior, t.Model.Complement, Implicit}
	if t.Model.Alpha > 0 {
		d.Supervision = Explicit
	}
	return d
}

// apply returns the trial of this design and seed. alpha is that of explicit supervision.
func (d Design) apply(base train.Trial, alpha float64, seed uint64) train.Trial {
	t := base
	t.Model.Prior, t.Model.Complement, t.Model.Alpha, t.Training.Seed = d.Prior, d.Complement, alpha, seed
	if d.Supervision == Implicit {
		t.Model.Alpha = 0
	}
	return t
}

// Result is the paper's table A.2 for one data set: validation accuracy by design.
type Result struct {
	Dataset  string        `json:"dataset"`
	Variant  model.Variant `json:"variant"`
	Alphas   []float64     `json:"alphas"` // tried for explicit supervision
	Epochs   int           `json:"epochs"` // at most
	Seeds    []uint64      `json:"seeds"`
	Rows     []Row         `json:"rows"`     // best first
	Findings []Finding     `json:"findings"` // of the paper; none if a row has no accuracy
	Parts    int           `json:"parts"`    // 1, or the parts of a rotation over classes
	Missing  []lab.Missing `json:"missing"`
}

// Row is the accuracy of one design.
type Row struct {
	Design
	Alpha    float64     `json:"alpha"`        // the one of Alphas with the best accuracy; 0 for implicit supervision
	Accuracy lab.Summary `json:"val_accuracy"` // of the best epoch of each run, per class
	// Difference is that from LAGO's design (uniform, const, implicit) over the validation
	// classes, with p corrected by Holm over the rows. It is null for that design and without
	// accuracies.
	Difference *metrics.Difference `json:"difference"`
	Published  *float64            `json:"published_accuracy"` // null if the paper does not have this data set, and in a rotation

	classes []float64 // the accuracy of each class, mean over seeds
}

// Interval is that of Accuracy over classes.
func (r Row) Interval() metrics.Interval { return metrics.ClassInterval(r.classes) }

// Options are what an ablation can have beyond the paper's.
type Options struct {
	PerGroup bool      // a row of LAGO's design with the prior per group
	Alphas   []float64 // of which explicit supervision has the best; nil for that of the configuration
}

// Run trains c in the eight designs on the dev stage, for every seed, and returns the table
// of their results. Trials without a model are listed as missing.
func Run(ctx context.Context, l *lab.Lab, c protocol.Config, o Options) (*Result, error) {
	if err := checkAlphas(o.Alphas); err != nil {
		return nil, err
	}
	t := c.Trials(l.Parts[0], train.Dev, c.DevEpochs())[0]
	g := grid{baseOf(t), designs(), o.Alphas}
	if o.PerGroup {
		g.designs = append(g.designs, perGroup)
	}
	if g.alphas == nil {
		g.alphas = []float64{alphaOf(t)}
	}
	var trials []train.Trial
	for _, t := range g.trials(seeds(c)) {
		for _, part := range l.Parts {
			t.Fingerprint = part.Fingerprint
			trials = append(trials, t)
		}
	}
	done, err := l.Do(ctx, trials)
	if err != nil {
		return nil, err
	}
	return g.result(done), nil
}

func checkAlphas(alphas []float64) error {
	for i, alpha := range alphas {
		if !(alpha > 0 && alpha <= math.MaxFloat64) || slices.Contains(alphas[:i], alpha) {
			return &invalid.Error{Where: "--alphas", Want: "different positive numbers", Got: strings.Join(texts(alphas), ", ")}
		}
	}
	return nil
}

// alphaOf returns the alpha of explicit supervision for a configuration.
func alphaOf(t train.Trial) float64 { return cmp.Or(t.Model.Alpha, defaultAlpha) }

// baseOf returns what the trials of an ablation have in common: a trial without design and
// seed.
func baseOf(t train.Trial) train.Trial {
	t.Model.Prior, t.Model.Complement, t.Model.Alpha, t.Training.Seed = "", "", 0, 0
	return t
}

func seeds(c protocol.Config) []uint64 {
	seeds := make([]uint64, c.Seeds)
	for i := range seeds {
		seeds[i] = c.Seed + uint64(i)
	}
	return seeds
}

// grid is what the trials of an ablation have in common, and what they differ in.
type grid struct {
	base    train.Trial
	designs []Design
	alphas  []float64 // of explicit supervision
}

// trials orders the trials by seed, so that a grid that is stopped early has some of each
// row.
func (g grid) trials(seeds []uint64) []train.Trial {
	var trials []train.Trial
	for _, seed := range seeds {
		for _, d := range g.designs {
			for _, alpha := range g.alphasOf(d) {
				trials = append(trials, d.apply(g.base, alpha, seed))
			}
		}
	}
	return trials
}

// alphasOf returns those that a design is trained with.
func (g grid) alphasOf(d Design) []float64 {
	if d.Supervision == Implicit {
		return []float64{0}
	}
	return g.alphas
}

// has reports whether a trial is of the grid, with any seed.
func (g grid) has(t train.Trial) bool {
	d := designOf(t)
	return slices.Contains(g.designs, d) && slices.Contains(g.alphasOf(d), t.Model.Alpha) && baseOf(t) == g.base
}

// result returns the table of trials of the grid.
func (g grid) result(trials []lab.Run) *Result {
	a := &Result{
		Dataset: g.base.Dataset, Variant: g.base.Model.Variant, Alphas: g.alphas, Epochs: g.base.Training.Epochs,
	}
	done := map[train.Trial][]lab.Run{} // by the trial with seed 0, failed ones too
	parts := map[string]bool{}
	for i := range trials {
		t := &trials[i]
		parts[t.Fingerprint] = true
		if !slices.Contains(a.Seeds, t.Training.Seed) {
			a.Seeds = append(a.Seeds, t.Training.Seed)
		}
		if t.Err == nil {
			_, t.Err = t.Curve()
		}
		run := *t
		if run.Err != nil {
			run.Result = nil
		}
		key := t.Trial
		key.Training.Seed, key.Fingerprint = 0, g.base.Fingerprint
		done[key] = append(done[key], run)
	}
	a.Parts = len(parts)
	for _, d := range g.designs {
		var rows []Row
		for _, alpha := range g.alphasOf(d) {
			key := d.apply(g.base, alpha, 0)
			m := protocol.Measure(done[key])
			row := Row{Design: d, Alpha: key.Model.Alpha, Accuracy: m.PerClass, classes: lab.Accuracies(m.ByClass)}
			if a.Parts == 1 {
				row.Published = d.published(g.base.Dataset)
			}
			rows = append(rows, row)
		}
		slices.SortStableFunc(rows, byAccuracy)
		a.Rows = append(a.Rows, rows[0])
	}
	slices.SortStableFunc(a.Rows, byAccuracy)
	compareRows(a.Rows)
	a.Findings = findings(a.Rows)
	a.Missing = lab.MissingOf(trials)
	return a
}

func byAccuracy(x, y Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) }

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
