package evaluation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
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
	Adapt      bool // also evaluate the model adapted to the samples
}

// ReadModel reads a model by its file in the folder of its run, which is finished.
func ReadModel(path string) (*predictor.Model, error) {
	run, err := lab.ReadRun(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &invalid.Error{
			Where: run.Dir, Want: "the folder of a run, with a " + train.TrialFile, Err: err,
		}
	}
	if err := run.CheckFinished(); err != nil {
		return nil, err
	}
	return predictor.Open(path)
}

// Evaluate evaluates a model with its decision.
func Evaluate(ctx context.Context, q Request) (*Evaluation, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	scores, err := q.score(ctx)
	if err != nil {
		return nil, err
	}
	r := evaluate(scores)
	r.Source = Source{
		string(q.split()), q.Candidates.What, q.Data.Name,
		q.Model.Path, q.Model.Method.Label(), q.Model.Trial.Seed,
	}
	if q.Adapt {
		if r.Adapted, err = q.adapted(scores); err != nil {
			return nil, err
		}
	}
	q.addNotes(r)
	return r, nil
}

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

func (q Request) addNotes(r *Evaluation) {
	if q.split() == predictor.Val && q.Model.Decision.Adaptation != nil {
		r.note("omega, the temperature and the adaptation were chosen on these samples: what was measured " +
			"with them is optimistic")
	}
	if changed, _ := q.Model.Changed(q.Data); changed != "" {
		r.note("%s", strings.TrimSuffix(changed, "."))
	}
	if q.split() == predictor.Test && (r.Temperature == nil || r.Seen != nil && r.Calibrated == nil) {
		r.note("run --method %s --stage full with the same settings chooses a temperature and calibrated "+
			"stacking for this model, and reuses finished runs",
			q.Model.Method.Label())
	}
}

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
		return invalid.Expected("candidates", q.Candidates.What+" with 1 class",
			"at least two classes, among which a prediction can be wrong")
	case q.generalised() && q.Data.TestSeen == nil:
		return train.CheckHeldOut(q.Data, "candidates")
	case q.Adapt && q.generalised():
		return &invalid.Error{Field: "adapt", Want: "no seen class as a candidate", Got: q.Candidates.What}
	}
	return q.checkModel()
}

// checkModel returns an error if the model does not fit the data set, or was trained on what it is to be
// evaluated on.
func (q Request) checkModel() error {
	model := q.Model
	if err := model.Fits(q.Data); err != nil {
		return invalid.At(model.Path, err)
	}
	_, unseen := q.classes()
	trainedOn := slices.IndexFunc(unseen, func(z int) bool { return model.TrainedOn(q.Data.Classes[z]) })
	gzsl, trial := q.generalised(), model.Trial
	if choosing, _ := q.Data.HeldOut(); gzsl && trial.Stage == train.Dev && len(choosing) == 0 {
		return invalid.At(q.Data.Name, invalid.Expected("held-out samples", "one of each",
			"two of a seen class, of two sources, of which one chooses and the other is evaluated"))
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
func (q Request) classes() (seen, unseen []int) {
	if q.split() == predictor.Val {
		return q.Data.Split.Train, q.Data.Split.Val
	}
	return q.Data.Split.Seen(), q.Data.Split.Test
}

func (q Request) generalised() bool { return q.sides() != nil }

// sides says of each candidate whether it is unseen; nil if all are.
func (q Request) sides() metrics.Sides {
	seen, unseen := q.classes()
	sides := make(metrics.Sides, len(q.Candidates.Names))
	for i, name := range q.Candidates.Names {
		z := slices.Index(q.Data.Classes, name)
		sides[i] = !slices.Contains(seen, z) || slices.Contains(unseen, z)
	}
	if !slices.Contains(sides, false) {
		return nil
	}
	return sides
}

// samples returns the samples of unseen classes, and of seen ones among the candidates, to predict, and the
// number of those of unseen classes, which come first. Of the held-out samples of seen classes one half has
// chosen omega and gamma, in the dev stage, and the other is evaluated.
func (q Request) samples() (s *scored, ofUnseen int, err error) {
	d, c := q.Data, q.Candidates
	_, unseen := q.classes()
	samples, dev := train.Select(d, unseen), q.split() == predictor.Val
	if dev && q.Model.Trial.HoldOut {
		samples = samples.Without(d.TestSeen)
	}
	s = &scored{names: c.Names, sides: q.sides(), ids: d.IDs, kind: bareScores}
	choosing, held := d.HeldOut()
	if dev {
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

// The kinds of scores: logits have p(z|x) as their softmax, such as log p(z|x), the scores of LAGO; bare
// scores only rank the classes, and the softmax of s/T is p(z|x) with a temperature T that validation chose.
const logits, bareScores = "logits", "scores"

type scored struct {
	names  []string      // of the classes
	sides  metrics.Sides // tells seen from unseen classes; nil if all are unseen
	labels []int         // of the samples, columns of the scores
	rows   []int         // of the samples in their data set
	ids    []string      // of the samples of that data set, nil if it has none
	kind   string
	// T of the probabilities that predict prints, 0 if the scores are none
	temperature float64
	omega       float64                 // of the scores
	scores      dataset.Matrix[float32] // samples x classes
	// Unless all classes are unseen: scores without correction, and those that stacking is applied to, if it
	// was chosen.
	raw, corrected dataset.Matrix[float32]
	stacking       *model.Stacking
	// alone are the scores of the samples of unseen classes for these alone. If it is empty,
	// the columns of the seen classes are left out.
	alone dataset.Matrix[float32]
}

// score scores samples for the candidates, as predict does and, where seen classes are among them, with other
// omegas.
func (q Request) score(ctx context.Context) (*scored, error) {
	m, c := q.Model, q.Candidates
	s, ofUnseen, err := q.samples()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if m.Method.Name == methods.LAGO {
		s.kind = logits // log p(z|x)
	}
	p, err := m.Predictor(c, predictor.Options{})
	if err != nil {
		return nil, invalid.At(m.Path, err)
	}
	s.temperature, s.omega = p.Temperature, p.Decision.Correction().Omega
	scores := func(decision model.Decision, c predictor.Candidates, rows []int) (s dataset.Matrix[float32]) {
		if err != nil {
			return s
		}
		pipeline := *m.Pipeline
		pipeline.Decision = decision
		p, err = m.With(&pipeline).Predictor(c, predictor.Options{Temperature: 1})
		if err == nil {
			s, err = p.Scores(q.Data.Features, rows)
		}
		return s
	}
	if s.scores = scores(m.Decision, c, s.rows); s.sides != nil {
		with := func(omega float64) model.Decision {
			return model.Decision{Kind: m.Decision.Kind, Scoring: model.Scoring{Omega: omega}}
		}
		s.raw = scores(with(0), c, s.rows)
		if q.split() == predictor.Test && m.Decision.Stacking != nil {
			s.stacking = m.Decision.Stacking
			s.corrected = scores(with(s.stacking.Omega), c, s.rows)
		}
		// scores may depend on the other candidates
		s.alone = scores(m.Decision, c.Select(func(z int) bool { return s.sides[z] }), s.rows[:ofUnseen])
	}
	if err != nil {
		return nil, invalid.At(m.Path, err)
	}
	if err := metrics.CheckScores(s.scores); err != nil {
		return nil, invalid.At(m.Path, err)
	}
	if s.sides != nil {
		return s, invalid.At(q.Data.Name, s.sides.Check(s.labels))
	}
	return s, nil
}
