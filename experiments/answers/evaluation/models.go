package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Split says whose samples models are evaluated on.
type Split string

// The splits.
const (
	ByStage   Split = ""     // val if a model is of the dev stage, otherwise test
	ValSplit  Split = "val"  // the validation classes, for models of the dev stage
	TestSplit Split = "test" // the test classes
)

// Models are models to evaluate on a data set.
type Models struct {
	Data  *dataset.Dataset
	Split Split
	// Candidates are the classes to choose from; without names those of the split. If seen classes are among
	// them, in the generalised setting, samples held out of these are evaluated, too.
	Candidates predictor.Candidates
	Models     []*predictor.Model // several form an ensemble: the mean of their probabilities
	// Dev are runs of the dev stage that choose gamma and the temperatures, one for each
	// model. If it is nil, runs of the same settings are looked for beside the models.
	Dev []*predictor.Model
	// Adapt also evaluates one model adapted to the samples.
	Adapt bool
}

// ReadModel reads a model by its file in the folder of its run, which is finished.
func ReadModel(path string) (*predictor.Model, error) {
	run, err := lab.ReadRun(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &invalid.Error{
			Where: run.Dir, Want: "the folder of a run, with a " + train.TrialFile, Err: err,
		}
	}
	if run.Missing != nil {
		return nil, &invalid.Error{Where: run.Dir, Want: "a finished run", Got: run.Missing.Why}
	}
	return predictor.Open(path)
}

// EvaluateModels evaluates models on the classes of a split. For validation, models of
// the dev stage are evaluated in the same way on the validation classes.
func (c Config) EvaluateModels(ctx context.Context, m Models) (*Result, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	dev, missing := m.devRuns()
	devScores, err := m.score(ctx, dev, m.validating(), true)
	if err != nil {
		return nil, err
	}
	scores, err := m.score(ctx, m.Models, m.Candidates, m.Split == ValSplit)
	if err != nil {
		return nil, err
	}
	temperatures, err := m.temperatures(scores, devScores, missing)
	if err != nil {
		return nil, err
	}
	r := c.evaluate(mean(scores, temperatures), mean(devScores, temperatures))
	r.Source = Source{Split: string(m.Split), Candidates: m.Candidates.What, Dataset: m.Data.Name}
	if m.generalised() {
		raw, err := m.score(ctx, uncorrected(m.Models), m.Candidates, m.Split == ValSplit)
		if err != nil {
			return nil, err
		}
		devRaw, err := m.score(ctx, uncorrected(dev), m.validating(), true)
		if err != nil {
			return nil, err
		}
		r.stack(mean(raw, temperatures), mean(devRaw, temperatures))
		if len(m.Models) == 1 {
			r.corrected = m.Models[0].Decision.ForMixed().Correction()
		}
	}
	if m.Adapt {
		if err := m.adapt(ctx, r, dev, missing); err != nil {
			return nil, err
		}
	}
	for _, d := range dev {
		r.Validation.Of = append(r.Validation.Of, d.Dir())
	}
	var zero []string
	samples := predictor.Samples{Data: m.Data, Rows: r.scored.rows}
	for i, row := range samples.Rows {
		if predictor.IsZero(m.Data.Features.Row(row)) {
			_, id, _ := samples.Sample(i)
			zero = append(zero, cmp.Or(id, strconv.Itoa(row)))
		}
	}
	if len(zero) > 0 {
		r.note("%s", predictor.ZeroText(zero))
	}
	for i, model := range m.Models {
		alone, interval := scores[i].top(1)
		r.Source.Models = append(r.Source.Models, EvaluatedModel{
			model.Path, model.Method.Label(), model.Trial.Seed, alone.PerClass, interval,
		})
		if changed, _ := model.Changed(m.Data); changed != "" {
			r.note("%s", strings.TrimSuffix(changed, "."))
		}
		if m.Split == TestSplit && model.Trial.Stage == train.Dev {
			r.note("%s is a model of the dev stage: settings must not be chosen by its test accuracy",
				model.Path)
		}
	}
	if missing != "" {
		r.note("neither gamma nor a temperature is chosen: %s", missing)
	}
	return r, nil
}

