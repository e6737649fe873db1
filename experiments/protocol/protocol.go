package protocol

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/train"
)

// Outcome is what a run of a variant came to, over its seeds.
type Outcome struct {
	Dataset string    `json:"dataset"`
	Variant string    `json:"variant"`
	Stage   Stages    `json:"stage"`
	Seeds   int       `json:"seeds"`
	Epochs  int       `json:"epochs"` // by the average dev curve, or that the test stage ran
	Val     *Measured `json:"val"`    // null without a dev stage
	Test    *Measured `json:"test"`   // null without a test stage
	Seconds float64   `json:"seconds"`
	BLAS    string    `json:"blas"`
	RunDirs []string  `json:"run_dirs"`

	Config Config `json:"config"`
}

// Measured is accuracy on the classes that a stage judges, as fractions.
type Measured struct {
	PerClass  lab.Summary    `json:"per_class_accuracy"`
	PerSample lab.Summary    `json:"per_sample_accuracy"`
	Classes   int            `json:"classes"`
	Status    []train.Status `json:"status"` // why each seed ended
}

// Chance is the accuracy of naming classes blindly.
func (m Measured) Chance() float64 { return 1 / float64(m.Classes) }

// Run carries out the stages of c on every seed.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Outcome, error) {
	o := &Outcome{
		Dataset: c.Dataset, Variant: string(c.Variant), Stage: c.Stage, Seeds: c.Seeds,
		BLAS: blas.Current().String(), Config: c,
	}
	epochs := c.Epochs
	if c.Stage != OnlyTest {
		if epochs == 0 {
			epochs = devEpochs
		}
		dev, err := o.carryOut(ctx, l, c.Trials(l, train.Dev, epochs))
		if err != nil {
			return nil, err
		}
		curves, err := Curves(dev)
		if err != nil {
			return nil, err
		}
		o.Val = Measure(dev)
		epochs = BestEpoch(curves)
		o.Epochs = epochs
	}
	if c.Stage == OnlyDev {
		return o, nil
	}
	if epochs == 0 {
		epochs = PresetFor(c.Dataset, c.Variant).TestEpochs
	}
	o.Epochs = epochs
	test, err := o.carryOut(ctx, l, c.Trials(l, train.Test, epochs))
	o.Test = Measure(test)
	return o, err
}

// carryOut carries out the trials of a stage, all of which must succeed.
func (o *Outcome) carryOut(ctx context.Context, l *lab.Lab, trials []train.Trial) ([]lab.Run, error) {
	done, err := l.Do(ctx, trials)
	if err != nil {
		return nil, err
	}
	for _, t := range done {
		if t.Err != nil {
			return nil, fmt.Errorf("%s: %w", t.Dir, t.Err)
		}
		o.Seconds += t.Result.Seconds
		o.RunDirs = append(o.RunDirs, t.Dir)
	}
	return done, nil
}

// Trials are the runs of a stage of c, one a seed.
func (c Config) Trials(l *lab.Lab, stage train.Stage, epochs int) []train.Trial {
	if c.K == 0 {
		c.K = min(defaultK, len(l.Data.Attributes))
	}
	trials := make([]train.Trial, c.Seeds)
	for i := range trials {
		trials[i] = c.Trial(stage, l.Fingerprint(), c.Seed+uint64(i), epochs)
	}
	return trials
}

// Measure sums up what finished trials scored. Trials without a result are left
// out.
func Measure(trials []lab.Run) *Measured {
	m := &Measured{}
	var perClass, perSample []float64
	for _, t := range trials {
		if t.Result == nil || t.Result.Evaluation == nil {
			continue
		}
		perClass = append(perClass, t.Result.Evaluation.PerClass)
		perSample = append(perSample, t.Result.Evaluation.PerSample)
		m.Classes = len(t.Result.Evaluation.Classes)
		m.Status = append(m.Status, t.Result.Status)
	}
	m.PerClass, m.PerSample = lab.Summarise(perClass), lab.Summarise(perSample)
	return m
}

// Curves reads the learning curves of trials.
func Curves(trials []lab.Run) ([]train.Curve, error) {
	curves := make([]train.Curve, len(trials))
	for i, t := range trials {
		var err error
		if curves[i], err = train.ReadCurve(filepath.Join(t.Dir, train.CurveFile)); err != nil {
			return nil, err
		}
	}
	return curves, nil
}

// rounding is how far apart two sums of the same accuracies may come out, added up
// in other orders. It is far less than one sample can make.
const rounding = 1e-9

// BestEpoch is the epoch with the highest val accuracy of the average curve, over
// the epochs that every seed ran: the paper's rule for how long to train on train
// and val classes together. It is the first of equals, and 0 where there is none.
func BestEpoch(curves []train.Curve) int {
	if len(curves) == 0 {
		return 0
	}
	best, top := 0, -1.0
	for e := 0; ; e++ {
		var sum float64
		for _, c := range curves {
			if e >= len(c) {
				return best
			}
			sum += *c[e].ValAccuracy
		}
		if sum > top+rounding {
			best, top = e+1, sum
		}
	}
}
