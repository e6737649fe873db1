package evaluation

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// heldOutLab has a third of the samples of seen classes held out.
func heldOutLab(t testing.TB) *lab.Lab {
	t.Helper()
	d := testlab.Simulated(t).Data
	d.TestSeen = nil
	for i, row := range d.SamplesOf(d.Split.Seen()) {
		if i%3 == 0 {
			d.TestSeen = append(d.TestSeen, row)
		}
	}
	return lab.New(d, t.TempDir())
}

// trained trains both stages of two seeds.
func trained(t testing.TB, l *lab.Lab, change func(*protocol.Config)) (dev, test []*Model) {
	t.Helper()
	c := testlab.Config(l, protocol.DevThenTest)
	c.HoldOut = true
	if change != nil {
		change(&c)
	}
	o, err := protocol.Run(context.Background(), l, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range o.RunDirs {
		r := readModel(t, dir)
		if r.Stage == train.Dev {
			dev = append(dev, r)
		} else {
			test = append(test, r)
		}
	}
	return dev, test
}

// trainedBaseline trains both stages of ESZSL.
func trainedBaseline(t testing.TB, l *lab.Lab) (dev, test *Model) {
	t.Helper()
	trial := train.Trial{
		Dataset: l.Data.Name, Fingerprint: l.Fingerprint(), Stage: train.Dev, HoldOut: true,
		Preprocess: "none", Baseline: methods.Spec{Method: "eszsl", Settings: eszsl.Default()},
		Training: train.Training{Epochs: 5, Patience: 5, Seed: 1},
	}
	both := []train.Trial{trial, trial}
	both[1].Stage, both[1].Training.Epochs, both[1].Training.Patience = train.Test, 1, 1
	done, err := l.Do(context.Background(), both)
	if err != nil {
		t.Fatal(err)
	}
	return readModel(t, done[0].Dir), readModel(t, done[1].Dir)
}

func readModel(t testing.TB, path string) *Model {
	t.Helper()
	r, err := ReadModel(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func evaluated(t testing.TB, m Models) *Result {
	t.Helper()
	e, err := Config{Bins: 5}.EvaluateModels(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The evaluation of val and test equals that of the run.
func TestEvaluateModels(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l, nil)
	for _, c := range []struct {
		split Split
		model *Model
		of    []string // validation
	}{
		{ValSplit, dev[0], nil},
		{TestSplit, test[1], []string{dev[1].Dir}},
	} {
		e := evaluated(t, Models{Data: l.Data, Split: c.split, Models: []*Model{c.model}})
		own := c.model.Result.Evaluation
		if e.PerClass != own.PerClass || e.PerSample != own.PerSample || e.ZSL != own.PerClass || e.Classes != len(own.Classes) {
			t.Errorf("%s: found %+v, the run has %+v", c.split, e, own)
		}
		if diff := cmp.Diff(own.Confusion, [][]int(e.confusion)); diff != "" {
			t.Errorf("%s: confusion (-run +evaluation):\n%s", c.split, diff)
		}
		if e.Seen != nil || e.Calibrated != nil || e.Kind != Logits || e.ECE == nil {
			t.Errorf("%s: found %+v", c.split, e)
		}
		var of []string
		if e.Validation != nil {
			of = e.Validation.Of
		}
		if diff := cmp.Diff(c.of, of); diff != "" {
			t.Errorf("%s: validated by (-want +got):\n%s", c.split, diff)
		}
		if c.of == nil && !strings.Contains(strings.Join(e.Notes, "\n"), "themselves are evaluated") {
			t.Errorf("%s: notes %q", c.split, e.Notes)
		}
	}
}

// It is validated by itself, whatever was trained longer beside it.
func TestEvaluateAModelOfTheDevStage(t *testing.T) {
	l := heldOutLab(t)
	var runs []*Model
	for _, epochs := range []int{2, 3} {
		dev, _ := trained(t, l, func(c *protocol.Config) { c.Stage, c.Epochs = protocol.OnlyDev, epochs })
		runs = append(runs, dev[0])
	}
	e := evaluated(t, Models{Data: l.Data, Split: TestSplit, Models: runs[:1]})
	if diff := cmp.Diff([]string{runs[0].Dir}, e.Validation.Of); diff != "" {
		t.Errorf("validated by (-want +got):\n%s", diff)
	}
}

// The settings are those of the model, or chosen on the dev run beside it.
func TestEvaluateAdapted(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l, nil)
	m := Models{Data: l.Data, Models: test[:1], Adapt: true, Draws: 2}
	first := evaluated(t, m).Adapted
	if first == nil || first.Temperature <= 0 || len(first.Stress) == 0 {
		t.Fatalf("%+v", first)
	}
	test[0].Saved.Adaptation = &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 20}, Smallest: 1000}
	e := evaluated(t, m)
	if e.Adapted.Tau != 20 || e.Adapted.Warning == "" || e.PerClass != test[0].Result.Evaluation.PerClass {
		t.Errorf("%+v", e.Adapted)
	}
	if got, want := e.Adapted.PerClass-e.PerClass, e.Adapted.Difference.Mean; math.Abs(got-want) > 1e-12 {
		t.Errorf("the difference is %g, expected %g", want, got)
	}
	m.Models, m.Split = dev[:1], ValSplit
	if notes := strings.Join(evaluated(t, m).Notes, "\n"); !strings.Contains(notes, "optimistic") {
		t.Error(notes)
	}
	for _, refused := range []Models{
		{Data: l.Data, Models: test, Adapt: true},
		{Data: l.Data, Models: test[:1], Split: GZSLSplit, Adapt: true},
	} {
		if _, err := (Config{Bins: 1}).EvaluateModels(t.Context(), refused); err == nil || !strings.HasPrefix(err.Error(), "--adapt: expected one model") {
			t.Errorf("found %v", err)
		}
	}
}

// generalisedAccuracy predicts held-out samples of seen classes and all samples of unseen
// ones among both, and returns both per-class accuracies.
func generalisedAccuracy(t *testing.T, d *dataset.Dataset, r *Model, seen, unseen []int, gamma float64) (s, u float64) {
	t.Helper()
	classes := slices.Sorted(slices.Values(slices.Concat(seen, unseen)))
	accuracy := func(rows, of []int) float64 {
		scores, err := model.Score(r.Saved.Classifier, d.Features, rows, d.Describe(classes))
		if err != nil {
			t.Fatal(err)
		}
		right, all := map[int]float64{}, map[int]float64{}
		for i, row := range rows {
			best, top := 0, math.Inf(-1)
			for z, v := range scores.Row(i) {
				score := float64(v)
				if slices.Contains(seen, classes[z]) {
					score -= gamma
				}
				if score > top {
					best, top = classes[z], score
				}
			}
			all[d.Labels[row]]++
			if best == d.Labels[row] {
				right[best]++
			}
		}
		var sum float64
		for _, z := range of {
			sum += right[z] / max(all[z], 1) / float64(len(all))
		}
		return sum
	}
	var held []int
	for _, row := range d.TestSeen {
		if slices.Contains(seen, d.Labels[row]) {
			held = append(held, row)
		}
	}
	rows := slices.DeleteFunc(d.SamplesOf(unseen), func(row int) bool { return slices.Contains(d.TestSeen, row) })
	return accuracy(held, seen), accuracy(rows, unseen)
}

func TestEvaluateGZSL(t *testing.T) {
	l := heldOutLab(t)
	d := l.Data
	dev, test := trained(t, l, nil)
	e := evaluated(t, Models{Data: d, Split: GZSLSplit, Models: test[:1]})
	seen, unseen := generalisedAccuracy(t, d, test[0], d.Split.Seen(), d.Split.Test, 0)
	nearly(t, "seen", *e.Seen, seen)
	nearly(t, "unseen", *e.Unseen, unseen)
	nearly(t, "harmonic mean", *e.HarmonicMean, metrics.HarmonicMean(seen, unseen))
	nearly(t, "zsl", e.ZSL, test[0].Result.Evaluation.PerClass)
	var names []string
	for _, z := range slices.Sorted(slices.Values(slices.Concat(d.Split.Seen(), d.Split.Test))) {
		names = append(names, d.Classes[z])
	}
	if diff := cmp.Diff(names, e.names); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	if want := len(d.TestSeen) + len(d.SamplesOf(d.Split.Test)); e.Samples != want || e.Classes != 16 {
		t.Errorf("%d samples of %d classes, expected %d of 16", e.Samples, e.Classes, want)
	}
	if diff := cmp.Diff([]string{dev[0].Dir}, e.Validation.Of); diff != "" {
		t.Errorf("validated by (-want +got):\n%s", diff)
	}
	gamma := e.Calibrated.Gamma
	seen, unseen = generalisedAccuracy(t, d, test[0], d.Split.Seen(), d.Split.Test, gamma)
	nearly(t, "calibrated seen", e.Calibrated.Seen, seen)
	nearly(t, "calibrated unseen", e.Calibrated.Unseen, unseen)
	// No gamma does better in validation: the val classes and the samples held out of the
	// train classes, scored by the model of the dev stage.
	seen, unseen = generalisedAccuracy(t, d, dev[0], d.Split.Train, d.Split.Val, gamma)
	nearly(t, "harmonic mean of validation", *e.Validation.HarmonicMean, metrics.HarmonicMean(seen, unseen))
	for other := -6.0; other < 6; other += 0.37 {
		seen, unseen := generalisedAccuracy(t, d, dev[0], d.Split.Train, d.Split.Val, other)
		if h := metrics.HarmonicMean(seen, unseen); h > *e.Validation.HarmonicMean+1e-9 {
			t.Errorf("gamma %g reaches %g in validation, %g only %g", other, h, gamma, *e.Validation.HarmonicMean)
		}
	}
}

func nearly(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: expected %g, found %g", what, want, got)
	}
}

