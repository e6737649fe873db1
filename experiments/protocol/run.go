package protocol

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

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

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
func ForBaselines(configs []Config) Config {
	i := slices.IndexFunc(configs, func(c Config) bool { return c.Variant == model.SemanticHard })
	return configs[max(i, 0)]
}
