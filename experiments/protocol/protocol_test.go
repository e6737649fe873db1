package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/protocol"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// drawCurves draws the val accuracy of seeds on a few classes of a few samples, so
// that averages are often equal, and returns the samples that were right as well.
func drawCurves(t *rapid.T) (right [][]int, curves []train.Curve) {
	const samples = 12
	right = rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, samples), 1, 9), 1, 5).Draw(t, "right samples, by seed and epoch")
	for _, seed := range right {
		var c train.Curve
		for e, n := range seed {
			accuracy := float64(n) / samples
			c = append(c, train.Epoch{Epoch: e + 1, ValAccuracy: &accuracy})
		}
		curves = append(curves, c)
	}
	return right, curves
}

func TestBestEpochIsTheFirstWithTheBestAverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		right, curves := drawCurves(t)
		shortest := len(slices.MinFunc(right, func(a, b []int) int { return len(a) - len(b) }))
		want, most := 0, -1
		for e := range shortest {
			sum := 0
			for _, seed := range right {
				sum += seed[e]
			}
			if sum > most {
				want, most = e+1, sum
			}
		}
		if got := protocol.BestEpoch(curves); got != want {
			t.Errorf("BestEpoch = %d of %d, expected %d", got, shortest, want)
		}
	})
}

func TestBestEpochOfNoCurves(t *testing.T) {
	if got := protocol.BestEpoch(nil); got != 0 {
		t.Errorf("BestEpoch = %d, expected 0 for none", got)
	}
	if got := protocol.BestEpoch([]train.Curve{{}}); got != 0 {
		t.Errorf("BestEpoch = %d, expected 0 for a curve without epochs", got)
	}
}

