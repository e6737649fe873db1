package evaluation

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// heldOutLab has a third of the samples of seen classes held out.
func heldOutLab(t testing.TB) *lab.Lab {
	t.Helper()
	d := tiny.Small()
	d.TestSeen = nil
	for i, row := range d.SamplesOf(d.Split.Seen()) {
		if i%3 == 0 {
			d.TestSeen = append(d.TestSeen, row)
		}
	}
	return lab.New(d, t.TempDir())
}

// trainOne trains a method in one stage, with samples held out unless change says otherwise.
func trainOne(t testing.TB, l *lab.Lab, method string, stage train.Stage, seed uint64, change func(*train.Trial)) *predictor.Model {
	t.Helper()
	trial := train.Trial{
		Dataset: l.Data.Name, Fingerprint: l.Fingerprint(), Stage: stage, Preprocess: "none", Ridge: 1, HoldOut: true,
		Epochs: 4, Patience: 4, Seed: seed, Method: testkit.Must(methods.Labelled(method))(t),
	}
	if method != "eszsl" {
		testkit.NoError(t, trial.Method.Set("lr", "0.01"))
		testkit.NoError(t, trial.Method.Set("batch", "16"))
	}
	if change != nil {
		change(&trial)
	}
	runs := testkit.Must(l.Do(context.Background(), []train.Trial{trial}))(t)
	return read(t, filepath.Join(runs[0].Dir, train.ModelFile))
}

// In the generalised setting, a model is evaluated as it is decided, and without a correction, to which
// calibrated stacking is applied: its rows are the same whatever is decided.
func TestStackingOfRawScores(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l)
	of := func(omega float64) *Evaluation {
		for _, m := range []*predictor.Model{dev[0], test[0]} {
			m.Decision.Mixed = &model.Scoring{Omega: omega}
		}
		return evaluated(t, Request{Data: l.Data, Candidates: all(l.Data), Model: test[0], Dev: dev[0]})
	}
	raw, corrected := of(0), of(1)
	testkit.Equal(t, "raw", raw.Raw.Generalised, metrics.Generalised{Seen: *raw.Seen, Unseen: *raw.Unseen, Mean: *raw.HarmonicMean})
	testkit.Equal(t, "raw beside a correction", corrected.Raw.Generalised, raw.Raw.Generalised)
	testkit.Equal(t, "stacked beside a correction", corrected.Calibrated.Generalised, raw.Calibrated.Generalised)
	if corrected.Calibrated.Gamma != raw.Calibrated.Gamma || *corrected.HarmonicMean == *raw.HarmonicMean {
		t.Errorf("gamma %g and %g, harmonic mean %g", corrected.Calibrated.Gamma, raw.Calibrated.Gamma, *corrected.HarmonicMean)
	}
	testkit.WantText(t, testlab.Text(corrected.Tables()), "│ as scored ", "│ raw", "│ stacked: raw, gamma ", "as scored: corrected, omega 1, as predict")
}

// all are the candidates of the generalised setting.
func all(d *dataset.Dataset) predictor.Candidates {
	return new(predictor.Model).SelectedCandidates(d, predictor.All)
}

// Scores are those of predict, among seen and unseen classes with the omega that is stored.
func TestEvaluateAsPredicted(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l)
	for _, m := range []*predictor.Model{dev[0], test[0]} {
		m.Decision.Mixed = &model.Scoring{Omega: 1}
	}
	for _, s := range []predictor.Selection{predictor.Unseen, predictor.All} {
		c := test[0].SelectedCandidates(l.Data, s)
		e := evaluated(t, Request{Data: l.Data, Candidates: c, Model: test[0], Dev: dev[0]})
		p := testkit.Must(test[0].Predictor(c, predictor.Options{}))(t)
		r := testkit.Must(p.Predict(t.Context(), &predictor.Samples{Data: l.Data, Rows: e.scored.rows}, predictor.Listing{Top: 1}))(t)
		testkit.Near(t, string(s)+": accuracy", e.PerSample, float64(r.Count().Correct)/float64(len(r.Samples)), 1e-9)
		if s == predictor.All && (e.corrected.Omega != 1 || e.Calibrated == nil) {
			t.Errorf("scored with %+v", e.corrected)
		}
	}
}

