package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Request says how a model is evaluated on a data set: on the validation classes if it is of the dev stage,
// otherwise on the test classes.
type Request struct {
	Data *dataset.Dataset
	// Candidates are the classes to choose from; without names those of the samples. If seen classes are
	// among them, in the generalised setting, samples held out of these are evaluated, too.
	Candidates predictor.Candidates
	Model      *predictor.Model
	// Dev is the run of the dev stage that chooses gamma and the temperature. If it is nil, one of the same
	// settings is looked for beside the model.
	Dev   *predictor.Model
	Adapt bool // also evaluate the model adapted to the samples
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

// Evaluate evaluates a model. For validation, the run of the dev stage is evaluated in the same way on the
// validation classes.
func Evaluate(ctx context.Context, q Request) (*Evaluation, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	missing := q.findDev()
	validation, err := q.score(ctx, q.Dev, q.validating())
	if err != nil {
		return nil, err
	}
	scores, err := q.score(ctx, q.Model, q.Candidates)
	if err != nil {
		return nil, err
	}
	r := evaluate(scores, validation)
	r.Source = Source{
		string(q.split()), q.Candidates.What, q.Data.Name,
		q.Model.Path, q.Model.Method.Label(), q.Model.Trial.Seed,
	}
	if validation != nil {
		r.Validation.Of = q.Dev.Dir()
	}
	if scores.sides != nil {
		r.corrected = q.Model.Decision.ForMixed().Correction()
	}
	if q.Adapt {
		if r.Adapted, err = q.adapted(scores); err != nil {
			return nil, err
		}
	}
	q.addNotes(r, missing)
	return r, nil
}

// adapted adapts the predictions of samples to all of them.
func (q Request) adapted(s *scored) (*Transductive, error) {
	a, err := q.Model.AdaptationSettings()
	if err != nil {
		return nil, err
	}
	x, err := q.Model.AdaptedFeatures().Apply(q.Data.Features, s.rows)
	if err != nil {
		return nil, err
	}
	block := adapt.Block{X: x.Gather(x.AllRows()), Scores: s.scores}
	fitted, err := predictor.Adapt([]adapt.Block{block}, a.Settings)
	if err != nil {
		return nil, err
	}
	tally, alone := metrics.Count(fitted.P, s.labels), metrics.Count(s.scores, s.labels)
	before, after, accuracy := alone.Recall(), tally.Recall(), tally.Accuracy()
	return &Transductive{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: fitted.Changed, Declined: fitted.Declined, Rounds: len(fitted.Objective) - 1,
		Warning:   predictor.AdaptationWarning(a),
		inductive: alone.Accuracy(), interval: metrics.ClassInterval(before),
	}, nil
}

// addNotes says what makes the evaluation worth less.
func (q Request) addNotes(r *Evaluation, missing string) {
	if q.Adapt && q.split() == predictor.Val {
		r.note("the settings of the adaptation were chosen on these classes: its accuracy is optimistic")
	}
	if changed, _ := q.Model.Changed(q.Data); changed != "" {
		r.note("%s", strings.TrimSuffix(changed, "."))
	}
	if missing != "" {
		r.note("neither gamma nor a temperature is chosen: %s", missing)
	}
}

// split says whose samples are evaluated.
func (q Request) split() predictor.Selection {
	if q.Model.Trial.Stage == train.Dev {
		return predictor.Val
	}
	return predictor.Test
}

// check sets the candidates unless they are given. It returns an error if the model cannot be evaluated.
func (q *Request) check() error {
	if q.Candidates.Names == nil {
		q.Candidates = q.Model.SelectedCandidates(q.Data, q.split())
	}
	switch {
	case len(q.Candidates.Names) == 1:
		return &invalid.Error{
			Field: "candidates", Want: "at least two classes, among which a prediction can be wrong",
			Got: q.Candidates.What + " with 1 class",
		}
	case q.generalised() && q.Data.TestSeen == nil:
		return train.CheckHeldOut(q.Data, "candidates")
	case q.Adapt && q.generalised():
		return &invalid.Error{Field: "adapt", Want: "no seen class as a candidate", Got: q.Candidates.What}
	}
	return q.checkModel(q.Model)
}

// checkModel returns an error if a model does not fit the data set, or was trained on what it is to be
// evaluated on.
func (q Request) checkModel(model *predictor.Model) error {
	if err := model.Fits(q.Data); err != nil {
		return invalid.At(model.Path, err)
	}
	_, unseen := q.classes(model.Trial.Stage)
	trainedOn := slices.IndexFunc(unseen, func(z int) bool { return model.TrainedOn(q.Data.Classes[z]) })
	gzsl, trial := q.generalised(), model.Trial
	if choosing, _ := q.Data.HeldOut(); gzsl && trial.Stage == train.Dev && len(choosing) == 0 {
		return &invalid.Error{
			Where: q.Data.Name, Field: "held-out samples", Got: "one of each",
			Want: "two of a seen class, of two sources, of which one chooses and the other is evaluated",
		}
	}
	e := &invalid.Error{Where: model.Path, Got: "one that was"}
	switch {
	case gzsl && !model.SameSamples(q.Data):
		e.Want = fmt.Sprintf("the data set that samples were held out of, with the fingerprint %.12s",
			trial.Fingerprint)
		e.Got = fmt.Sprintf("%s with %.12s", q.Data.Name, q.Data.Fingerprint())
		e.Hint = "Is it another --dev-split?"
	case gzsl && !trial.HoldOut:
		e.Want = "a model that was not trained on the held-out samples of seen classes"
		e.Hint = "Train one with run or compare --hold-out."
	case trainedOn >= 0:
		e.Want = fmt.Sprintf("a model that was not trained on the class %q of %s",
			q.Data.Classes[unseen[trainedOn]], q.Data.Name)
		e.Hint = "Is it another --dev-split?"
	default:
		return nil
	}
	return e
}

// classes returns the seen and the unseen classes; for models of the dev stage the validation
// classes are unseen.
func (q Request) classes(stage train.Stage) (seen, unseen []int) {
	if stage == train.Dev {
		return q.Data.Split.Train, q.Data.Split.Val
	}
	return q.Data.Split.Seen(), q.Data.Split.Test
}

// generalised reports whether seen classes are candidates.
func (q Request) generalised() bool { return q.sides(q.Candidates, q.Model.Trial.Stage) != nil }

// sides says of each candidate whether it is unseen; nil if all are.
func (q Request) sides(c predictor.Candidates, stage train.Stage) metrics.Sides {
	seen, unseen := q.classes(stage)
	sides := make(metrics.Sides, len(c.Names))
	for i, name := range c.Names {
		z := slices.Index(q.Data.Classes, name)
		sides[i] = !slices.Contains(seen, z) || slices.Contains(unseen, z)
	}
	if !slices.Contains(sides, false) {
		return nil
	}
	return sides
}

// validating returns the candidates of the dev stage.
func (q Request) validating() predictor.Candidates {
	if q.generalised() {
		return q.Model.SelectedCandidates(q.Data, predictor.Train, predictor.Val)
	}
	return q.Model.SelectedCandidates(q.Data, predictor.Val)
}

// samples returns the samples of unseen classes, and of seen ones among the candidates, for models of a stage
// to predict, and the number of those of unseen classes, which come first. Of the held-out samples of seen
// classes one half chooses gamma, in the dev stage, and the other is evaluated.
func (q Request) samples(c predictor.Candidates, stage train.Stage) (s *scored, ofUnseen int, err error) {
	d := q.Data
	_, unseen := q.classes(stage)
	samples := train.Select(d, unseen)
	if stage == train.Dev && q.Model.Trial.HoldOut {
		samples = samples.Without(d.TestSeen)
	}
	s = &scored{names: c.Names, sides: q.sides(c, stage), ids: d.IDs, kind: BareScores}
	choosing, held := d.HeldOut()
	if stage == train.Dev {
		held = choosing
	}
	column := make(map[string]int, len(c.Names))
	for i, name := range c.Names {
		column[name] = i
	}
	for i, row := range slices.Concat(samples.Rows, held) {
		class := d.Classes[d.Labels[row]]
		z, ok := column[class]
		if i >= len(samples.Rows) && (!ok || s.sides == nil || s.sides[z]) {
			continue // no sample of a seen candidate
		}
		if !ok {
			return s, 0, &invalid.Error{
				Field: "candidates", Want: "the classes of the samples among them",
				Got:  fmt.Sprintf("%s without %q", c.What, class),
				Hint: "unseen and all have them; classes of a file are added by --candidates unseen,FILE.",
			}
		}
		s.rows, s.labels = append(s.rows, row), append(s.labels, z)
	}
	return s, len(samples.Rows), nil
}

// score scores samples for the candidates with a model, as predict does; nil without a model.
func (q Request) score(ctx context.Context, m *predictor.Model, c predictor.Candidates) (*scored, error) {
	if m == nil {
		return nil, nil
	}
	s, ofUnseen, err := q.samples(c, m.Trial.Stage)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if m.Method.Name == methods.LAGO {
		s.kind = Logits // log p(z|x)
	}
	scores := func(m *predictor.Model, c predictor.Candidates, rows []int) (s dataset.Matrix[float32]) {
		var p *predictor.Predictor
		if p, err = m.Predictor(c, predictor.Options{Temperature: 1}); err == nil {
			s, err = p.Scores(q.Data.Features, rows)
		}
		return s
	}
	if s.scores = scores(m, c, s.rows); err == nil && s.sides != nil {
		raw := *m.Pipeline
		raw.Decision = model.Decision{Kind: raw.Decision.Kind}
		s.raw = scores(m.With(&raw), c, s.rows)
		if err == nil { // scores may depend on the other candidates
			s.alone = scores(m, c.Select(func(z int) bool { return s.sides[z] }), s.rows[:ofUnseen])
		}
	}
	if err != nil {
		return nil, invalid.At(m.Path, err)
	}
	return s, s.check(m.Path, q.Data.Name)
}

// findDev finds the run to validate with unless there is one, or says why there is none.
func (q *Request) findDev() (missing string) {
	if q.split() == predictor.Val {
		return "the validation classes themselves are evaluated"
	}
	if q.Dev != nil {
		return ""
	}
	dev, err := devRun(q.Model)
	if err == nil {
		err = invalid.At("the run of the dev stage beside "+q.Model.Dir()+" cannot validate",
			q.checkModel(dev))
	}
	if err != nil {
		return err.Error()
	}
	q.Dev = dev
	return ""
}

// devRun returns the model of the run of the dev stage beside a model that has the same settings except
// epochs and patience. Of several it is the one with the most epochs.
func devRun(model *predictor.Model) (*predictor.Model, error) {
	runs, err := lab.ReadRuns(filepath.Dir(model.Dir()))
	if err != nil {
		return nil, err
	}
	name := model.Trial.Name()
	runs = slices.DeleteFunc(runs, func(r lab.Run) bool {
		same := r.Trial
		same.Stage, same.Epochs, same.Patience = model.Trial.Stage, model.Trial.Epochs, model.Trial.Patience
		return r.Stage != train.Dev || r.Missing != nil || same.Name() != name
	})
	if len(runs) == 0 {
		return nil, fmt.Errorf("no finished run of the dev stage with the settings of %s was found beside "+
			"it (run --stage full trains both unless there are fewer than %d validation classes, run "+
			"--stage dev one)", model.Dir(), check.FewVal)
	}
	longest := slices.MaxFunc(runs, func(a, b lab.Run) int {
		return cmp.Or(cmp.Compare(a.Epochs, b.Epochs), cmp.Compare(a.Patience, b.Patience))
	})
	return ReadModel(filepath.Join(longest.Dir, train.ModelFile))
}