// A run that converged does not limit how long the others are trained.
func TestDevEpochAfterConvergence(t *testing.T) {
	run := func(status train.Status, accuracies ...float64) lab.Run {
		r := lab.Run{Dir: t.TempDir(), Result: &train.Result{Status: status}}
		var c train.Curve
		for e, a := range accuracies {
			c = append(c, train.Epoch{Epoch: e + 1, ValAccuracy: &a, ValAccuracyPerSample: &a})
		}
		if err := c.Write(filepath.Join(r.Dir, train.CurveFile)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	other := run(train.Patience, 0.1, 0.3, 0.5, 0.4)
	for status, want := range map[train.Status]int{train.Converged: 3, train.Epochs: 2} {
		if got, err := protocol.DevEpoch([]lab.Run{run(status, 0.5, 0.4), other}); got != want || err != nil {
			t.Errorf("epoch %d beside a run that ended by %s, %v, expected %d", got, status, err, want)
		}
	}
	if got, err := protocol.DevEpoch([]lab.Run{run(train.Converged, 0.5), run(train.Converged, 0.5)}); got != 1 || err != nil {
		t.Errorf("epoch %d of closed forms, %v", got, err)
	}
}

func TestMeasureLeavesOutTrialsWithoutAResult(t *testing.T) {
	scored := func(perClass, perSample float64, right ...int) *train.Result {
		confusion := metrics.NewConfusion(4)
		for z, n := range right {
			confusion[z][z], confusion[z][3-z] = n, 2-n
		}
		return &train.Result{
			Status:     train.Epochs,
			Evaluation: &train.Evaluation{PerClass: perClass, PerSample: perSample, Classes: []string{"a", "b", "c", "d"}, Confusion: confusion},
		}
	}
	got := protocol.Measure([]lab.Run{
		{Result: scored(0.25, 0.5, 2, 0, 0, 0)},
		{Err: lab.ErrElsewhere},
		{Result: &train.Result{Status: train.NotFinite}, Err: errors.New("not finite")},
		{Result: scored(0.75, 0.5, 2, 1, 2, 1), Trial: train.Trial{Training: train.Training{Seed: 1}}},
	})
	want := &protocol.Measured{
		PerClass:  lab.Summarise([]float64{0.25, 0.75}),
		Interval:  metrics.ClassInterval([]float64{1, 0.25, 0.5, 0.25}),
		PerSample: lab.Summarise([]float64{0.5, 0.5}),
		Classes:   4, Parts: 1, Status: []train.Status{train.Epochs, train.Epochs},
		ByClass: []lab.ClassAccuracy{
			{Class: "a", Samples: 2, Accuracy: 1},
			{Class: "b", Samples: 2, Accuracy: 0.25},
			{Class: "c", Samples: 2, Accuracy: 0.5},
			{Class: "d", Samples: 2, Accuracy: 0.25},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Chance() != 0.25 {
		t.Errorf("chance among 4 classes is %g", got.Chance())
	}
}

// The accuracy of a seed over several parts is the mean over all their classes.
func TestMeasureOfParts(t *testing.T) {
	run := func(part string, seed uint64, right ...int) lab.Run {
		confusion := metrics.NewConfusion(len(right))
		var classes []string
		for z, n := range right { // of 4 samples
			confusion[z][z], confusion[z][(z+1)%len(right)] = n, 4-n
			classes = append(classes, fmt.Sprint(part, z))
		}
		a := confusion.Accuracy()
		return lab.Run{
			Trial:  train.Trial{Fingerprint: part, Training: train.Training{Seed: seed}},
			Result: &train.Result{Evaluation: &train.Evaluation{PerClass: a.PerClass, PerSample: a.PerSample, Classes: classes, Confusion: confusion}},
		}
	}
	m := protocol.Measure([]lab.Run{run("a", 0, 4, 2), run("b", 0, 1, 1, 0), run("a", 1, 4, 4), run("b", 1, 1, 1, 2)})
	for _, c := range []struct {
		name string
		runs []lab.Run
		want int
	}{
		{"a seed lacks a part", []lab.Run{run("a", 0, 4, 2), run("b", 0, 1, 1, 0), run("a", 1, 4, 4)}, 1},
		{"each seed lacks another part", []lab.Run{run("a", 0, 4, 2), run("b", 1, 1, 1, 0)}, 0},
		{"a run is there twice", []lab.Run{run("a", 0, 4, 2), run("a", 0, 4, 2), run("a", 1, 4, 4)}, 2},
	} {
		if m := protocol.Measure(c.runs); len(m.PerClass.Values) != c.want {
			t.Errorf("%s: %d seeds, expected %d", c.name, len(m.PerClass.Values), c.want)
		}
	}
	want := []float64{0.4, 0.6}
	if diff := cmp.Diff(want, m.PerClass.Values, cmpopts.EquateApprox(0, 1e-12)); diff != "" || m.Classes != 5 || m.Parts != 2 || m.Chance() != 0.4 {
		t.Errorf("%d classes in %d parts, chance %g, values (-want +got):\n%s", m.Classes, m.Parts, m.Chance(), diff)
	}
}

func TestGroupsOfKSoftAreLimitedByTheData(t *testing.T) {
	l := testlab.Simulated(t)
	c := protocol.PresetFor(l.Data.Name, model.KSoft).Config
	for _, k := range []struct{ given, want int }{{0, 9}, {2, 2}} { // of 9 attributes
		c.K = k.given
		for i, trial := range c.Trials(l.Parts[0], train.Dev, 1) {
			if trial.Model.K != k.want || trial.Training.Seed != c.Seed+uint64(i) || trial.Fingerprint != l.Data.Fingerprint() {
				t.Errorf("k %d: trial %d is %+v, expected %d groups, another seed and the data's fingerprint", k.given, i, trial, k.want)
			}
		}
	}
}

func TestRunStages(t *testing.T) {
	l := testlab.Simulated(t)
	for _, c := range []struct {
		stage     protocol.Stages
		dev, test int // folders
	}{{protocol.OnlyDev, 2, 0}, {protocol.OnlyTest, 0, 2}, {protocol.DevThenTest, 2, 2}} {
		t.Run(string(c.stage), func(t *testing.T) {
			config := testlab.Config(l, c.stage)
			o, err := protocol.Run(context.Background(), l, config)
			if err != nil {
				t.Fatal(err)
			}
			if len(o.RunDirs) != c.dev+c.test || (o.Val != nil) != (c.dev > 0) || (o.Test != nil) != (c.test > 0) {
				t.Fatalf("%d folders, val %v, test %v; expected %d and %d of them", len(o.RunDirs), o.Val, o.Test, c.dev, c.test)
			}
			epochs := config.Epochs
			if c.dev > 0 {
				var curves []train.Curve
				for _, dir := range o.RunDirs[:c.dev] {
					curve, err := train.ReadCurve(filepath.Join(dir, train.CurveFile), train.Dev)
					if err != nil {
						t.Fatal(err)
					}
					curves = append(curves, curve)
				}
				epochs = protocol.BestEpoch(curves)
				compareMeasured(t, o.Val, o.RunDirs[:c.dev], 4)
			}
			if o.Epochs != epochs {
				t.Errorf("%d epochs, expected %d", o.Epochs, epochs)
			}
			if c.test > 0 {
				for _, r := range compareMeasured(t, o.Test, o.RunDirs[c.dev:], 4) {
					if r.Epochs != epochs || r.BestEpoch != epochs || r.Status != train.Epochs {
						t.Errorf("a test run ended by %s with epoch %d of %d, expected the last of %d", r.Status, r.BestEpoch, r.Epochs, epochs)
					}
				}
			}
			var seconds float64
			for _, dir := range o.RunDirs {
				r, err := train.ReadResult(dir)
				if err != nil {
					t.Fatal(err)
				}
				seconds += r.Seconds
			}
			if o.Seconds != seconds {
				t.Errorf("%g seconds, expected the %g of all runs", o.Seconds, seconds)
			}
		})
	}
}

// compareMeasured compares accuracies with the results in the folders, which it returns.
func compareMeasured(t *testing.T, m *protocol.Measured, dirs []string, classes int) []*train.Result {
	t.Helper()
	var results []*train.Result
	var want []float64
	for _, dir := range dirs {
		r, err := train.ReadResult(dir)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		want = append(want, r.Evaluation.PerClass)
	}
	if diff := cmp.Diff(lab.Summarise(want), m.PerClass); diff != "" {
		t.Errorf("accuracy, by the folders (-) and by the outcome (+):\n%s", diff)
	}
	if m.Classes != classes || m.PerClass.Mean <= m.Chance() {
		t.Errorf("%g over %d classes, expected more than chance over %d", m.PerClass.Mean, m.Classes, classes)
	}
	return results
}

func TestRunWithoutEpochsTakesThoseOfThePreset(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.OnlyTest)
	c.Epochs, c.Seeds = 0, 1
	o, err := protocol.Run(context.Background(), l, c)
	if err != nil {
		t.Fatal(err)
	}
	if want := protocol.PresetFor(c.Dataset, c.Variant).TestEpochs; o.Epochs != want {
		t.Errorf("%d epochs, expected the %d of the preset", o.Epochs, want)
	}
}

func TestRunReusesFinishedRuns(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.DevThenTest)
	first, err := protocol.Run(context.Background(), l, c)
	if err != nil {
		t.Fatal(err)
	}
	// The BLAS reported is that of the runs, not of this process.
	for _, dir := range first.RunDirs {
		r, err := train.ReadRecord(dir)
		if err != nil {
			t.Fatal(err)
		}
		r.BLAS.Name = "another"
		testlab.WriteFile(t, filepath.Join(dir, train.TrialFile), r)
	}
	l.Options.OnEpoch = func(trial train.Trial, e train.Epoch) { t.Errorf("epoch %d of %s is run again", e.Epoch, trial.Name()) }
	second, err := protocol.Run(context.Background(), l, c)
	if err != nil {
		t.Fatal(err)
	}
	if first.Reused != 0 || second.Reused != len(second.RunDirs) || !second.TrainedTo.Equal(first.TrainedTo) || second.TrainedTo.IsZero() {
		t.Errorf("reused %d runs, then %d; trained until %v, then %v", first.Reused, second.Reused, first.TrainedTo, second.TrainedTo)
	}
	var text strings.Builder
	if err := second.WriteText(&text, protocol.PresetFor(c.Dataset, c.Variant)); err != nil || !strings.Contains(text.String(), "nothing trained: 4 runs reused") ||
		!strings.Contains(text.String(), "preprocess sqrt,l2,whiten, ridge 0, ") || !strings.Contains(text.String(), "lago-train search --dataset simulated-small --variant semantic-hard\n") {
		t.Errorf("error %v, text %s", err, &text)
	}
	if strings.Contains(first.BLAS, "another") || !strings.Contains(second.BLAS, "another") {
		t.Errorf("BLAS %s, then %s", first.BLAS, second.BLAS)
	}
	if diff := cmp.Diff(first, second, cmpopts.IgnoreFields(protocol.Outcome{}, "Reused", "BLAS")); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestRunNamesTheFolderOfAFailedSeed(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.OnlyDev)
	c.LR = 1e38
	_, err := protocol.Run(context.Background(), l, c)
	dir := filepath.Join(l.Root, c.Trials(l.Parts[0], train.Dev, c.Epochs)[0].Name())
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, expected one that names %s", err, dir)
	}
}

func TestRunThatIsCancelled(t *testing.T) {
	l := testlab.Simulated(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var cancelled *lab.Cancelled
	if _, err := protocol.Run(ctx, l, testlab.Config(l, protocol.DevThenTest)); !errors.As(err, &cancelled) {
		t.Fatalf("error %v, expected a *lab.Cancelled", err)
	}
	if cancelled.Finished != 0 || cancelled.Trials != 2 || cancelled.Root != l.Root {
		t.Errorf("%+v, expected none of the two dev trials in %s", cancelled, l.Root)
	}
}

// Scripts read these keys.
func TestOutcomeJSONKeys(t *testing.T) {
	l := testlab.Simulated(t)
	o, err := protocol.Run(context.Background(), l, testlab.Config(l, protocol.DevThenTest))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	testlab.CompareKeys(t, "outcome", object, "dataset", "variant", "stage", "seeds", "epochs", "val", "test", "seconds", "blas", "run_dirs", "reused_runs", "trained_from", "trained_to", "config")
	for _, part := range []string{"val", "test"} {
		var measured map[string]json.RawMessage
		if err := json.Unmarshal(object[part], &measured); err != nil {
			t.Fatal(err)
		}
		testlab.CompareKeys(t, part, measured, "per_class_accuracy", "interval", "per_sample_accuracy", "classes", "parts", "status")
		var accuracy map[string]json.RawMessage
		if err := json.Unmarshal(measured["per_class_accuracy"], &accuracy); err != nil {
			t.Fatal(err)
		}
		testlab.CompareKeys(t, part+": per_class_accuracy", accuracy, "mean", "sem", "values")
	}
}

// A curve without validation accuracies is an error that names the line.
func TestDevEpochNamesALineWithoutAccuracy(t *testing.T) {
	dir := t.TempDir()
	accuracy := 0.5
	path := filepath.Join(dir, train.CurveFile)
	if err := (train.Curve{{Epoch: 1, ValAccuracy: &accuracy, ValAccuracyPerSample: &accuracy}, {Epoch: 2}}).Write(path); err != nil {
		t.Fatal(err)
	}
	_, err := protocol.DevEpoch([]lab.Run{{Dir: dir}})
	if want := path + ": line 2: expected val_accuracy"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, expected %s", err, want)
	}
}