// check sets the split by the stage of the models. It returns an error if they cannot be
// evaluated on the split, or the runs of the dev stage cannot validate.
func (m *Models) check() error {
	if m.Split == ByStage {
		m.Split = TestSplit
		if slices.ContainsFunc(m.Models, func(model *predictor.Model) bool {
			return model.Trial.Stage == train.Dev
		}) {
			m.Split = ValSplit
		}
	}
	if m.Candidates.Names == nil {
		m.Candidates = m.Models[0].SelectedCandidates(m.Data, predictor.Selection(m.Split))
	}
	switch {
	case len(m.Candidates.Names) == 1:
		return &invalid.Error{
			Field: "candidates", Want: "at least two classes, among which a prediction can be wrong",
			Got: m.Candidates.What + " with 1 class",
		}
	case m.generalised() && m.Data.TestSeen == nil:
		return train.CheckHeldOut(m.Data, "candidates")
	case m.Adapt && (len(m.Models) > 1 || m.generalised()):
		got := fmt.Sprintf("%s, %s", format.Count(len(m.Models), "model"), m.Candidates.What)
		return &invalid.Error{Field: "adapt", Want: "one model, and no seen class as a candidate", Got: got}
	case len(m.Dev) > 0 && m.Split == ValSplit:
		return &invalid.Error{Field: "dev", Want: "the split test", Got: "val, which is used for validation"}
	case len(m.Dev) > 0 && len(m.Dev) != len(m.Models):
		return &invalid.Error{
			Field: "dev", Want: fmt.Sprintf("one run for each of the %d models", len(m.Models)),
			Got: fmt.Sprint(len(m.Dev)),
		}
	}
	for i, model := range slices.Concat(m.Models, m.Dev) {
		dev := i - len(m.Models)
		if err := m.checkModel(model, dev >= 0 || m.Split == ValSplit); err != nil {
			return err
		}
		if dev < 0 {
			continue
		}
		if want := m.Models[dev].Method.Label(); model.Method.Label() != want {
			return &invalid.Error{
				Where: model.Path, Want: "a run of " + want + ", as the model",
				Got: "one of " + model.Method.Label(),
			}
		}
	}
	return nil
}

// checkModel returns an error if a model does not fit the data set, is of the wrong stage, or
// was trained on what it is to be evaluated on: with dev on the validation classes.
func (m Models) checkModel(model *predictor.Model, dev bool) error {
	if err := model.Fits(m.Data); err != nil {
		return invalid.At(model.Path, err)
	}
	_, unseen := m.classes(dev)
	trainedOn := slices.IndexFunc(unseen, func(z int) bool { return model.TrainedOn(m.Data.Classes[z]) })
	gzsl, trial := m.generalised(), model.Trial
	e := &invalid.Error{Where: model.Path, Got: fmt.Sprintf("one of the %s stage", trial.Stage)}
	switch {
	case dev && trial.Stage != train.Dev:
		e.Want = "a run of the dev stage, which is not trained on the validation classes"
	case !dev && gzsl && trial.Stage != train.Test:
		e.Want = "a run of the test stage"
	case gzsl && !model.SameSamples(m.Data):
		e.Want = fmt.Sprintf("the data set that samples were held out of, with the fingerprint %.12s",
			trial.Fingerprint)
		e.Got, e.Hint = fmt.Sprintf("%s with %.12s", m.Data.Name,
			m.Data.Fingerprint()), "Is it another --dev-split?"
	case gzsl && !trial.HoldOut:
		e.Want = "a model that was not trained on the held-out samples of seen classes"
		e.Got, e.Hint = "one that was", "Train one with run or compare --hold-out."
	case trainedOn >= 0:
		e.Want = fmt.Sprintf("a model that was not trained on the class %q of %s",
			m.Data.Classes[unseen[trainedOn]], m.Data.Name)
		e.Got, e.Hint = "one that was", "Is it another --dev-split?"
	default:
		return nil
	}
	return e
}

// classes returns the seen and the unseen classes; for models of the dev stage the validation
// classes are unseen.
func (m Models) classes(dev bool) (seen, unseen []int) {
	if dev {
		return m.Data.Split.Train, m.Data.Split.Val
	}
	return m.Data.Split.Seen(), m.Data.Split.Test
}

// generalised reports whether seen classes are candidates.
func (m Models) generalised() bool {
	return slices.Contains(m.sides(m.Candidates, m.Split == ValSplit), false)
}