// Without its run of the dev stage a model is evaluated without gamma and temperature,
// unless the run is given.
func TestEvaluateWithoutValidation(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l, nil)
	alone := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(alone, os.DirFS(test[0].Dir)); err != nil {
		t.Fatal(err)
	}
	moved := readModel(t, filepath.Join(alone, train.ModelFile))
	m := Models{Data: l.Data, Split: GZSLSplit, Models: []*Model{moved}}
	e := evaluated(t, m)
	if e.Validation != nil || e.Calibrated != nil || e.Temperature != nil || len(e.Notes) != 1 ||
		!strings.Contains(e.Notes[0], "neither gamma nor a temperature") || !strings.Contains(e.Notes[0], alone) {
		t.Errorf("found %+v", e)
	}
	m.Dev = dev[:1]
	want := evaluated(t, Models{Data: l.Data, Split: GZSLSplit, Models: test[:1]})
	if diff := cmp.Diff(want.Calibrated, evaluated(t, m).Calibrated); diff != "" {
		t.Errorf("by the given run (-want +got):\n%s", diff)
	}
}

// The run to validate with has the settings of the model and the most epochs.
func TestDevRun(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l, nil)
	trained(t, l, func(c *protocol.Config) { c.Beta = 0.5 })
	if dir, err := test[1].devRun(); err != nil || dir != dev[1].Dir {
		t.Errorf("found %s, %v, expected %s", dir, err, dev[1].Dir)
	}
	_, late := trained(t, l, func(c *protocol.Config) { c.Epochs, c.Stage = 9, protocol.OnlyTest })
	if dir, err := late[1].devRun(); err != nil || dir != dev[1].Dir {
		t.Errorf("found %s, %v, expected %s", dir, err, dev[1].Dir)
	}
	longer, _ := trained(t, l, func(c *protocol.Config) { c.Epochs, c.Stage = 6, protocol.OnlyDev })
	if dir, err := test[1].devRun(); err != nil || dir != longer[1].Dir {
		t.Errorf("found %s, %v, expected %s", dir, err, longer[1].Dir)
	}
	if err := os.Remove(filepath.Join(longer[1].Dir, train.ResultFile)); err != nil {
		t.Fatal(err)
	}
	if dir, err := test[1].devRun(); err != nil || dir != dev[1].Dir {
		t.Errorf("found %s, %v, expected %s, which is finished", dir, err, dev[1].Dir)
	}
}

