package report

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

var closely = cmpopts.EquateApprox(0, 1e-9)

func TestCurvesSpreadOverSeeds(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.1, 0.4, 0.3)
	write(t, root, made(model.Singletons, train.Dev, 1, nil), 0.3, 0.2, 0.6, 0.9) // a longer patience
	r, d := only(t, root)
	p := curves(r, d).Figures[1].Picture.(*plot.Lines)
	val := p.Series[1]
	want := []plot.Point{{X: 1, Y: 20, Low: 10, High: 30}, {X: 2, Y: 30, Low: 20, High: 40}, {X: 3, Y: 45, Low: 30, High: 60}}
	if diff := cmp.Diff(want, val.Points, closely); diff != "" {
		t.Errorf("val accuracy (-expected +found):\n%s", diff)
	}
	if val.Stop != 3 || val.Name != "val, epoch 3" {
		t.Errorf("expected a stop at epoch 3, found one at %g in %q", val.Stop, val.Name)
	}
}

func TestAblation(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	r, d := only(t, root)
	s := ablationSection(r, d)
	if len(s.Figures) != 1 || len(s.Notes) > 0 || s.Command != "" {
		t.Fatalf("expected one picture and nothing missing, found %d, %q, %q", len(s.Figures), s.Notes, s.Command)
	}
	p := s.Figures[0].Picture.(*plot.Dots)
	if diff := cmp.Diff([]string{"uniform, const, implicit", "uniform, const, explicit"}, p.Rows[:2]); diff != "" {
		t.Errorf("rows, best first (-expected +found):\n%s", diff)
	}
	first := p.Series[0].Dots[0]
	if math.Abs(first.Value-56) > 1e-9 || math.Abs(first.Error-1) > 1e-9 || first.Text != "56.0 ± 1.0" {
		t.Errorf("expected 56.0 ± 1.0, found %+v", first)
	}
}

func TestAblationSaysWhatIsMissing(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	r, d := only(t, root)
	if s := ablationSection(r, d); s.Command != "lago-train ablate --dataset birds --out "+root || len(s.Figures) > 0 {
		t.Errorf("expected the command for an ablation, found %q", s.Command)
	}
	write(t, root, made(model.SemanticHard, train.Dev, 0, func(t *train.Trial) { t.Model.Alpha = 1 }), 0.4)
	s := ablationSection(r, d)
	if len(s.Figures) != 1 || len(s.Notes) != 1 || s.Notes[0] != "6 trials of semantic-hard without a curve." {
		t.Errorf("expected the picture of 2 designs without 6, found %d pictures and %q", len(s.Figures), s.Notes)
	}
	for _, alpha := range []float64{0, 1} { // another ablation, with another rate
		write(t, root, made(model.SemanticHard, train.Dev, 0, func(t *train.Trial) {
			t.Model.Alpha, t.Training.LearningRate = alpha, 1
		}), 0.3)
	}
	if s := ablationSection(r, d); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "found 2, which differ in lr") {
		t.Errorf("expected a note on two ablations, found %q", s.Notes)
	}
}

func TestAblationWithoutAFinishedTrial(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	for _, alpha := range []float64{0, 1} {
		dir := write(t, root, made(model.SemanticHard, train.Dev, 0, func(t *train.Trial) { t.Model.Alpha = alpha }), 0.5)
		writeFile(t, filepath.Join(dir, train.ResultFile), `{"status": "not finite", "error": "the term w2 is +Inf"}`)
	}
	r, d := only(t, root)
	s := ablationSection(r, d)
	if len(s.Figures) > 0 || len(s.Notes) != 1 || s.Notes[0] != "8 trials of semantic-hard without a curve." {
		t.Errorf("expected a note and no picture, found %d pictures and %q", len(s.Figures), s.Notes)
	}
}

func TestPublishedNumbersStandBeside(t *testing.T) {
	root := t.TempDir()
	cub := func(alpha float64) func(*train.Trial) {
		return func(t *train.Trial) { t.Dataset, t.Model.Alpha = "cub", alpha }
	}
	write(t, root, made(model.SemanticHard, train.Dev, 0, cub(0)), 0.5)
	write(t, root, made(model.SemanticHard, train.Dev, 0, cub(1)), 0.4)
	r, d := only(t, root)
	for _, s := range []Section{variants(r, d), ablationSection(r, d)} {
		series := s.Figures[0].Picture.(*plot.Dots).Series
		if last := series[len(series)-1]; !strings.HasPrefix(last.Name, "published") || last.Dots[0].Value < 50 {
			t.Errorf("%s: expected what the paper has for cub, found %+v", s.Name, last)
		}
	}
}

