package experiments

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/train"
)

// Outcome is what a run of a variant came to, over its seeds.
type Outcome struct {
	Dataset string    `json:"dataset"`
	Variant string    `json:"variant"`
	Stage   Stage     `json:"stage"`
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
	PerClass  Summary        `json:"per_class_accuracy"`
	PerSample Summary        `json:"per_sample_accuracy"`
	Classes   int            `json:"classes"`
	Status    []train.Status `json:"status"` // why each seed ended
}

// Chance is the accuracy of naming classes blindly.
func (m Measured) Chance() float64 { return 1 / float64(m.Classes) }

// Lab is where runs are carried out: a data set in memory and a folder.
type Lab struct {
	Data    *dataset.Dataset
	Root    string // of the runs' folders
	Options train.Options

	fingerprint string
	prepared    map[preparation]*train.Data
}

// preparation is what the data of two trials must have in common to be shared.
type preparation struct {
	stage     train.Stage
	condition string
	ridge     float64
}

// NewLab opens a lab.
func NewLab(d *dataset.Dataset, root string, o train.Options) *Lab {
	return &Lab{Data: d, Root: root, Options: o, fingerprint: d.Fingerprint(), prepared: map[preparation]*train.Data{}}
}

// prepare returns the data of a trial, conditioned once for all that share it.
func (l *Lab) prepare(t train.Trial) (*train.Data, error) {
	key := preparation{t.Stage, string(t.Condition), t.Ridge}
	if d, ok := l.prepared[key]; ok {
		return d, nil
	}
	clear(l.prepared) // a conditioned copy is as large as the features
	d, err := train.Prepare(l.Data, t.Stage, t.Condition, t.Ridge)
	if err != nil {
		return nil, err
	}
	l.prepared[key] = d
	return d, nil
}

// Cancelled says that a run was ended from outside, and that the same command
// goes on from where it is.
type Cancelled struct {
	Dir    string
	Epochs int
}

func (c *Cancelled) Error() string {
	return fmt.Sprintf("stopped after epoch %d of %s; the same command goes on from there", c.Epochs, c.Dir)
}

// Run carries out the stages of c on every seed.
func (l *Lab) Run(ctx context.Context, c Config) (*Outcome, error) {
	o := &Outcome{
		Dataset: c.Dataset, Variant: string(c.Variant), Stage: c.Stage, Seeds: c.Seeds,
		BLAS: blas.Current().String(), Config: c,
	}
	epochs := c.Epochs
	if c.Stage != TestStage {
		if epochs == 0 {
			epochs = devEpochs
		}
		curves, err := l.stage(ctx, c, train.Dev, epochs, o)
		if err != nil {
			return nil, err
		}
		epochs = BestEpoch(curves)
		o.Epochs = epochs
	}
	if c.Stage == DevStage {
		return o, nil
	}
	if epochs == 0 {
		epochs = PresetFor(c.Dataset, c.Variant).TestEpochs
	}
	o.Epochs = epochs
	_, err := l.stage(ctx, c, train.Test, epochs, o)
	return o, err
}

// stage runs one stage on every seed, adds to o what it measured, and returns the
// learning curves.
func (l *Lab) stage(ctx context.Context, c Config, stage train.Stage, epochs int, o *Outcome) ([]train.Curve, error) {
	var curves []train.Curve
	m := &Measured{}
	for i := range c.Seeds {
		t := c.trial(stage, l.fingerprint, c.Seed+uint64(i), epochs)
		r, err := l.do(ctx, t)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(l.Root, t.Name())
		curve, err := train.ReadCurve(filepath.Join(dir, train.CurveFile))
		if err != nil {
			return nil, err
		}
		curves = append(curves, curve)
		m.PerClass.Values = append(m.PerClass.Values, r.Judged.PerClass)
		m.PerSample.Values = append(m.PerSample.Values, r.Judged.PerSample)
		m.Classes = len(r.Judged.Classes)
		m.Status = append(m.Status, r.Status)
		o.Seconds += r.Seconds
		o.RunDirs = append(o.RunDirs, dir)
	}
	m.PerClass, m.PerSample = Summarise(m.PerClass.Values), Summarise(m.PerSample.Values)
	if stage == train.Dev {
		o.Val = m
	} else {
		o.Test = m
	}
	return curves, nil
}

// do carries out one trial.
func (l *Lab) do(ctx context.Context, t train.Trial) (*train.Result, error) {
	d, err := l.prepare(t)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(l.Root, t.Name())
	r, err := train.Run(ctx, l.Root, t, d, l.Options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if r.Status == train.Cancelled {
		return nil, &Cancelled{dir, r.Epochs}
	}
	return r, nil
}

// BestEpoch is the epoch with the highest val accuracy of the average curve, over
// the epochs that every seed ran: the paper's rule for how long to train on train
// and val classes together.
func BestEpoch(curves []train.Curve) int {
	best, top := 0, -1.0
	for e := 0; ; e++ {
		var sum float64
		for _, c := range curves {
			if e >= len(c) {
				return best
			}
			sum += *c[e].ValAccuracy
		}
		if sum > top {
			best, top = e+1, sum
		}
	}
}
