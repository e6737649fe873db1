package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// folder is what a folder of runs holds.
type folder struct {
	dir      string
	datasets []*datasetRuns
	missing  []lab.Missing
}

// datasetRuns holds the configurations of LAGO that were run on one data set, none if the
// folder has only baselines or results of a rotation.
type datasetRuns struct {
	name        string
	fingerprint string
	dev         []*configuration // best mean validation accuracy first
	test        []*configuration // in the order of the variants: never sorted by test accuracy
}

// configuration is a set of runs that differ in their seed only.
type configuration struct {
	label  string        // distinguishes it from others of its variant
	runs   []lab.Run     // by seed
	curves []train.Curve // of the runs
	protocol.Measured
}

// trial returns the trial of the first seed.
func (c *configuration) trial() train.Trial { return c.runs[0].Trial }

func (c *configuration) variant() model.Variant { return c.trial().Model.Variant }

// configurations lists those of both stages.
func (d *datasetRuns) configurations() []*configuration { return slices.Concat(d.dev, d.test) }

func readFolder(dir string) (*folder, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	stored, err := lab.StoredSubjects(dir, comparison.Kind, comparison.RotationKind, robustness.NoiseKind, robustness.PartialKind)
	if len(runs)+len(stored) == 0 {
		if err != nil {
			return nil, err
		}
		return nil, &invalid.Error{Where: dir, Want: "folders of runs", Got: "none", Hint: "lago-train run --out " + shellQuote(dir) + " trains some."}
	}
	slices.SortStableFunc(runs, func(a, b lab.Run) int { return cmp.Compare(a.Training.Seed, b.Training.Seed) })
	f := &folder{dir: dir, missing: []lab.Missing{}}
	found := map[train.Trial]*configuration{}
	for _, r := range runs {
		if r.Baseline.Method != "" { // shown by the comparison
			stored = append(stored, lab.Subject{Dataset: r.Dataset, Fingerprint: r.Fingerprint})
			if r.Err != nil {
				f.missing = append(f.missing, lab.Missing{Dir: r.Dir, Why: r.Why()})
			}
			continue
		}
		curve, err := readCurve(r)
		if err != nil {
			r.Err = err
			f.missing = append(f.missing, lab.Missing{Dir: r.Dir, Why: r.Why()})
			continue
		}
		key := r.Trial
		key.Training.Seed = 0
		c := found[key]
		if c == nil {
			c = &configuration{}
			found[key] = c
			if d := f.dataset(r.Dataset, r.Fingerprint); r.Stage == train.Dev {
				d.dev = append(d.dev, c)
			} else {
				d.test = append(d.test, c)
			}
		}
		c.runs = append(c.runs, r)
		c.curves = append(c.curves, curve)
	}
	for _, s := range stored {
		f.dataset(s.Dataset, s.Fingerprint)
	}
	for _, d := range f.datasets {
		d.measure()
	}
	return f, nil
}

// readCurve reads the curve of a finished run and checks its files, so that what is drawn
// of them needs no checks.
func readCurve(r lab.Run) (train.Curve, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	curve, err := r.Curve()
	if err != nil {
		return nil, err
	}
	return curve, checkRecords(r)
}

// checkRecords checks trial.json of a finished run.
func checkRecords(r lab.Run) error {
	path := filepath.Join(r.Dir, train.TrialFile)
	if r.Stage != train.Dev && r.Stage != train.Test {
		return &invalid.Error{Where: path, Field: "stage", Want: "dev or test", Got: fmt.Sprintf("%q", r.Stage)}
	}
	return invalid.At(path, r.Model.Check())
}

// dataset returns a data set and adds it if it is new.
func (f *folder) dataset(name, fingerprint string) *datasetRuns {
	for _, d := range f.datasets {
		if d.name == name && d.fingerprint == fingerprint {
			return d
		}
	}
	d := &datasetRuns{name: name, fingerprint: fingerprint}
	f.datasets = append(f.datasets, d)
	return d
}

// measure summarises, sorts and labels the configurations.
func (d *datasetRuns) measure() {
	for _, c := range d.configurations() {
		c.Measured = *protocol.Measure(c.runs)
	}
	slices.SortStableFunc(d.dev, func(a, b *configuration) int { return cmp.Compare(b.PerClass.Mean, a.PerClass.Mean) })
	slices.SortStableFunc(d.test, func(a, b *configuration) int {
		return cmp.Compare(slices.Index(model.Variants, a.variant()), slices.Index(model.Variants, b.variant()))
	})
	for _, stage := range [][]*configuration{d.dev, d.test} {
		for i, label := range labels(stage) {
			stage[i].label = label
		}
	}
}

// title names a data set, with its fingerprint if there is another of the same name, such
// as another split.
func (f *folder) title(d *datasetRuns) string {
	for _, other := range f.datasets {
		if other != d && other.name == d.name {
			return fmt.Sprintf("%s, fingerprint %.8s", d.name, d.fingerprint)
		}
	}
	return d.name
}