func TestSweepIsOfTheLargestFamily(t *testing.T) {
	root := t.TempDir()
	for _, k := range []int{20, 1, 10} {
		write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = k }), 0.01*float64(k))
	}
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K, t.Model.Beta = 5, 1 }), 0.9)
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.3)
	r, d := only(t, root)
	p := sweep(r, d).Figures[0].Picture.(*plot.Lines)
	want := []plot.Series{
		{Name: "k-soft", Look: 2, Measured: true, Points: []plot.Point{{X: 1, Y: 1, Low: 1, High: 1}, {X: 10, Y: 10, Low: 10, High: 10}, {X: 20, Y: 20, Low: 20, High: 20}}},
		{Name: "singletons", Points: []plot.Point{{X: 1, Y: 30, Low: 30, High: 30}, {X: 20, Y: 30, Low: 30, High: 30}}},
	}
	if diff := cmp.Diff(want, p.Series, closely); diff != "" {
		t.Errorf("series (-expected +found):\n%s", diff)
	}
}

func TestNoise(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	r, d := only(t, root)
	path := filepath.Join(root, NoiseFile)
	if s := noise(r, d); s.Command != "lago-train noise --dataset birds --out "+root+" --json > "+path || len(s.Figures) > 0 {
		t.Errorf("expected the command that measures noise, found %q", s.Command)
	}
	for _, c := range []struct{ content, note string }{
		{``, "noise.json: expected what lago-train noise --json prints"},
		{`{"dataset": "birds"}`, "noise.json: expected methods and ratios, found 0 and 0"},
		{`{"dataset": "birds", "ratios": [0.1], "methods": [{"method": "eszsl"}]}`, "noise.json: eszsl: expected an accuracy"},
		{
			`{"dataset": "fish", "ratios": [0.1], "methods": [{"method": "eszsl", "accuracy": [{}], "relative_accuracy": [{}]}]}`,
			"noise.json: expected measurements on birds, found those on fish",
		},
	} {
		writeFile(t, path, c.content)
		if s := noise(r, d); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], c.note) || len(s.Figures) > 0 {
			t.Errorf("%s: expected the note %q, found %q", c.content, c.note, s.Notes)
		}
	}
	writeAll(t, root)
	p := noise(r, d).Figures[0].Picture.(*plot.Lines)
	want := []plot.Point{{X: 0, Y: 100, Low: 100, High: 100}, {X: 25, Y: 60, Low: 56, High: 64}}
	if diff := cmp.Diff(want, p.Series[0].Points, closely); diff != "" {
		t.Errorf("relative accuracy (-expected +found):\n%s", diff)
	}
}

func TestComparison(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	r, d := only(t, root)
	if s := comparisonSection(r, d); s.Command != "lago-train compare --dataset birds --out "+root || len(s.Figures) > 0 {
		t.Errorf("expected the command that compares, found %q", s.Command)
	}
	path := comparison.File(root, "birds")
	for _, c := range []struct{ content, note string }{
		{``, "compare-birds.json: expected what lago-train compare stores"},
		{`{"methods": [{"name": "ale"}]}`, "compare-birds.json: ale: expected val and test, found null"},
	} {
		writeFile(t, path, c.content)
		if s := comparisonSection(r, d); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], c.note) || len(s.Figures) > 0 {
			t.Errorf("%s: expected the note %q, found %q", c.content, c.note, s.Notes)
		}
	}
	writeAll(t, root)
	s := comparisonSection(r, d)
	p := s.Figures[0].Picture.(*plot.Dots)
	if diff := cmp.Diff([]string{"LAGO (k-soft)", "ESZSL"}, p.Rows); diff != "" {
		t.Errorf("rows (-expected +found):\n%s", diff)
	}
	want := []plot.Dot{{Row: 0, Value: 50, Error: 2, Text: "50.0 ± 2.0"}, {Row: 1, Value: 55, Text: "55.0"}}
	if diff := cmp.Diff(want, p.Series[1].Dots, closely); diff != "" {
		t.Errorf("test accuracy (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Ahead of LAGO on the test classes: eszsl."}, s.Notes); diff != "" {
		t.Errorf("notes (-expected +found):\n%s", diff)
	}
}

func TestPartial(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	r, d := only(t, root)
	path := filepath.Join(root, PartialFile)
	if s := partial(r, d); s.Command != "lago-train partial --dataset birds --out "+root+" --json > "+path || len(s.Figures) > 0 {
		t.Errorf("expected the command that measures it, found %q", s.Command)
	}
	writeFile(t, path, `{"dataset": "birds", "shares": [1], "methods": [{"method": "eszsl"}]}`)
	if s := partial(r, d); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "each of the 1 shares, found 0 and 0") {
		t.Errorf("expected a note on a method without accuracy, found %q", s.Notes)
	}
	writeAll(t, root)
	s := partial(r, d)
	p := s.Figures[0].Picture.(*plot.Lines)
	want := []plot.Series{
		{Name: "eszsl", Look: 4, Measured: true, Points: []plot.Point{{X: 10, Y: 20, Low: 19, High: 21}, {X: 100, Y: 40, Low: 40, High: 40}}},
		{Name: "eszsl, inferred", Look: 5, Measured: true, Points: []plot.Point{{X: 10, Y: 30, Low: 28, High: 32}, {X: 100, Y: 40, Low: 40, High: 40}}},
	}
	if diff := cmp.Diff(want, p.Series, closely); diff != "" {
		t.Errorf("series (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"method", "all given (%)", "100 % given (%)", "10 % given (%)"}, s.Table.Header); diff != "" {
		t.Errorf("header (-expected +found):\n%s", diff)
	}
}