// trained trains both stages of two seeds of a variant.
func trained(t testing.TB, l *lab.Lab) (dev, test []*predictor.Model) {
	t.Helper()
	for seed := range uint64(2) {
		dev = append(dev, trainOne(t, l, "semantic-hard", train.Dev, 5+seed, nil))
		test = append(test, trainOne(t, l, "semantic-hard", train.Test, 5+seed, nil))
	}
	return dev, test
}

func read(t testing.TB, path string) *predictor.Model {
	t.Helper()
	return testkit.Must(ReadModel(path))(t)
}

// accuracyOf is that which the run of a model recorded.
func accuracyOf(t testing.TB, m *predictor.Model) *train.Evaluation {
	t.Helper()
	run, err := lab.ReadRun(m.Dir())
	testkit.NoError(t, err)
	return run.Evaluation
}

func evaluated(t testing.TB, q Request) *Evaluation {
	t.Helper()
	return testkit.Must(Evaluate(t.Context(), q))(t)
}

// validatedBy reports an evaluation that another run, or none, validated.
func validatedBy(t testing.TB, e *Evaluation, want *predictor.Model) {
	t.Helper()
	if want == nil {
		testkit.Equal(t, "validation", e.Validation, nil)
	} else {
		testkit.Equal(t, "validated by", e.Validation.Of, want.Dir())
	}
}

// The evaluation of val and test equals that of the run.
func TestEvaluate(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l)
	for split, c := range map[string]struct{ model, of *predictor.Model }{"val": {dev[0], nil}, "test": {test[1], dev[1]}} {
		e := evaluated(t, Request{Data: l.Data, Model: c.model})
		own := accuracyOf(t, c.model)
		testkit.Equal(t, split+": accuracies", []float64{e.PerClass, e.PerSample, e.ZSL}, []float64{own.PerClass, own.PerSample, own.PerClass})
		testkit.Equal(t, "split and kind", []any{e.Source.Split, e.Kind, e.ECE != nil}, []any{split, Logits, true})
		validatedBy(t, e, c.of)
		if c.of == nil {
			testkit.WantText(t, strings.Join(e.Notes, "\n"), "themselves are evaluated")
		}
	}
}

// The model is adapted with the settings that are stored in it.
func TestEvaluateAdapted(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l)
	for _, m := range []*predictor.Model{dev[0], test[0]} {
		m.Decision.Adaptation = &model.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 20}}
	}
	e := evaluated(t, Request{Data: l.Data, Model: test[0], Adapt: true})
	testkit.Equal(t, "tau, and accuracy before", []float64{e.Adapted.Tau, e.PerClass}, []float64{20, accuracyOf(t, test[0]).PerClass})
	testkit.Near(t, "difference", e.Adapted.Difference.Mean, e.Adapted.PerClass-e.PerClass, 1e-12)
	onVal := evaluated(t, Request{Data: l.Data, Model: dev[0], Adapt: true})
	testkit.WantText(t, strings.Join(onVal.Notes, "\n"), "optimistic")
}

// stackingOf scores held samples of seen classes and the samples of unseen ones that are not held out for
// the classes of both.
func stackingOf(t *testing.T, d *dataset.Dataset, m *predictor.Model, held, seen, unseen []int) *metrics.Stacking {
	t.Helper()
	classes := slices.Sorted(slices.Values(slices.Concat(seen, unseen)))
	var rows, labels []int
	for row, z := range d.Labels {
		column, of := slices.Index(classes, z), held
		if slices.Contains(unseen, z) {
			of = d.TestSeen
		}
		if column >= 0 && slices.Contains(seen, z) == slices.Contains(of, row) {
			rows, labels = append(rows, row), append(labels, column)
		}
	}
	var sides metrics.Sides
	for _, z := range classes {
		sides = append(sides, slices.Contains(unseen, z))
	}
	return metrics.NewStacking(testkit.Must(model.Score(m.Saved, d.Features, rows, d.Describe(classes)))(t), labels, sides)
}

