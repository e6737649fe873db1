package evaluation

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/setting"
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
		Dataset: l.Data.Name, Fingerprint: l.Fingerprint, Stage: stage, Preprocess: "none", Ridge: 1, HoldOut: true,
		Epochs: 4, Patience: 4, Seed: seed, Method: testkit.Must(methods.Labelled(method))(t),
	}
	if method != "eszsl" {
		testkit.NoError(t, trial.Method.Settings().Set(setting.Assignment{Key: "lr", Text: "0.01"}))
		testkit.NoError(t, trial.Method.Settings().Set(setting.Assignment{Key: "batch", Text: "16"}))
	}
	if change != nil {
		change(&trial)
	}
	runs := testkit.Must(l.Do(context.Background(), []train.Trial{trial}))(t)
	return read(t, filepath.Join(runs[0].Dir, train.ModelFile))
}

// In the generalised setting, a model is evaluated as it is decided, without a correction, and stacked as it is decided,
// whatever the correction of its predictions is.
func TestStackingOfCorrectedScores(t *testing.T) {
	l := heldOutLab(t)
	m := trainOne(t, l, "semantic-hard", train.Test, 5, nil)
	m.Decision.Stacking = &model.Stacking{Omega: 1, Gamma: 0.5}
	of := func(omega float64) *Evaluation {
		m.Decision.Mixed = &model.Scoring{Omega: omega}
		return evaluated(t, Request{Data: l.Data, Candidates: all(l.Data), Model: m})
	}
	raw, corrected := of(0), of(1)
	testkit.Equal(t, "raw", raw.Raw.Generalised, raw.AsScored.Generalised)
	testkit.Equal(t, "raw beside a correction", corrected.Raw.Generalised, raw.Raw.Generalised)
	testkit.Equal(t, "stacked beside a correction", corrected.Calibrated.Generalised, raw.Calibrated.Generalised)
	testkit.Equal(t, "stacked", raw.Calibrated.Generalised, corrected.AsScored.scores.At(0.5))
	testkit.Equal(t, "area of the same scores", raw.Calibrated.AUSUC, *corrected.AUSUC)
	testkit.Equal(t, "corrected as without", *corrected.HarmonicMean == *raw.HarmonicMean, false)
	testkit.WantText(t, testlab.Text(corrected.Tables()), "│ as scored ", "│ raw", "│ stacked: omega 1, gamma 0.5 ", "as scored: corrected, omega 1, as predict")
	m.Decision.Stacking = nil
	testkit.WantText(t, of(1).Notes[0], "run --method semantic-hard --stage full with the same settings chooses ")
}

// all are the candidates of the generalised setting.
func all(d *dataset.Dataset) predictor.Candidates {
	return new(predictor.Model).SelectedCandidates(d, predictor.All)
}