// An ensemble predicts by the mean of the probabilities, in validation too.
func TestEvaluateEnsemble(t *testing.T) {
	l := heldOutLab(t)
	d := l.Data
	dev, test := trained(t, l, nil)
	e := evaluated(t, Models{Data: d, Split: TestSplit, Models: test})
	rows := d.SamplesOf(d.Split.Test)
	average := dataset.NewMatrix[float64](len(rows), len(d.Split.Test))
	for _, r := range test {
		scores, err := model.Score(r.Saved.Classifier, d.Features, rows, d.Describe(d.Split.Test))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range scores.Data {
			average.Data[i] += math.Exp(float64(v)) / 2
		}
	}
	for i, v := range e.Scores().Data {
		if got := math.Exp(float64(v)); math.Abs(got-average.Data[i]) > 1e-5 {
			t.Fatalf("probability %d: expected %g, found %g", i, average.Data[i], got)
		}
	}
	if diff := cmp.Diff([]string{dev[0].Dir, dev[1].Dir}, e.Validation.Of); diff != "" {
		t.Errorf("validated by (-want +got):\n%s", diff)
	}
	for i, m := range e.Source.Models {
		if m.PerClass != test[i].Result.Evaluation.PerClass || m.Path != test[i].Path || m.Seed != test[i].Training.Seed {
			t.Errorf("model %d is recorded as %+v", i, m)
		}
	}
	// One model twice is that model.
	one := evaluated(t, Models{Data: d, Split: GZSLSplit, Models: test[:1]})
	twice := evaluated(t, Models{Data: d, Split: GZSLSplit, Models: []*Model{test[0], test[0]}})
	nearly(t, "zsl", twice.ZSL, one.ZSL)
	nearly(t, "harmonic mean", *twice.HarmonicMean, *one.HarmonicMean)
	if math.Abs(*twice.NLL-*one.NLL) > 1e-5 {
		t.Errorf("NLL %g, expected %g", *twice.NLL, *one.NLL)
	}
}