// Gamma is the best for the val classes and half of the samples held out of the train classes, scored by
// the model of the dev stage; the other half is evaluated. Without its run of the dev stage a model is evaluated without gamma
// and temperature, unless the run is given.
func TestEvaluateGeneralised(t *testing.T) {
	l := heldOutLab(t)
	d := l.Data
	dev, test := trained(t, l)
	m := Request{Data: d, Candidates: all(d), Model: test[0]}
	e := evaluated(t, m)
	choosing, held := d.HeldOut()
	stacking := stackingOf(t, d, test[0], held, d.Split.Seen(), d.Split.Test)
	validation := stackingOf(t, d, dev[0], choosing, d.Split.Train, d.Split.Val)
	gamma := validation.Best()
	plain := metrics.Generalised{Seen: *e.Seen, Unseen: *e.Unseen, Mean: *e.HarmonicMean}
	testkit.Equal(t, "gamma and validated mean", []float64{e.Calibrated.Gamma, *e.Validation.HarmonicMean}, []float64{gamma, validation.At(gamma).Mean})
	testkit.Equal(t, "plain and stacked", []metrics.Generalised{plain, e.Calibrated.Generalised}, []metrics.Generalised{stacking.At(0), stacking.At(gamma)})
	testkit.Near(t, "zsl", e.ZSL, accuracyOf(t, test[0]).PerClass, 1e-9)
	testkit.Equal(t, "samples and classes", []int{e.Samples, e.Classes}, []int{len(held) + len(d.SamplesOf(d.Split.Test)), 16})
	validatedBy(t, e, dev[0])

	alone := filepath.Join(t.TempDir(), "moved")
	testkit.NoError(t, os.CopyFS(alone, os.DirFS(test[0].Dir())))
	m.Model = read(t, filepath.Join(alone, train.ModelFile))
	moved := evaluated(t, m)
	validatedBy(t, moved, nil)
	testkit.WantText(t, moved.Notes[0], "neither gamma nor a temperature", alone)
	m.Dev = dev[0]
	testkit.Equal(t, "by the given run", evaluated(t, m).Calibrated, e.Calibrated, cmpopts.IgnoreUnexported(Stacking{}))
}

// Samples of unseen classes do not change what validation chooses.
func TestUnseenSamplesChooseNothing(t *testing.T) {
	l := heldOutLab(t)
	_, test := trained(t, l)
	d := *l.Data
	d.Features.Data = slices.Clone(d.Features.Data)
	for _, row := range d.SamplesOf(d.Split.Test) {
		clear(d.Features.Row(row))
	}
	want := evaluated(t, Request{Data: l.Data, Model: test[0]})
	got := evaluated(t, Request{Data: &d, Model: test[0]})
	testkit.Equal(t, "temperature", got.Temperature.Temperature, want.Temperature.Temperature)
	testkit.Equal(t, "equal accuracies", got.PerClass == want.PerClass, false)
}

// The run to validate with has the settings of the model and the most epochs.
func TestDevRun(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l)
	trainOne(t, l, "semantic-hard", train.Dev, 5, func(trial *train.Trial) { testkit.NoError(t, trial.Method.Set("beta", "0.5")) })
	late := trainOne(t, l, "semantic-hard", train.Test, 5, func(trial *train.Trial) { trial.Epochs = 9 })
	want := func(of, run *predictor.Model) {
		t.Helper()
		if found := testkit.Must(devRun(of))(t); found.Dir() != run.Dir() {
			t.Errorf("found %s, expected %s", found.Dir(), run.Dir())
		}
	}
	want(test[0], dev[0])
	want(late, dev[0])
	longer := trainOne(t, l, "semantic-hard", train.Dev, 5, func(trial *train.Trial) { trial.Epochs = 6 })
	want(test[0], longer)
	testkit.NoError(t, os.Remove(filepath.Join(longer.Dir(), train.ResultFile)))
	want(test[0], dev[0]) // which is finished
}

// Scores of a baseline are probabilities only with a temperature.
func TestEvaluateBaseline(t *testing.T) {
	l := heldOutLab(t)
	eszsl := trainOne(t, l, "eszsl", train.Test, 1, nil)
	trainOne(t, l, "eszsl", train.Dev, 1, nil)
	bare := evaluated(t, Request{Data: l.Data, Candidates: all(l.Data), Model: eszsl})
	testkit.Equal(t, "kind and method", []any{bare.Kind, bare.Source.Method}, []any{BareScores, "eszsl"})
	testkit.Equal(t, "ECE, temperature, gamma", []bool{bare.ECE != nil, bare.Temperature != nil, bare.Calibrated != nil}, []bool{false, true, true})
	testkit.Near(t, "zsl", bare.ZSL, accuracyOf(t, eszsl).PerClass, 1e-9)
}