// Scores and probabilities are those of predict, among seen and unseen classes with the omega and the temperature that
// are stored.
func TestEvaluateAsPredicted(t *testing.T) {
	l := heldOutLab(t)
	for _, method := range []string{"semantic-hard", "eszsl"} {
		m := trainOne(t, l, method, train.Test, 5, nil)
		m.Decision.Calibration = &model.Calibration{Temperature: 2}
		m.Decision.Mixed = &model.Scoring{Omega: 1, Calibration: &model.Calibration{Temperature: 0.3}}
		for _, s := range []predictor.Selection{predictor.Unseen, predictor.All} {
			c := m.SelectedCandidates(l.Data, s)
			e := evaluated(t, Request{Data: l.Data, Candidates: c, Model: m})
			p := testkit.Must(m.Predictor(c, predictor.Options{}))(t)
			samples := &predictor.Samples{Data: l.Data, Rows: e.scored.rows}
			r := testkit.Must(p.Predict(t.Context(), samples, predictor.Listing{Top: len(c.Names)}))(t)
			testkit.Near(t, string(s)+": accuracy", e.PerSample, float64(r.Count().Correct)/float64(len(r.Samples)), 1e-9)
			var nll float64
			var confidence []float64
			var right []bool
			for _, sample := range r.Samples {
				for _, v := range sample.Best {
					if c.Names[v.Class] == sample.Class {
						nll -= math.Log(v.Value) / float64(len(r.Samples))
					}
				}
				confidence, right = append(confidence, sample.Best[0].Value), append(right, c.Names[sample.Best[0].Class] == sample.Class)
			}
			printed := []float64{r.Temperature, nll, metrics.NewReliability(confidence, right, predictor.Bins).ECE()}
			testkit.NearAll(t, method+": probabilities among "+string(s), []float64{e.Temperature.Temperature, *e.Temperature.NLL, *e.Temperature.ECE}, printed, 1e-4)
			testkit.Equal(t, "omega", e.scored.omega == 1, s == predictor.All)
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

// The evaluation of val and test equals that of the run.
func TestEvaluate(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l)
	for split, m := range map[string]*predictor.Model{"val": dev[0], "test": test[1]} {
		e := evaluated(t, Request{Data: l.Data, Model: m})
		own := accuracyOf(t, m)
		testkit.Equal(t, split+": accuracies", []float64{e.PerClass, e.PerSample, e.ZSL}, []float64{own.PerClass, own.PerSample, own.PerClass})
		testkit.Equal(t, "split and kind", []any{e.Source.Split, e.Kind, e.ECE != nil}, []any{split, logits, true})
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

// Of the held-out samples of seen classes one half is evaluated, with the samples of test classes, and the other chooses.
func TestEvaluateGeneralised(t *testing.T) {
	l := heldOutLab(t)
	d := l.Data
	m := trainOne(t, l, "semantic-hard", train.Test, 5, nil)
	e := evaluated(t, Request{Data: d, Candidates: all(d), Model: m})
	_, held := d.HeldOut()
	rows := slices.Concat(d.SamplesOf(d.Split.Test), held)
	testkit.Equal(t, "samples and classes", []int{e.Samples, e.Classes}, []int{len(rows), len(d.Classes)})
	scores := testkit.Must(model.Score(m.Saved, d.Features, rows, d.Describe(d.Descriptions.AllRows())))(t)
	var labels []int
	sides := make(metrics.Sides, len(d.Classes))
	for _, row := range rows {
		labels = append(labels, d.Labels[row])
	}
	for _, z := range d.Split.Test {
		sides[z] = true
	}
	testkit.Equal(t, "as scored", e.AsScored.Generalised, metrics.NewStacking(scores, labels, sides).At(0))
	testkit.Near(t, "zsl", e.ZSL, accuracyOf(t, m).PerClass, 1e-9)
}

// Scores of a baseline are probabilities only with a temperature.
func TestEvaluateBaseline(t *testing.T) {
	l := heldOutLab(t)
	eszsl := trainOne(t, l, "eszsl", train.Test, 1, nil)
	bare := evaluated(t, Request{Data: l.Data, Model: eszsl})
	testkit.Equal(t, "kind and method", []any{bare.Kind, bare.Source.Method}, []any{bareScores, "eszsl"})
	testkit.Equal(t, "ECE, temperature", []bool{bare.ECE != nil, bare.Temperature != nil}, []bool{false, false})
	testkit.Near(t, "zsl", bare.ZSL, accuracyOf(t, eszsl).PerClass, 1e-9)
	testkit.WantText(t, bare.Notes[0], "no temperature is stored")
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

// A model of another split may be evaluated on classes that it was not trained on.
func TestEvaluateOnAnotherSplit(t *testing.T) {
	l := heldOutLab(t)
	_, test := trained(t, l)
	d := *l.Data
	d.Split.Train, d.Split.Val = append(slices.Clone(d.Split.Val), d.Split.Train[4:]...), d.Split.Train[:4]
	slices.Sort(d.Split.Train)
	e := evaluated(t, Request{Data: &d, Model: test[0]})
	testkit.Near(t, "per class", e.PerClass, accuracyOf(t, test[0]).PerClass, 1e-9)
	testkit.WantText(t, strings.Join(e.Notes, "\n"), "are not those that")
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