func TestGammaIsSortedByTheStrongestGroup(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.5)
	write(t, root, made(model.KSoft, train.Dev, 1, nil), 0.7)
	r, d := only(t, root)
	s := gamma(r, d)
	if !strings.HasPrefix(s.Figures[0].Caption, "Gamma of k-soft, seed 1 ") {
		t.Errorf("expected the seed with the best val accuracy, found %q", s.Figures[0].Caption)
	}
	p := s.Figures[0].Picture.(*plot.Heat)
	if diff := cmp.Diff([]string{"bill::long", "wing::white", "wing::red"}, p.Rows); diff != "" {
		t.Errorf("rows (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]plot.Block{{Row: 0, Name: "0"}, {Row: 1, Name: "1"}}, p.Blocks); diff != "" {
		t.Errorf("blocks (-expected +found):\n%s", diff)
	}
	// softmax(10 (0, 0.4)), by hand
	if diff := cmp.Diff([]float64{1 / (1 + math.Exp(4)), 1 / (1 + math.Exp(-4))}, p.Values[1], cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("Gamma of wing::white (-expected +found):\n%s", diff)
	}
}

func TestGammaNamesTheGroupsOfSemanticSoft(t *testing.T) {
	root := t.TempDir()
	dir := write(t, root, made(model.SemanticSoft, train.Dev, 0, nil), 0.5)
	r, d := only(t, root)
	if diff := cmp.Diff([]string{"bill", "wing"}, gamma(r, d).Figures[0].Picture.(*plot.Heat).Cols); diff != "" {
		t.Errorf("columns (-expected +found):\n%s", diff)
	}
	writeFile(t, filepath.Join(dir, train.ModelFile), "no model")
	if s := gamma(r, d); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], dir) {
		t.Errorf("expected a note that names %s, found %q", dir, s.Notes)
	}
}

func TestConfusionIsOverSeeds(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	r, d := only(t, root)
	s := confusion(r, d)
	if s.Command == "" || !strings.Contains(s.Figures[0].Caption, "2 val classes") {
		t.Errorf("expected the val classes, and a command for the test stage, found %q and %q", s.Figures[0].Caption, s.Command)
	}
	for seed := range uint64(2) {
		write(t, root, made(model.Singletons, train.Test, seed, nil), 0.5)
	}
	r, d = only(t, root)
	p := confusion(r, d).Figures[0].Picture.(*plot.Heat)
	if diff := cmp.Diff([][]float64{{0.75, 0.25}, {1. / 3, 2. / 3}}, p.Values, closely); diff != "" {
		t.Errorf("shares (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"owl", "wren"}, p.Rows); diff != "" {
		t.Errorf("classes (-expected +found):\n%s", diff)
	}
}

func TestConfusionOfAClassWithoutSamples(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Test, 0, nil), 0.5)
	_, d := only(t, root)
	d.Test[0].Trials[0].Result.Evaluation.Confusion = [][]int{{0, 0}, {1, 1}}
	if diff := cmp.Diff([][]float64{{0, 0}, {0.5, 0.5}}, confusionPicture(d.Test[0]).Values); diff != "" {
		t.Errorf("shares (-expected +found):\n%s", diff)
	}
}

func TestSettingsListWhatDiffers(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.2, 0.4)
	write(t, root, made(model.KSoft, train.Dev, 1, nil), 0.5, 0.3)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 7 }), 0.1)
	r, d := only(t, root)
	s := settings(r, d)
	want := &Table{
		Header: []string{"variant", "stage", "accuracy (%)", "seeds", "epochs run", "best epoch", "ended by", "k"},
		Rows: [][]string{
			{"k-soft", "dev", "45.0 ± 5.0", "2", "2", "2, 1", "epochs", "2"},
			{"k-soft", "dev", "10.0", "1", "1", "1", "epochs", "7"},
		},
	}
	if diff := cmp.Diff(want, s.Table); diff != "" {
		t.Errorf("table (-expected +found):\n%s", diff)
	}
	if !strings.Contains(s.Text, "All have in common: prior uniform, complement const, zeta 10,") {
		t.Errorf("expected what all have in common, found %q", s.Text)
	}
}
