package protocol

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Outcome is the result of a configuration over its seeds.
type Outcome struct {
	Dataset string    `json:"dataset"`
	Variant string    `json:"variant"`
	Stage   Stages    `json:"stage"`
	Seeds   int       `json:"seeds"`
	Epochs  int       `json:"epochs"` // from the average dev curve, otherwise those of the test stage
	Val     *Measured `json:"val"`    // null without a dev stage
	Test    *Measured `json:"test"`   // null without a test stage
	Seconds float64   `json:"seconds"`
	BLAS    string    `json:"blas"` // with which the runs were trained
	RunDirs []string  `json:"run_dirs"`
	Reused  int       `json:"reused_runs"` // that were finished before
	// TrainedFrom and TrainedTo are when the first and the last run ended.
	TrainedFrom time.Time `json:"trained_from"`
	TrainedTo   time.Time `json:"trained_to"`

	Config Config   `json:"config"`
	Models []string `json:"-"` // files of the test stage, one per seed
}

// Measured is the accuracy on the classes that a stage evaluates, as fractions, over
// seeds.
type Measured struct {
	PerClass  lab.Summary      `json:"per_class_accuracy"`
	Interval  metrics.Interval `json:"interval"` // of PerClass over classes, whose accuracies are means over seeds
	PerSample lab.Summary      `json:"per_sample_accuracy"`
	Classes   int              `json:"classes"`
	Status    []train.Status   `json:"status"` // why each seed ended
}

// Chance is the expected accuracy of random predictions.
func (m Measured) Chance() float64 { return 1 / float64(m.Classes) }

// LeftOut is a variant that the data set does not allow.
type LeftOut struct {
	Variant model.Variant `json:"variant"`
	Why     string        `json:"why"`
}

// Allows returns nil if the data of a lab allows the variant, otherwise why not.
func Allows(l *lab.Lab, v model.Variant) *LeftOut {
	if v.Semantic() && l.Data.Groups == nil {
		return &LeftOut{v, "the data set has no attribute groups"}
	}
	return nil
}

// Run trains and evaluates the stages of c for every seed.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Outcome, error) {
	o := &Outcome{Dataset: c.Dataset, Variant: string(c.Variant), Stage: c.Stage, Seeds: c.Seeds, Epochs: c.Epochs, Config: c}
	if c.Stage != OnlyTest {
		dev, err := o.carryOut(ctx, l, c.Trials(l, train.Dev, c.DevEpochs()))
		if err != nil {
			return nil, err
		}
		if o.Epochs, err = DevEpoch(dev); err != nil {
			return nil, err
		}
		o.Val = Measure(dev)
	}
	if c.Stage == OnlyDev {
		return o, nil
	}
	if o.Epochs == 0 {
		o.Epochs = PresetFor(c.Dataset, c.Variant).TestEpochs
	}
	test, err := o.carryOut(ctx, l, c.Trials(l, train.Test, o.Epochs))
	if err != nil {
		return nil, err
	}
	o.Test, o.Models = Measure(test), ModelFiles(test)
	return o, nil
}

// carryOut runs the trials of a stage, all of which must succeed.
func (o *Outcome) carryOut(ctx context.Context, l *lab.Lab, trials []train.Trial) ([]lab.Run, error) {
	done, err := l.Do(ctx, trials)
	if err != nil {
		return nil, err
	}
	for _, r := range done {
		if r.Err != nil {
			if strings.HasPrefix(r.Err.Error(), r.Dir) {
				return nil, r.Err // which names one of the run's files
			}
			return nil, fmt.Errorf("%s: %w", r.Dir, r.Err)
		}
		record, err := train.ReadRecord(r.Dir)
		if err != nil {
			return nil, err
		}
		if used := record.BLAS.String(); !strings.Contains(o.BLAS, used) {
			o.BLAS = strings.TrimPrefix(o.BLAS+"; "+used, "; ")
		}
		if r.Reused {
			o.Reused++
		}
		if o.TrainedFrom.IsZero() || r.Ended.Before(o.TrainedFrom) {
			o.TrainedFrom = r.Ended
		}
		if r.Ended.After(o.TrainedTo) {
			o.TrainedTo = r.Ended
		}
		o.Seconds += r.Result.Seconds
		o.RunDirs = append(o.RunDirs, r.Dir)
	}
	return done, nil
}

// RunAll runs the full protocol for several configurations. The trials of a stage form
// one grid, so that no core is idle while one variant waits for its last seed. Outcomes
// are in the order of the configurations, nil for those with a failed trial; without
// lists the failed trials.
func RunAll(ctx context.Context, l *lab.Lab, configs []Config) (outcomes []*Outcome, without []lab.Run, err error) {
	lists := make([][]train.Trial, len(configs))
	for i, c := range configs {
		lists[i] = c.Trials(l, train.Dev, c.DevEpochs())
	}
	dev, err := l.DoAll(ctx, lists)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range configs {
		lists[i] = nil
		if failed := lab.Failures(dev[i]); len(failed) > 0 {
			without = append(without, failed...)
			continue
		}
		epochs, err := DevEpoch(dev[i])
		if err != nil {
			return nil, nil, err
		}
		lists[i] = c.Trials(l, train.Test, epochs)
	}
	test, err := l.DoAll(ctx, lists)
	if err != nil {
		return nil, nil, err
	}
	outcomes = make([]*Outcome, len(configs))
	for i, c := range configs {
		failed := lab.Failures(test[i])
		without = append(without, failed...)
		if lists[i] == nil || len(failed) > 0 {
			continue
		}
		c.Stage = DevThenTest
		if outcomes[i], err = Run(ctx, l, c); err != nil { // reads what is finished
			return nil, nil, err
		}
	}
	return outcomes, without, nil
}

