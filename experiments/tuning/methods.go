package tuning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Method is the result of one method by the protocol.
type Method struct {
	Name      string             `json:"name"`
	Title     string             `json:"title"` // as the paper's tables name it
	Variant   string             `json:"variant,omitempty"`
	Val       *protocol.Measured `json:"val"`
	Test      *protocol.Measured `json:"test"`
	Epochs    int                `json:"epochs"`  // on train and validation classes
	Seconds   float64            `json:"seconds"` // to train one model on train and validation classes
	Tried     int                `json:"tried"`   // number of settings, on the validation classes
	Settings  map[string]any     `json:"settings"`
	Published string             `json:"published_percent,omitempty"` // test accuracy in table A.1, a number or a range
	RunDirs   []string           `json:"run_dirs"`

	Models []string `json:"-"` // files of those that were evaluated on the test classes
}

// Label names the method and, for LAGO, the chosen variant.
func (m Method) Label() string {
	if m.Name == LAGOMethod {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}

// Methods is the result of several methods.
type Methods struct {
	Rows    []Method
	Missing []lab.Missing
	LeftOut []protocol.LeftOut // variants that the data set does not allow
}

// Baselines runs baselines with their defaults, or the best of their grid for those in
// closed form. Seeds, epochs, patience and held-out samples are those of like. If it has
// to wait for other shards, Missing says so.
func Baselines(ctx context.Context, l *lab.Lab, names []string, like protocol.Config) (*Methods, error) {
	if len(names) == 0 {
		return &Methods{}, nil
	}
	r, err := Run(ctx, l, Config{
		Methods: names, Seeds: like.Seeds, Seed: like.Seed, Epochs: like.DevEpochs(), Patience: like.Patience,
		HoldOut: like.HoldOut, Preprocess: preprocess.None,
	})
	if waiting := (*lab.Waiting)(nil); errors.As(err, &waiting) {
		return &Methods{Missing: []lab.Missing{{Dir: l.Root, Why: waiting.Error()}}}, nil
	}
	return r, err
}

// Run trains and evaluates every method of c by one protocol. Settings are tuned on the
// validation classes with the first seed; the dev stage over all seeds gives the number
// of epochs on train and validation classes together; those models are evaluated once on
// the test classes. The error is a *lab.Waiting if the choice of settings needs the
// trials of other shards.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Methods, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &Methods{Rows: []Method{}, Missing: []lab.Missing{}, LeftOut: []protocol.LeftOut{}}
	contenders, err := c.contenders(ctx, l, r)
	if err != nil {
		return nil, err
	}
	if err := develop(ctx, l, contenders); err != nil {
		return nil, err
	}
	if err := evaluate(ctx, l, contenders); err != nil {
		return nil, err
	}
	for _, m := range contenders {
		r.Missing = append(r.Missing, lab.MissingOf(m.failed)...)
		if len(m.test) > 0 {
			r.Rows = append(r.Rows, m.row(l.Data.Name))
		}
	}
	return r, nil
}

// contender is the state of a method in the protocol.
type contender struct {
	name, title string
	tried       int
	// finalists are trials of the first seed. The mean validation accuracy over all seeds
	// chooses between them; there are several only for LAGO, one per variant.
	finalists []train.Trial
	seeds     int

	chosen train.Trial
	epochs int
	val    []lab.Run
	test   []lab.Run
	failed []lab.Run
}

// withSeeds repeats a trial for a number of seeds.
func withSeeds(t train.Trial, seeds int) []train.Trial {
	trials := make([]train.Trial, seeds)
	for i := range trials {
		trials[i] = t
		trials[i].Training.Seed += uint64(i)
	}
	return trials
}

// develop runs the dev stage of all finalists and chooses between them.
func develop(ctx context.Context, l *lab.Lab, contenders []*contender) error {
	var lists [][]train.Trial
	for _, m := range contenders {
		for _, t := range m.finalists {
			lists = append(lists, withSeeds(t, m.seeds))
		}
	}
	done, err := l.DoAll(ctx, lists)
	if err != nil {
		return err
	}
	for _, m := range contenders {
		best := -1.0
		for _, t := range m.finalists {
			seeds := done[0]
			done = done[1:]
			if failed := lab.Failures(seeds); len(failed) > 0 {
				m.failed = append(m.failed, failed...)
				continue
			}
			if mean := protocol.Measure(seeds).PerClass.Mean; mean > best {
				best, m.chosen, m.val = mean, t, seeds
			}
		}
		// Which finalist is best is not known while another shard trains one.
		if slices.ContainsFunc(m.failed, func(t lab.Run) bool { return errors.Is(t.Err, lab.ErrElsewhere) }) {
			m.val = nil
		}
		if m.val == nil {
			continue
		}
		if m.epochs, err = protocol.DevEpoch(m.val); err != nil {
			return err
		}
	}
	return nil
}

// evaluate runs the test stage of what was chosen.
func evaluate(ctx context.Context, l *lab.Lab, contenders []*contender) error {
	lists := make([][]train.Trial, len(contenders))
	for i, m := range contenders {
		if m.val != nil {
			lists[i] = withSeeds(forTest(m.chosen, m.epochs), m.seeds)
		}
	}
	done, err := l.DoAll(ctx, lists)
	if err != nil {
		return err
	}
	for i, m := range contenders {
		if failed := lab.Failures(done[i]); len(failed) > 0 {
			m.failed = append(m.failed, failed...)
			continue
		}
		m.test = done[i]
	}
	return nil
}

// forTest returns the test-stage trial that follows from one of the dev stage.
func forTest(t train.Trial, epochs int) train.Trial {
	t.Stage = train.Test
	t.Training.Epochs, t.Training.Patience = epochs, epochs
	return t
}

// row is the result of a contender.
func (m *contender) row(dataset string) Method {
	c := Method{
		Name: m.name, Title: m.title, Variant: string(m.chosen.Model.Variant),
		Val: protocol.Measure(m.val), Test: protocol.Measure(m.test), Epochs: m.epochs, Tried: m.tried,
		Settings: settingsOf(m.chosen), Models: protocol.ModelFiles(m.test),
	}
	c.Published, _ = published.TestAccuracy(dataset, m.title)
	for _, t := range slices.Concat(m.val, m.test) {
		c.RunDirs = append(c.RunDirs, t.Dir)
	}
	for _, t := range m.test {
		c.Seconds += t.Result.Seconds / float64(len(m.test))
	}
	return c
}

// settingsOf lists the settings that apply to a trial and are not part of the data or
// protocol.
func settingsOf(t train.Trial) map[string]any {
	if t.Baseline.Method != "" {
		all := t.Baseline.Values()
		if t.Preprocess != preprocess.None {
			all["preprocess"] = t.Preprocess
		}
		if t.Preprocess.Has(preprocess.Whiten) {
			all["ridge"] = t.Ridge
		}
		return all
	}
	c := protocol.Config{Variant: t.Model.Variant, Preprocess: t.Preprocess}
	all := map[string]any{}
	for _, s := range protocol.OfTrial(t) {
		if setting, err := protocol.Find(s.Name); err == nil && setting.AppliesTo(c) {
			all[s.Name] = s.Value
		}
	}
	for _, shared := range []string{"dataset", "stage", "seed", "epochs", "patience", "hold_out"} {
		delete(all, shared)
	}
	return all
}
