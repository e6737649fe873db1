package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Runs is what a folder of trials holds.
type Runs struct {
	Dir      string
	Datasets []*Dataset
	Missing  []lab.Missing // trials that the report does without
}

// Dataset is the configurations that were run on one data set.
type Dataset struct {
	Name        string
	Fingerprint string
	Dev         []*Configuration // the best mean val accuracy first
	Test        []*Configuration // in the order of the variants; never chosen by what they scored
}

// Configuration is the trials that differ in their seed alone.
type Configuration struct {
	Label  string        // what tells it from the others of its variant
	Trials []lab.Run     // by seed
	Curves []train.Curve // of the trials
	protocol.Measured
}

// Trial is the configuration as a trial, of the first seed.
func (c *Configuration) Trial() train.Trial { return c.Trials[0].Trial }

// Variant is that of the model.
func (c *Configuration) Variant() model.Variant { return c.Trial().Model.Variant }

// Read reads the trials that have a folder in dir. Those without a model, and
// those whose files are broken, are listed as missing. The error is that of a
// folder that can't be read or holds no trial at all.
func Read(dir string) (*Runs, error) {
	trials, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	if len(trials) == 0 {
		return nil, fmt.Errorf("%s: expected folders of trials, found none; lago-train run --out %s makes some", dir, dir)
	}
	slices.SortStableFunc(trials, func(a, b lab.Run) int { return cmp.Compare(a.Training.Seed, b.Training.Seed) })
	r := &Runs{Dir: dir, Missing: []lab.Missing{}}
	of := map[train.Trial]*Configuration{}
	for _, t := range trials {
		if t.Baseline.Method != "" { // shown by what compare wrote
			continue
		}
		curve, err := readCurve(t)
		if err != nil {
			r.Missing = append(r.Missing, lab.Missing{Dir: t.Dir, Why: err.Error()})
			continue
		}
		key := t.Trial
		key.Training.Seed = 0
		c := of[key]
		if c == nil {
			c = &Configuration{}
			of[key] = c
			r.dataset(t.Trial).add(t.Stage, c)
		}
		c.Trials = append(c.Trials, t)
		c.Curves = append(c.Curves, curve)
	}
	for _, d := range r.Datasets {
		d.measure()
	}
	return r, nil
}

// readCurve reads the curve of a finished trial and holds its files to each other,
// so that what is drawn of them needs no checks of its own.
func readCurve(t lab.Run) (train.Curve, error) {
	if t.Err != nil {
		return nil, t.Err
	}
	path := filepath.Join(t.Dir, train.CurveFile)
	curve, err := train.ReadCurve(path)
	if err != nil {
		return nil, err
	}
	if len(curve) == 0 {
		return nil, fmt.Errorf("%s: expected an epoch at least, found none", path)
	}
	for _, e := range curve {
		if t.Stage == train.Dev && e.ValAccuracy == nil {
			return nil, fmt.Errorf("%s: line %d: val_accuracy: expected a fraction in the dev stage, found null", path, e.Epoch)
		}
	}
	return curve, checkRecords(t)
}

// checkRecords checks trial.json and result.json of a finished trial.
func checkRecords(t lab.Run) error {
	path := filepath.Join(t.Dir, train.TrialFile)
	if t.Stage != train.Dev && t.Stage != train.Test {
		return fmt.Errorf("%s: stage: expected dev or test, found %q", path, t.Stage)
	}
	if err := t.Model.Check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	path = filepath.Join(t.Dir, train.ResultFile)
	j := t.Result.Evaluation
	if j == nil {
		return fmt.Errorf("%s: evaluation: expected what the model scored, found none", path)
	}
	square := len(j.Confusion) == len(j.Classes)
	for _, row := range j.Confusion {
		square = square && len(row) == len(j.Classes)
	}
	if !square || len(j.Classes) == 0 {
		return fmt.Errorf("%s: judged.confusion: expected a row and a column for each of %d classes", path, len(j.Classes))
	}
	return nil
}

// dataset returns the data set of a trial, adding it where it is new.
func (r *Runs) dataset(t train.Trial) *Dataset {
	for _, d := range r.Datasets {
		if d.Name == t.Dataset && d.Fingerprint == t.Fingerprint {
			return d
		}
	}
	d := &Dataset{Name: t.Dataset, Fingerprint: t.Fingerprint}
	r.Datasets = append(r.Datasets, d)
	return d
}

func (d *Dataset) add(stage train.Stage, c *Configuration) {
	if stage == train.Dev {
		d.Dev = append(d.Dev, c)
	} else {
		d.Test = append(d.Test, c)
	}
}

// measure sums up what each configuration scored, and brings them into order.
func (d *Dataset) measure() {
	for _, c := range slices.Concat(d.Dev, d.Test) {
		c.Measured = *protocol.Measure(c.Trials)
	}
	slices.SortStableFunc(d.Dev, func(a, b *Configuration) int { return cmp.Compare(b.PerClass.Mean, a.PerClass.Mean) })
	slices.SortStableFunc(d.Test, func(a, b *Configuration) int {
		return cmp.Compare(slices.Index(model.Variants, a.Variant()), slices.Index(model.Variants, b.Variant()))
	})
	label(d.Dev)
	label(d.Test)
}

// title names a data set, and tells it from another of its name, such as another
// split of the same classes.
func (r *Runs) title(d *Dataset) string {
	for _, other := range r.Datasets {
		if other != d && other.Name == d.Name {
			return fmt.Sprintf("%s, fingerprint %.8s", d.Name, d.Fingerprint)
		}
	}
	return d.Name
}