// Scores of a baseline are probabilities only with a temperature.
func TestEvaluateBaseline(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trainedBaseline(t, l)
	e := evaluated(t, Models{Data: l.Data, Split: GZSLSplit, Models: []*Model{test}})
	if e.Kind != BareScores || e.ECE != nil || e.Temperature == nil || e.Calibrated == nil || e.Source.Models[0].Method != "eszsl" {
		t.Errorf("found %+v", e)
	}
	nearly(t, "zsl", e.ZSL, test.Result.Evaluation.PerClass)
	if diff := cmp.Diff([]string{dev.Dir}, e.Validation.Of); diff != "" {
		t.Errorf("validated by (-want +got):\n%s", diff)
	}
	_, lago := trained(t, l, nil)
	both := Models{Data: l.Data, Split: TestSplit, Models: []*Model{test, lago[0]}}
	if e := evaluated(t, both); e.Kind != Logits || e.ECE == nil {
		t.Errorf("an ensemble with a temperature: %+v", e)
	}
	if err := os.RemoveAll(dev.Dir); err != nil {
		t.Fatal(err)
	}
	_, err := Config{Bins: 5}.EvaluateModels(t.Context(), both)
	if err == nil || !strings.Contains(err.Error(), "scores of eszsl and no validation") {
		t.Errorf("an ensemble without a temperature: %v", err)
	}
}

// (0.8 + 0.4)/2 and (0.2 + 0.6)/2 both for all classes and for the unseen ones alone;
// the second's scores are of temperature 3.
func TestMeanByHand(t *testing.T) {
	log := func(p float64) float32 { return float32(math.Log(p)) }
	member := func(p, temperature float64) *Scored {
		scores := matrixOf([]float32{float32(temperature) * log(p), float32(temperature) * log(1-p)})
		return &Scored{Scores: scores, Labels: []int{1}, Kind: BareScores, Alone: &Scored{Scores: scores, Labels: []int{0}}}
	}
	joined, err := mean([]*Scored{member(0.8, 1), member(0.4, 3)}, []float64{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Scored{joined, joined.Alone} {
		for i, want := range []float64{0.6, 0.4} {
			if got := math.Exp(float64(s.Scores.Data[i])); math.Abs(got-want) > 1e-6 || s.Kind != Logits {
				t.Errorf("probability %g, expected %g, as %s", got, want, s.Kind)
			}
		}
	}
	if joined.Labels[0] != 1 || joined.Alone.Labels[0] != 0 {
		t.Errorf("labels %v and %v", joined.Labels, joined.Alone.Labels)
	}
}

func TestSplitByStage(t *testing.T) {
	l := heldOutLab(t)
	dev, test := trained(t, l, nil)
	for _, c := range []struct {
		m    Models
		want Split
		note string
	}{
		{Models{Models: dev[:1]}, ValSplit, ""},
		{Models{Models: test[:1]}, TestSplit, ""},
		{Models{Models: dev[:1], Split: TestSplit}, TestSplit, "dev stage: settings must not be chosen by its test accuracy"},
	} {
		c.m.Data = l.Data
		r := evaluated(t, c.m)
		if r.Source.Split != string(c.want) || strings.Contains(strings.Join(r.Notes, "\n"), "must not be chosen") != (c.note != "") {
			t.Errorf("found %s with notes %q, expected %s with %q", r.Source.Split, r.Notes, c.want, c.note)
		}
	}
	if _, err := (Config{Bins: 1}).EvaluateModels(t.Context(), Models{Data: l.Data, Models: []*Model{dev[0], test[0]}}); err == nil || !strings.Contains(err.Error(), "--split") {
		t.Errorf("models of both stages: %v", err)
	}
}

// Models that were damaged must not be evaluated as if they predicted the first class.
func TestScoresThatAreNotFiniteAreRefused(t *testing.T) {
	l := heldOutLab(t)
	_, test := trained(t, l, nil)
	lago, err := test[0].Saved.LAGO("")
	if err != nil {
		t.Fatal(err)
	}
	for i := range lago.Params.W.Data {
		lago.Params.W.Data[i] = float32(math.NaN())
	}
	if _, err := (Config{Bins: 1}).EvaluateModels(t.Context(), Models{Data: l.Data, Models: test[:1]}); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("found %v", err)
	}
}