func TestEvaluateRefuses(t *testing.T) {
	l := heldOutLab(t)
	d := l.Data
	dev, test := trained(t, l)
	damaged := read(t, test[0].Path) // it must not be evaluated as if it predicted the first class
	damaged.Saved.Classifier.(method.Model).Tensors()[0].Matrix.Data[0] = float32(math.NaN())
	keep := func(trial *train.Trial) { trial.HoldOut = false }
	leaky := trainOne(t, l, "semantic-hard", train.Test, 5, keep)
	other := func(change func(*dataset.Dataset)) *dataset.Dataset {
		o := *d
		o.Name = "other"
		change(&o)
		return &o
	}
	for _, c := range []struct {
		name  string
		q     Request
		parts []string
	}{
		{"scores that are not finite", Request{Model: damaged}, []string{damaged.Path, "NaN"}},
		{"all classes to adapt to", Request{Model: test[0], Candidates: all(d), Adapt: true}, []string{"adapt: expected no seen class as a candidate, found all classes"}},
		{"candidates without the classes of the samples", Request{Model: test[0], Candidates: test[0].SelectedCandidates(d, predictor.Seen)}, []string{
			`candidates: expected the classes of the samples among them, found seen classes without "`, "unseen and all have them",
		}},
		{"nothing held out", Request{Candidates: all(d), Model: leaky}, []string{leaky.Path, "--hold-out."}},
		{
			"other samples held out",
			Request{Data: other(func(d *dataset.Dataset) { d.TestSeen = d.TestSeen[1:] }), Candidates: all(d), Model: test[0]},
			[]string{test[0].Path, "fingerprint", "other"},
		},
		{"a class that it was trained on", Request{Data: other(func(d *dataset.Dataset) {
			d.Split.Test = append(slices.Clone(d.Split.Train[:1]), d.Split.Test...)
		}), Model: test[0]}, []string{test[0].Path, "not trained on the class", d.Classes[d.Split.Train[0]], "other"}},
		{"one held-out sample", Request{Data: other(func(d *dataset.Dataset) { d.TestSeen = d.TestSeen[:1] }), Candidates: all(d), Model: dev[0]}, []string{
			"other: held-out samples: expected two of a seen class",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.q.Data == nil {
				c.q.Data = d
			}
			_, err := Evaluate(t.Context(), c.q)
			testkit.WantError(t, err, c.parts...)
		})
	}
}

// A model of another split may be evaluated on classes that it was not trained on, and is
// validated only if its run of the dev stage was not either.
func TestEvaluateOnAnotherSplit(t *testing.T) {
	l := heldOutLab(t)
	_, test := trained(t, l)
	d := *l.Data
	d.Split.Train, d.Split.Val = append(slices.Clone(d.Split.Val), d.Split.Train[4:]...), d.Split.Train[:4]
	slices.Sort(d.Split.Train)
	e := evaluated(t, Request{Data: &d, Model: test[0]})
	testkit.Near(t, "per class", e.PerClass, accuracyOf(t, test[0]).PerClass, 1e-9)
	validatedBy(t, e, nil)
	testkit.WantText(t, strings.Join(e.Notes, "\n"), "are not those that", "cannot validate")
}

func TestReadModel(t *testing.T) {
	dev := trainOne(t, heldOutLab(t), "semantic-hard", train.Dev, 5, nil)
	_, err := ReadModel(dev.Dir()) // its folder is that of runs
	testkit.WantError(t, err, "folder of a run", train.TrialFile)
	for _, c := range [][2]string{{train.ModelFile, train.ModelFile}, {train.ResultFile, "unfinished"}} {
		testkit.NoError(t, os.Remove(filepath.Join(dev.Dir(), c[0])))
		_, err := ReadModel(dev.Path)
		testkit.WantError(t, err, dev.Dir(), c[1])
	}
}
