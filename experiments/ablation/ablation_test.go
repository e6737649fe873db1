package ablation

import (
	"bytes"
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// logPublished writes the runs of an ablation in which each seed scores what the
// paper has for its design.
func logPublished(t *testing.T, root, dataset string, base train.Trial, seeds ...uint64) {
	t.Helper()
	for _, trial := range (grid{baseOf(base), designs(), []float64{alphaOf(base)}}).trials(seeds) {
		best := *designOf(trial).published(dataset)
		testlab.LogRun(t, root, trial, train.Patience, best/2, best, best/3)
	}
}

// ablationOf returns the ablation of the runs of semantic-hard in a folder, which must be the
// only one.
func ablationOf(t *testing.T, root, dataset, fingerprint string) *Result {
	t.Helper()
	families, err := All(root, dataset, fingerprint, model.SemanticHard)
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 1 {
		t.Fatalf("%d ablations, expected one", len(families))
	}
	return families[0].Result
}

func TestAblationFromCurves(t *testing.T) {
	for _, dataset := range []string{"cub", "awa2"} {
		root := t.TempDir()
		logPublished(t, root, dataset, testlab.DevTrial(dataset, 0), 3, 4, 5)
		a := ablationOf(t, root, dataset, "data")
		if a.Dataset != dataset || a.Variant != model.SemanticHard || a.Alphas[0] != defaultAlpha || len(a.Missing) > 0 {
			t.Errorf("%s: %+v", dataset, a)
		}
		if diff := gocmp.Diff([]uint64{3, 4, 5}, a.Seeds); diff != "" {
			t.Errorf("%s: seeds (-want +got):\n%s", dataset, diff)
		}
		want := slices.Clone(published.All().Ablation)
		slices.SortFunc(want, func(x, y published.Ablation) int {
			px, _ := x.On(dataset)
			py, _ := y.On(dataset)
			return cmp.Compare(py, px)
		})
		for i, row := range a.Rows {
			if d := (Design{want[i].Prior, want[i].Complement, Supervision(want[i].Supervision)}); row.Design != d {
				t.Errorf("%s: row %d is %v, expected %v", dataset, i, row.Design, d)
			}
			for _, v := range row.Accuracy.Values {
				if v != *row.Published {
					t.Errorf("%s: %v scores %g, expected the best epoch, %g", dataset, row.Design, v, *row.Published)
				}
			}
			if len(row.Accuracy.Values) != 3 {
				t.Errorf("%s: %v has %d seeds, expected 3", dataset, row.Design, len(row.Accuracy.Values))
			}
		}
		// What the paper reads from its numbers must hold for them.
		for _, f := range a.Findings {
			if !f.Holds {
				t.Errorf("%s: does not hold for the paper's own table: %s", dataset, f.Text)
			}
		}
	}
}

func TestFindingsThatDiffer(t *testing.T) {
	rows := []Row{
		{Design: Design{model.Uniform, model.Const, Implicit}, Accuracy: lab.Summarise([]float64{0.1})},
		{Design: Design{model.Uniform, model.Const, Explicit}, Accuracy: lab.Summarise([]float64{0.5})},
		{Design: Design{model.Uniform, model.DeMorgan, Implicit}, Accuracy: lab.Summarise([]float64{0.3})},
		{Design: Design{model.Uniform, model.DeMorgan, Explicit}, Accuracy: lab.Summarise([]float64{0.2})},
		{Design: Design{model.PerAttribute, model.Const, Implicit}, Accuracy: lab.Summarise([]float64{0.6})},
		{Design: Design{model.PerAttribute, model.Const, Explicit}, Accuracy: lab.Summarise([]float64{0.4})},
		{Design: Design{model.PerAttribute, model.DeMorgan, Implicit}, Accuracy: lab.Summarise([]float64{0.4})},
		{Design: Design{model.PerAttribute, model.DeMorgan, Explicit}, Accuracy: lab.Summarise([]float64{0.4})},
	}
	list := findings(rows)
	if len(list) != 5 {
		t.Fatalf("%d findings, expected 5", len(list))
	}
	for _, f := range list {
		if f.Holds {
			t.Errorf("holds: %s", f.Text)
		}
	}
	rows[3].Accuracy = lab.Summary{}
	if list := findings(rows); len(list) > 0 {
		t.Errorf("%d findings although a row is without accuracy", len(list))
	}
}

// rowsOf returns a row for each design with the accuracy of each class, best first.
func rowsOf(classes func(d Design) []float64) []Row {
	var rows []Row
	for _, d := range designs() {
		c := classes(d)
		rows = append(rows, Row{Design: d, Accuracy: lab.Summarise([]float64{stat.Mean(c, nil)}), classes: c})
	}
	slices.SortStableFunc(rows, byAccuracy)
	return rows
}

// Of twelve classes, each is 10 points better with a uniform prior, half of them 1 point better
// and the others 1 point worse with const, and 2 to 13 points worse with explicit supervision
// if the prior is per attribute.
func TestDifferencesOverClasses(t *testing.T) {
	rows := rowsOf(func(d Design) []float64 {
		list := make([]float64, 12)
		for z := range list {
			list[z] = 0.5 + 0.01*float64(z)
			if d.Prior == model.Uniform {
				list[z] += 0.1
			}
			if d.Complement == model.Const {
				list[z] += []float64{0.01, -0.01}[z%2]
			}
			if d.Prior == model.PerAttribute && d.Supervision == Explicit {
				list[z] -= 0.02 + 0.01*float64(z)
			}
		}
		return list
	})
	compareRows(rows)
	var below, equal int
	for _, r := range rows {
		switch d := r.Difference; {
		case r.Design == lago:
			if d != nil {
				t.Errorf("LAGO's design differs from itself by %+v", d)
			}
		case r.Prior == model.PerAttribute:
			// The least p of 2^12 signs, four times, corrected for seven comparisons.
			if d.P != 7*2.0/4096 || d.Mean > -0.09 || d.Interval.High > -0.09 {
				t.Errorf("%v: %+v", r.Design, d)
			}
			below++
		default:
			if math.Abs(d.Mean) > 1e-9 || d.P != 1 {
				t.Errorf("%v: %+v", r.Design, d)
			}
			equal++
		}
	}
	if below != 4 || equal != 3 {
		t.Errorf("%d rows below and %d rows equal", below, equal)
	}
	for i, want := range []struct {
		difference float64
		clear      bool
	}{{0, false}, {0.1 + (0.02+0.13)/4, true}, {(0.02 + 0.13) / 2, true}, {0, false}, {0, false}} {
		f := findings(rows)[i]
		if d := f.Difference; d == nil || math.Abs(d.Mean-want.difference) > 1e-9 || (d.P < metrics.Significance) != want.clear {
			t.Errorf("%s: %+v, expected %+v", f.Text, f.Difference, want)
		}
	}
}

// Of several alphas, each explicit design has the best, and the table of the folder agrees.
func TestAblateWithAlphas(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.OnlyDev)
	c.Seeds = 1
	alphas := []float64{0.5, 1e4}
	several, err := Run(t.Context(), l, c, Options{Alphas: alphas})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range several.Rows {
		best := Row{}
		for _, alpha := range (grid{alphas: alphas}).alphasOf(r.Design) {
			c.Alpha = alpha
			alone, err := Run(t.Context(), l, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range alone.Rows {
				if other.Design == r.Design && other.Accuracy.Mean > best.Accuracy.Mean {
					best = other
				}
			}
		}
		if best.Alpha != r.Alpha || best.Accuracy.Mean != r.Accuracy.Mean {
			t.Errorf("%v: alpha %g with %g, expected %g with %g", r.Design, r.Alpha, r.Accuracy.Mean, best.Alpha, best.Accuracy.Mean)
		}
	}
	if text := ablationText(t, several); !strings.Contains(text, "explicit with the best alpha of 0.5, 10000") || !strings.Contains(text, "Explicit, alpha 0.5") {
		t.Error(text)
	}
	for _, wrong := range [][]float64{{0, 1}, {1, 1}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		if _, err := Run(t.Context(), l, c, Options{Alphas: wrong}); err == nil || !strings.HasPrefix(err.Error(), "--alphas: expected different positive numbers, found ") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

func TestAblationNamesWhatIsMissing(t *testing.T) {
	root := t.TempDir()
	base := testlab.DevTrial("cub", 0)
	logPublished(t, root, "cub", base, 0)
	trials := grid{baseOf(base), designs(), []float64{defaultAlpha}}.trials([]uint64{0, 1})
	failed := testlab.LogRun(t, root, trials[2], train.NotFinite, 0.5)
	unfinished := testlab.LogRun(t, root, trials[10], "unfinished", 0.9, 0.9)
	a := ablationOf(t, root, "cub", "data")
	if len(a.Missing) != 9 { // the failed one and seed 1
		t.Fatalf("%d are missing, expected 9: %v", len(a.Missing), a.Missing)
	}
	why := map[string]string{}
	for _, m := range a.Missing {
		why[m.Dir] = m.Why
	}
	if why[failed] != "CXE is NaN" || why[unfinished] != "unfinished at epoch 2" {
		t.Errorf("missing: %v", why)
	}
	if last := a.Rows[7]; last.Design != designOf(trials[2]) || len(last.Accuracy.Values) != 0 {
		t.Errorf("the last row is %+v, expected the one without accuracy", last)
	}
	text := ablationText(t, a)
	for _, want := range []string{
		"9 runs missing from the table:\n",
		failed + ": CXE is NaN\n",
		": not trained\n",
		"│ Uniform       │ DeMorgan │ Implicit    │        - │                 - │     0 │                      - │ - │    48.4 % │",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}

func TestAblationOfACurveThatDoesNotRead(t *testing.T) {
	root := t.TempDir()
	base := testlab.DevTrial("cub", 0)
	logPublished(t, root, "cub", base, 0)
	testlab.LogRun(t, root, baseOf(base), train.Epochs) // not of the ablation: it has no design
	empty := designs()[0].apply(base, 0, 0)
	dir := testlab.LogRun(t, root, empty, train.Epochs)
	a := ablationOf(t, root, "cub", "data")
	if len(a.Missing) != 1 || a.Missing[0].Dir != dir || !strings.Contains(a.Missing[0].Why, "result.json: epochs: expected at least 1") {
		t.Errorf("missing: %v", a.Missing)
	}
}

func TestAblationOfSeveralConfigurations(t *testing.T) {
	root := t.TempDir()
	base := testlab.DevTrial("cub", 0)
	faster := base
	faster.Training.LearningRate = 0.01
	stronger := base
	stronger.Model.Alpha = 3
	for _, b := range []train.Trial{base, faster, stronger} {
		logPublished(t, root, "cub", b, 0)
	}
	// Neither a single design, nor a search of prior and alpha, nor the test stage makes an ablation.
	tried := base
	tried.Training.LearningRate = 0.5
	testlab.LogRun(t, root, designs()[0].apply(tried, 0, 0), train.Patience, 0.5)
	tried.Training.LearningRate = 0.3
	for i, prior := range []model.Prior{model.Uniform, model.PerAttribute} {
		tried.Model.Prior, tried.Model.Complement, tried.Model.Alpha = prior, model.Const, 0.1*float64(i)
		testlab.LogRun(t, root, tried, train.Patience, 0.5)
	}
	tried = base
	tried.Model.Alpha = 0.7
	testlab.LogRun(t, root, tried, train.Patience, 0.5)
	test := base
	test.Stage = train.Test
	logPublished(t, root, "cub", test, 0)

	families, err := All(root, "cub", "data", model.SemanticHard)
	if err != nil {
		t.Fatal(err)
	}
	type settings struct{ lr, alpha float64 }
	want := map[settings]bool{{1e-4, defaultAlpha}: true, {1e-4, 3}: true, {0.01, defaultAlpha}: true}
	for _, f := range families {
		key := settings{f.grid.base.Training.LearningRate, f.Alphas[0]}
		if !want[key] || len(f.Missing) > 0 {
			t.Errorf("%+v, %v", key, f.Missing)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// An ablation and the table of its runs are equal, and a second ablation trains nothing.
// The row of the prior per group is extra.
func TestAblate(t *testing.T) {
	l := testlab.Simulated(t)
	c := testlab.Config(l, protocol.DevThenTest)
	trained, err := Run(t.Context(), l, c, Options{PerGroup: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(trained.Rows) != 9 || len(trained.Findings) != 5 {
		t.Errorf("%d rows and %d findings, expected 9 and 5", len(trained.Rows), len(trained.Findings))
	}
	for _, r := range trained.Rows {
		if len(r.Accuracy.Values) != c.Seeds || r.Published != nil {
			t.Errorf("%+v", r)
		}
	}
	read := ablationOf(t, l.Root, c.Dataset, l.Fingerprint())
	if diff := gocmp.Diff(trained, read, gocmp.AllowUnexported(Row{})); diff != "" {
		t.Errorf("(-trained +read):\n%s", diff)
	}
	l.Options.OnEpoch = func(t2 train.Trial, _ train.Epoch) { t.Errorf("%s is trained again", t2.Name()) }
	again, err := Run(t.Context(), l, c, Options{PerGroup: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(trained, again, gocmp.AllowUnexported(Row{})); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

func TestAblateOfAShardNamesTheOthersTrials(t *testing.T) {
	l := testlab.Simulated(t)
	l.Shard = lab.Shard{Index: 0, Count: 2}
	c := testlab.Config(l, protocol.OnlyDev)
	c.Seeds = 1
	a, err := Run(t.Context(), l, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Missing) != 4 || a.Missing[0].Why != lab.ErrElsewhere.Error() {
		t.Errorf("missing: %v, expected the four of the other shard", a.Missing)
	}
	// These runs have implicit supervision only; alpha is that which the others would have.
	if a := ablationOf(t, l.Root, c.Dataset, l.Fingerprint()); a.Alphas[0] != alphaOf(c.Trials(l.Parts[0], train.Dev, 1)[0]) || len(a.Missing) != 4 {
		t.Errorf("%+v", a)
	}
}

// In a rotation, rows that lack a part have no accuracy, and the others are compared class by
// class whatever part comes first.
func TestAblationOfPartsThatAreMissing(t *testing.T) {
	l := testlab.Simulated(t)
	if err := l.Rotate(4, 1); err != nil {
		t.Fatal(err)
	}
	c := testlab.Config(l, protocol.OnlyDev)
	complete, err := Run(t.Context(), l, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Of one design the first part of the first seed, of another the last part of both seeds.
	first, last := c.Trials(l.Parts[0], train.Dev, c.DevEpochs())[:1], c.Trials(l.Parts[3], train.Dev, c.DevEpochs())
	for i, lost := range [][]train.Trial{first, last} {
		for _, trial := range lost {
			trial = complete.Rows[i].apply(baseOf(trial), complete.Rows[i].Alpha, trial.Training.Seed)
			dirs, err := filepath.Glob(filepath.Join(l.Root, "*", trial.Name()))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("%s: %v %v", trial.Name(), dirs, err)
			}
			testlab.WriteFile(t, filepath.Join(dirs[0], train.ResultFile), train.Result{Status: train.NotFinite, Epochs: 1, Seconds: 1, Error: "CXE is NaN"})
		}
	}
	a, err := Run(t.Context(), l, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[Design]Row{}
	for _, r := range a.Rows {
		rows[r.Design] = r
	}
	if r := rows[complete.Rows[0].Design]; len(r.Accuracy.Values) != 1 || len(r.classes) != len(complete.Rows[0].classes) {
		t.Errorf("a part of one seed is missing: %d seeds, %d classes", len(r.Accuracy.Values), len(r.classes))
	}
	if r := rows[complete.Rows[1].Design]; len(r.Accuracy.Values) != 0 || r.Difference != nil {
		t.Errorf("a part is missing: %+v", r)
	}
	if r := rows[complete.Rows[0].Design]; math.Abs(stat.Mean(r.classes, nil)-r.Accuracy.Mean) > 1e-9 {
		t.Errorf("accuracies by class %v, expected a mean of %g", r.classes, r.Accuracy.Mean)
	}
	if text := ablationText(t, a); !strings.Contains(text, ", each class a validation class in one of 4 parts\n") {
		t.Error(text)
	}
}

func TestAblationText(t *testing.T) {
	root := t.TempDir()
	logPublished(t, root, "cub", testlab.DevTrial("cub", 0), 0, 1)
	a := ablationOf(t, root, "cub", "data")
	text := ablationText(t, a)
	for _, want := range []string{
		"semantic-hard on cub: validation accuracy by design, 2 seeds, alpha 1 where explicit\n",
		"│ Uniform       │ Const    │ Implicit    │   52.8 % │             0.0 % │     2 │                      - │ - │    52.8 % │",
		// Two classes cannot make a difference clear.
		"  unclear  with a uniform prior, const is above De-Morgan: +2.4 (2.4 to 2.4), p 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}

func ablationText(t *testing.T, a *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := a.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