// sides says of each candidate whether it is unseen.
func (m Models) sides(c predictor.Candidates, dev bool) (sides metrics.Sides) {
	seen, unseen := m.classes(dev)
	names := map[string]bool{}
	for i, z := range slices.Concat(seen, unseen) {
		names[m.Data.Classes[z]] = i < len(seen)
	}
	for _, name := range c.Names {
		sides = append(sides, !names[name])
	}
	return sides
}

// validating returns the candidates of the dev stage.
func (m Models) validating() predictor.Candidates {
	if m.generalised() {
		return m.Models[0].SelectedCandidates(m.Data, predictor.Train, predictor.Val)
	}
	return m.Models[0].SelectedCandidates(m.Data, predictor.Val)
}

// samples returns the samples of the split, with dev those of validation, to predict as one of the
// candidates, and the number of those of unseen classes, which come first. Of the held-out samples of seen
// classes one half chooses gamma, with dev, and the other is evaluated.
func (m Models) samples(c predictor.Candidates, dev bool) (t scored, ofUnseen int, err error) {
	d := m.Data
	_, unseen := m.classes(dev)
	samples := train.Select(d, d.Features, unseen)
	if dev && slices.ContainsFunc(m.Models, func(model *predictor.Model) bool {
		return model.Trial.HoldOut
	}) {
		samples = samples.Without(d.TestSeen)
	}
	t = scored{names: c.Names, rows: slices.Clip(samples.Rows), ids: d.IDs, kind: BareScores}
	column := make(map[string]int, len(c.Names))
	for i, name := range c.Names {
		column[name] = i
	}
	if sides := m.sides(c, dev); slices.Contains(sides, false) {
		t.sides = sides
		choosing, held := d.HeldOut()
		if dev {
			held = choosing
		}
		for _, row := range held {
			if z, ok := column[d.Classes[d.Labels[row]]]; ok && !sides[z] {
				t.rows = append(t.rows, row)
			}
		}
	}
	for _, row := range t.rows {
		class := d.Classes[d.Labels[row]]
		z, ok := column[class]
		if !ok {
			return t, 0, &invalid.Error{
				Field: "candidates", Want: "the classes of the samples among them",
				Got:  fmt.Sprintf("%s without %q", c.What, class),
				Hint: "unseen and all have them; classes of a file are added by --candidates unseen,FILE.",
			}
		}
		t.labels = append(t.labels, z)
	}
	return t, len(samples.Rows), nil
}

// score scores the samples of the split, with dev those of validation, for the candidates with each of some
// models, as predict does.
func (m Models) score(ctx context.Context, models []*predictor.Model, c predictor.Candidates,
	dev bool,
) (list []*scored, err error) {
	t, ofUnseen, err := m.samples(c, dev)
	if err != nil {
		return nil, err
	}
	for _, model := range models {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := t
		if model.Method.Name == methods.LAGO {
			s.kind = Logits // log p(z|x)
		}
		p, err := model.Predictor(c, predictor.Options{})
		if err != nil {
			return nil, err
		}
		a, err := p.Detect(m.Data.Features, t.rows)
		if err == nil {
			s.scores, err = p.Classify(a, c.U)
		}
		if err == nil && t.sides != nil { // scores may depend on the other candidates
			var rows []int
			for z, unseen := range t.sides {
				if unseen {
					rows = append(rows, z)
				}
			}
			s.alone, err = model.Classify(a.Slice(0, ofUnseen), c.U.Gather(rows))
		}
		if err != nil {
			return nil, invalid.At(model.Path, err)
		}
		if err := s.check(model.Path, m.Data.Name); err != nil {
			return nil, err
		}
		list = append(list, &s)
	}
	return list, nil
}

// uncorrected returns copies of models that correct no scores.
func uncorrected(models []*predictor.Model) (list []*predictor.Model) {
	for _, m := range models {
		p := *m.Pipeline
		p.Decision.Omega, p.Decision.Mixed = 0, nil
		list = append(list, m.With(&p))
	}
	return list
}

// mean averages the probabilities that several models give to the same samples. The scores of
// one model stay as they are; those of none are nil.
func mean(members []*scored, temperatures []float64) *scored {
	switch len(members) {
	case 0:
		return nil
	case 1:
		return members[0]
	}
	var all, alone []dataset.Matrix[float32]
	for _, s := range members {
		all, alone = append(all, s.scores), append(alone, s.alone)
	}
	s := *members[0]
	s.kind, s.scores, s.alone = Logits, metrics.Ensemble(all, temperatures), metrics.Ensemble(alone,
		temperatures)
	return &s
}
