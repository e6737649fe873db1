package protocol

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// String returns the accuracy with its interval over classes and its standard error.
func (m Measured) String() string {
	return fmt.Sprintf("%s (95 %% over %d classes: %s; s.e.m. over %s: %s)",
		m.PerClass.MeanText(), m.Classes, m.Interval, format.Count(len(m.PerClass.Values), "seed"), m.PerClass.SEMText())
}

// Outcome is the result of a configuration over its seeds.
type Outcome struct {
	Dataset string `json:"dataset"`
	Variant string `json:"variant"`
	Stage   Stages `json:"stage"`
	Seeds   int    `json:"seeds"`
	// Epochs is the best of the average dev curve, otherwise the number of the test stage;
	// over several parts the mean of PartEpochs.
	Epochs     int       `json:"epochs"`
	PartEpochs []int     `json:"epochs_of_parts,omitempty"` // if there are several
	Val        *Measured `json:"val"`                       // null without a dev stage
	Test       *Measured `json:"test"`                      // null without a test stage
	Seconds    float64   `json:"seconds"`
	BLAS       string    `json:"blas"` // with which the runs were trained
	RunDirs    []string  `json:"run_dirs"`
	Reused     int       `json:"reused_runs"` // that were finished before
	// TrainedFrom and TrainedTo are when the first and the last run ended.
	TrainedFrom time.Time `json:"trained_from"`
	TrainedTo   time.Time `json:"trained_to"`

	Adaptation *train.Adaptation `json:"adaptation,omitempty"` // see Adapt

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
	Parts     int              `json:"parts"`  // of the classes; predictions are among those of a part
	Status    []train.Status   `json:"status"` // why each seed ended
}

// Chance is the expected accuracy of random predictions.
func (m Measured) Chance() float64 { return float64(m.Parts) / float64(m.Classes) }

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

// Run trains and evaluates the stages of c for every seed, on each part of the lab.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Outcome, error) {
	c = c.On(l.Data)
	o := &Outcome{Dataset: c.Dataset, Variant: string(c.Variant), Stage: c.Stage, Seeds: c.Seeds, Config: c}
	var dev, test []lab.Run
	var perPart []int
	for _, part := range l.Parts {
		epochs := cmp.Or(c.Epochs, PresetFor(c.Dataset, c.Variant).TestEpochs)
		if c.Stage != OnlyTest {
			done, err := o.carryOut(ctx, l, c.Trials(part, train.Dev, c.DevEpochs()))
			if err != nil {
				return nil, err
			}
			if epochs, err = DevEpoch(done); err != nil {
				return nil, err
			}
			dev = append(dev, done...)
		}
		perPart = append(perPart, epochs)
		if c.Stage == OnlyDev {
			continue
		}
		done, err := o.carryOut(ctx, l, c.Trials(part, train.Test, epochs))
		if err != nil {
			return nil, err
		}
		test = append(test, done...)
	}
	o.Epochs, o.PartEpochs = MeanEpochs(perPart)
	if dev != nil {
		o.Val = Measure(dev)
	}
	if test != nil {
		o.Test, o.Models = Measure(test), ModelFiles(test)
	}
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
	parts := len(l.Parts)
	lists := make([][]train.Trial, len(configs)*parts)
	for i, c := range configs {
		for j, part := range l.Parts {
			lists[i*parts+j] = c.Trials(part, train.Dev, c.DevEpochs())
		}
	}
	failed := make([]bool, len(configs))
	do := func() ([][]lab.Run, error) {
		done, err := l.DoAll(ctx, lists)
		for i, runs := range done {
			failures := lab.Failures(runs)
			without = append(without, failures...)
			failed[i/parts] = failed[i/parts] || len(failures) > 0
		}
		return done, err
	}
	dev, err := do()
	if err != nil {
		return nil, nil, err
	}
	for i, runs := range dev {
		lists[i] = nil
		if failed[i/parts] {
			continue
		}
		epochs, err := DevEpoch(runs)
		if err != nil {
			return nil, nil, err
		}
		lists[i] = configs[i/parts].Trials(l.Parts[i%parts], train.Test, epochs)
	}
	if _, err := do(); err != nil {
		return nil, nil, err
	}
	outcomes = make([]*Outcome, len(configs))
	for i, c := range configs {
		if failed[i] {
			continue
		}
		c.Stage = DevThenTest
		if outcomes[i], err = Run(ctx, l, c); err != nil { // reads what is finished
			return nil, nil, err
		}
	}
	return outcomes, without, nil
}

// MeanEpochs returns the rounded mean of the epochs of parts, and the epochs themselves if
// there are several parts.
func MeanEpochs(parts []int) (mean int, several []int) {
	sum := 0
	for _, n := range parts {
		sum += n
	}
	if len(parts) > 1 {
		several = parts
	}
	return (sum + len(parts)/2) / len(parts), several
}