// Trials returns the trials of a stage of c, one per seed.
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

// ModelFiles returns the model file of each run.
func ModelFiles(runs []lab.Run) []string {
	files := make([]string, len(runs))
	for i, r := range runs {
		files[i] = filepath.Join(r.Dir, train.ModelFile)
	}
	return files
}

// Measure summarises the scores of finished runs. Runs without a result are left out.
func Measure(runs []lab.Run) *Measured {
	m := &Measured{}
	var perClass, perSample []float64
	for _, r := range runs {
		if r.Result == nil || r.Result.Evaluation == nil {
			continue
		}
		perClass = append(perClass, r.Result.Evaluation.PerClass)
		perSample = append(perSample, r.Result.Evaluation.PerSample)
		m.Classes = len(r.Result.Evaluation.Classes)
		m.Status = append(m.Status, r.Result.Status)
	}
	m.PerClass, m.PerSample = lab.Summarise(perClass), lab.Summarise(perSample)
	m.Interval = metrics.ClassInterval(lab.ClassAccuracies(runs))
	return m
}

// DevEpoch returns the BestEpoch of the learning curves of dev runs.
func DevEpoch(runs []lab.Run) (int, error) {
	curves := make([]train.Curve, len(runs))
	for i, r := range runs {
		var err error
		if curves[i], err = train.ReadCurve(filepath.Join(r.Dir, train.CurveFile), train.Dev); err != nil {
			return 0, err
		}
	}
	return BestEpoch(curves), nil
}

// sumTolerance is the largest difference between sums of the same accuracies in
// different orders. One sample makes far more.
const sumTolerance = 1e-9

// BestEpoch returns the epoch with the highest validation accuracy of the average curve,
// over the epochs that every seed ran: the paper's rule for how long to train on train
// and validation classes together. Of equal epochs it is the first, of none 0.
func BestEpoch(curves []train.Curve) int {
	if len(curves) == 0 {
		return 0
	}
	best, top := 0, -1.0
	shortest := slices.MinFunc(curves, func(a, b train.Curve) int { return len(a) - len(b) })
	for e := range shortest {
		var sum float64
		for _, c := range curves {
			sum += *c[e].ValAccuracy
		}
		if sum > top+sumTolerance {
			best, top = e+1, sum
		}
	}
	return best
}

// WriteText writes the table of a run and the folders of its runs. p is the preset that
// the run started from.
func (o *Outcome) WriteText(w io.Writer, p Preset) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, stage %s, %s\n", o.Variant, o.Dataset, o.Stage, o.epochs())
	t := format.NewTable("evaluated on", "classes", "per-class accuracy", "95 % over classes", "s.e.m. over seeds", "chance", "seeds")
	t.Right(3, 4, 5, 6)
	for _, part := range []struct {
		name string
		*Measured
	}{{"validation", o.Val}, {"test (unseen)", o.Test}} {
		if part.Measured != nil {
			t.Row(part.name, part.Classes, part.PerClass.MeanText(), part.Interval, part.PerClass.SEMText(), format.Percent(part.Chance()), len(part.PerClass.Values))
		}
	}
	b.WriteString(t.String())
	if expect := lab.Summarise(p.Expect); o.Test != nil && len(p.Expect) > 0 {
		fmt.Fprintf(&b, "published with these settings: %s test accuracy over %s\n", expect.MeanText(), format.Count(len(p.Expect), "seed"))
	}
	fmt.Fprintf(&b, "%s:\n", o.trained())
	for _, dir := range o.RunDirs {
		fmt.Fprintf(&b, "  %s\n", dir)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// trained says what was trained, and what was reused.
func (o *Outcome) trained() string {
	const when = "2006-01-02 15:04"
	runs := format.Count(len(o.RunDirs), "run")
	switch o.Reused {
	case 0:
		return fmt.Sprintf("%s, trained in %.1f s", runs, o.Seconds)
	case len(o.RunDirs):
		return fmt.Sprintf("nothing trained: %s reused, trained until %s in %.1f s", runs, o.TrainedTo.Format(when), o.Seconds)
	}
	return fmt.Sprintf("%s (%d reused, the first trained %s), trained in %.1f s", runs, o.Reused, o.TrainedFrom.Format(when), o.Seconds)
}

func (o *Outcome) epochs() string {
	if o.Test == nil {
		return fmt.Sprintf("best average validation accuracy at epoch %d", o.Epochs)
	}
	return fmt.Sprintf("%d epochs on train and validation classes", o.Epochs)
}