// Trials returns the trials of a stage of c on a view, one per seed.
func (c Config) Trials(v lab.View, stage train.Stage, epochs int) []train.Trial {
	c = c.On(v.Data)
	trials := make([]train.Trial, c.Seeds)
	for i := range trials {
		trials[i] = c.Trial(stage, v.Fingerprint, c.Seed+uint64(i), epochs)
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

// Measure summarises the scores of finished runs over seeds. The accuracy of a seed is that
// on all classes of its runs, which may be of several parts or folds. Runs without a result
// are left out, and seeds that lack a part that others have.
func Measure(runs []lab.Run) *Measured {
	m := &Measured{}
	runs = complete(runs)
	var seeds []uint64
	bySeed := map[uint64]*mean{}
	parts := map[string]int{} // number of classes
	for _, r := range runs {
		e := r.Result.Evaluation
		s := bySeed[r.Training.Seed]
		if s == nil {
			s = &mean{}
			seeds, bySeed[r.Training.Seed] = append(seeds, r.Training.Seed), s
		}
		s.add(e)
		parts[r.Fingerprint] = len(e.Classes)
		m.Status = append(m.Status, r.Result.Status)
	}
	var perClass, perSample []float64
	for _, seed := range seeds {
		perClass = append(perClass, bySeed[seed].perClass)
		perSample = append(perSample, bySeed[seed].perSample)
	}
	m.Parts = len(parts)
	for _, classes := range parts {
		m.Classes += classes
	}
	m.PerClass, m.PerSample = lab.Summarise(perClass), lab.Summarise(perSample)
	m.Interval = metrics.ClassInterval(lab.Accuracies(lab.ClassAccuracies(runs)))
	return m
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
func ForBaselines(configs []Config) Config {
	i := slices.IndexFunc(configs, func(c Config) bool { return c.Variant == model.SemanticHard })
	return configs[max(i, 0)]
}

// ValidationParts says, as the end of a sentence, that validation accuracies are those of a
// rotation over classes; nothing if there is one part.
func ValidationParts(parts int) string {
	if parts < 2 {
		return ""
	}
	return fmt.Sprintf(", each class a validation class in one of %d parts", parts)
}

// complete returns the runs with a result of the seeds that have the most of them.
func complete(runs []lab.Run) []lab.Run {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r lab.Run) bool { return r.Result == nil || r.Result.Evaluation == nil })
	count, most := map[uint64]int{}, 0
	for _, r := range runs {
		count[r.Training.Seed]++
		most = max(most, count[r.Training.Seed])
	}
	return slices.DeleteFunc(runs, func(r lab.Run) bool { return count[r.Training.Seed] < most })
}

// mean is the mean accuracy of one seed over classes and over samples.
type mean struct{ perClass, classes, perSample, samples float64 }

func (m *mean) add(e *train.Evaluation) {
	var classes, samples float64
	counts, _ := metrics.Confusion(e.Confusion).Recall()
	for _, n := range counts {
		samples += float64(n)
		if n > 0 {
			classes++
		}
	}
	m.classes += classes
	m.samples += samples
	m.perClass += (e.PerClass - m.perClass) * (classes / m.classes)
	m.perSample += (e.PerSample - m.perSample) * (samples / m.samples)
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
		fmt.Fprintf(&b, "published with the authors' settings of this variant: %s test accuracy over %s\n", expect.MeanText(), format.Count(len(p.Expect), "seed"))
	}
	if o.Adaptation != nil {
		fmt.Fprintf(&b, "adaptation to unlabelled samples (--adapt): %s\n", adaptation.Text(o.Adaptation))
	}
	o.writeSettings(&b, p)
	fmt.Fprintf(&b, "%s:\n", o.trained())
	for _, dir := range o.RunDirs {
		fmt.Fprintf(&b, "  %s\n", dir)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSettings writes the settings that a search varies, where they come from, and the
// command that searches better ones.
func (o *Outcome) writeSettings(b *strings.Builder, p Preset) {
	var list []string
	source := p.Source
	for _, s := range settings {
		if s.AppliesTo(o.Config) && s.SearchValues(o.Config.Variant, 1) != nil {
			list = append(list, fmt.Sprintf("%s %v", s.Key, s.Value(o.Config)))
			if from := p.Origins[s.Key]; from != fromDefault && from != fromPreset {
				source = "partly given; otherwise " + p.Source
			}
		}
	}
	fmt.Fprintf(b, "settings: %s (%s); to search better ones: lago-train search --dataset %s --variant %s\n",
		strings.Join(list, ", "), source, o.Dataset, o.Variant)
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
	return format.Count(o.Epochs, "epoch") + " on train and validation classes"
}
