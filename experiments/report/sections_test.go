package report

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

var closely = cmpopts.EquateApprox(0, 1e-9)

func TestCurvesOverSeeds(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.1, 0.4, 0.3)
	write(t, root, made(model.Singletons, train.Dev, 1, nil), 0.3, 0.2, 0.6, 0.9) // a longer patience
	f, d := only(t, root)
	p := curvesSection(f, d).Figures[1].Picture.(*plot.Lines)
	val := p.Series[1]
	want := []plot.Point{{X: 1, Y: 20, Low: 10, High: 30}, {X: 2, Y: 30, Low: 20, High: 40}, {X: 3, Y: 45, Low: 30, High: 60}}
	if diff := cmp.Diff(want, val.Points, closely); diff != "" {
		t.Errorf("val accuracy (-expected +found):\n%s", diff)
	}
	if val.Stop != 3 || val.Name != "val" {
		t.Errorf("expected a stop at epoch 3, found one at %g in %q", val.Stop, val.Name)
	}
}

func TestCurveOfOneEpochHasALineOfChance(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.1)
	f, d := only(t, root)
	series := curvesSection(f, d).Figures[0].Picture.(*plot.Lines).Series
	if chance := series[len(series)-1]; chance.Name != "chance" || chance.Points[0].X == chance.Points[1].X {
		t.Errorf("expected a line, found %+v", chance)
	}
}

func TestAblation(t *testing.T) {
	root := t.TempDir()
	writeAll(t, root)
	f, d := only(t, root)
	s := ablationSection(f, d)
	if len(s.Figures) != 1 || len(s.Notes) > 0 || len(s.Missing) > 0 {
		t.Fatalf("expected one picture and nothing missing, found %d, %q, %q", len(s.Figures), s.Notes, s.Missing)
	}
	p := s.Figures[0].Picture.(*plot.Dots)
	ours := plot.Row{Method: "semantic-hard", Marks: []plot.Condition{plot.Solid, plot.Solid, plot.Solid}, Emphatic: true}
	explicit := plot.Row{Method: "semantic-hard", Marks: []plot.Condition{plot.Solid, plot.Solid, plot.Dashed}}
	if diff := cmp.Diff([]plot.Row{ours, explicit}, p.Rows[:2]); diff != "" {
		t.Errorf("rows, best first (-expected +found):\n%s", diff)
	}
	first := p.Series[0].Dots[0]
	if math.Abs(first.Value-56) > 1e-9 || first.Text != "56.0 ± 1.0" {
		t.Errorf("expected 56.0 ± 1.0, found %+v", first)
	}
}

func TestAblationListsMissingRuns(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	if s := ablationSection(f, d); len(s.Missing) != 1 || !strings.HasPrefix(s.Missing[0].Command, "lago-train ablate --variant semantic-hard ") || len(s.Figures) > 0 {
		t.Errorf("expected the command for an ablation, found %q", s.Missing)
	}
	write(t, root, made(model.SemanticHard, train.Dev, 0, func(t *train.Trial) { t.Model.Complement = model.DeMorgan }), 0.4)
	s := ablationSection(f, d)
	if len(s.Figures) != 1 || len(s.Missing) != 1 || s.Missing[0].What != "6 runs of the ablation of semantic-hard" {
		t.Errorf("expected the picture of 2 designs without 6, found %d pictures and %q", len(s.Figures), s.Missing)
	}
	for _, c := range []model.Complement{model.Const, model.DeMorgan} { // another configuration has its own figure
		write(t, root, made(model.SemanticHard, train.Dev, 0, func(t *train.Trial) {
			t.Model.Complement, t.Training.LearningRate = c, 1
		}), 0.3)
	}
	f, d = only(t, root)
	s = ablationSection(f, d)
	if len(s.Figures) != 2 || s.Figures[0].Name == s.Figures[1].Name || !strings.Contains(s.Figures[0].Title+s.Figures[1].Title, "lr 1") {
		t.Fatalf("expected one labelled figure for each learning rate, found %d: %v", len(s.Figures), s.Figures)
	}
	if len(s.Missing) != 2 || !strings.Contains(s.Missing[0].Command+s.Missing[1].Command, "--lr 1 ") {
		t.Errorf("expected the command of each configuration, found %q", s.Missing)
	}
}

func TestAblationWithoutAFinishedRun(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	for _, c := range []model.Complement{model.Const, model.DeMorgan} {
		dir := write(t, root, made(model.SemanticHard, train.Dev, 0, func(t *train.Trial) { t.Model.Complement = c }), 0.5)
		writeFile(t, filepath.Join(dir, train.ResultFile), `{"status": "not finite", "error": "the term w2 is +Inf"}`)
	}
	f, d := only(t, root)
	s := ablationSection(f, d)
	if len(s.Figures) > 0 || len(s.Missing) != 1 || s.Missing[0].What != "8 runs of the ablation of semantic-hard" {
		t.Errorf("expected the missing runs and no picture, found %d pictures and %q", len(s.Figures), s.Missing)
	}
}

func TestAblationWithoutLAGOsDesign(t *testing.T) {
	root := t.TempDir()
	for seeds, prior := range []model.Prior{model.Uniform, model.PerAttribute} {
		for seed := range uint64(seeds + 1) {
			write(t, root, made(model.SemanticHard, train.Dev, seed, func(t *train.Trial) {
				t.Model.Prior, t.Model.Complement = prior, model.DeMorgan
			}), 0.5)
		}
	}
	f, d := only(t, root)
	figure := ablationSection(f, d).Figures[0]
	for _, row := range figure.Picture.(*plot.Dots).Rows {
		if row.Emphatic {
			t.Errorf("expected no shaded row, found %+v", row)
		}
	}
	if !strings.Contains(figure.Caption, "mean over 1 to 2 seeds") {
		t.Errorf("expected the seeds of both rows, found %q", figure.Caption)
	}
}

func TestPublishedNumbers(t *testing.T) {
	root := t.TempDir()
	cub := func(c model.Complement) func(*train.Trial) {
		return func(t *train.Trial) { t.Dataset, t.Model.Complement = "cub", c }
	}
	write(t, root, made(model.SemanticHard, train.Dev, 0, cub(model.Const)), 0.5)
	write(t, root, made(model.SemanticHard, train.Dev, 0, cub(model.DeMorgan)), 0.4)
	f, d := only(t, root)
	for _, s := range []Section{variantsSection(f, d), ablationSection(f, d)} {
		series := s.Figures[0].Picture.(*plot.Dots).Series
		if last := series[len(series)-1]; !strings.HasPrefix(last.Name, "published") || last.Dots[0].Value < 50 {
			t.Errorf("%s: expected what the paper has for cub, found %+v", s.Name, last)
		}
	}
}

// Runs of different settings are different lines, in the figure and in the table.
func TestSweepHasOneLinePerConfiguration(t *testing.T) {
	root := t.TempDir()
	other := func(t *train.Trial) { t.Training.Batch = 32 }
	for _, k := range []int{20, 1, 10} {
		write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = k }), 0.01*float64(k))
	}
	for _, k := range []int{1, 5} {
		write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K, t.Model.Beta = k, 1 }), 0.9)
	}
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 7; other(t) }), 0.5) // no other K
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.3)
	write(t, root, made(model.Singletons, train.Dev, 0, other), 0.8) // trained otherwise
	for i, alpha := range []float64{0.5, 0.7} {                      // of a search
		write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) { t.Model.Alpha, t.Model.Beta = alpha, 7 }), []float64{0.9, 0.1}[i])
	}
	f, d := only(t, root)
	s := ksweepSection(f, d)
	at := func(x, y float64) plot.Point { return plot.Point{X: x, Y: y, Low: y, High: y} }
	want := []plot.Series{
		{Name: "k-soft, beta 1", Look: plot.Look{Method: "k-soft"}, Measured: true, Points: []plot.Point{at(1, 90), at(5, 90)}},
		{Name: "k-soft, beta 1e-06", Look: plot.Look{Method: "k-soft", Condition: plot.Dashed}, Measured: true, Points: []plot.Point{at(1, 1), at(10, 10), at(20, 20)}},
		{Name: "singletons", Look: plot.Look{Method: "singletons"}, Points: []plot.Point{at(1, 30), at(20, 30)}},
	}
	if diff := cmp.Diff(want, s.Figures[0].Picture.(*plot.Lines).Series, closely); diff != "" {
		t.Errorf("series (-expected +found):\n%s", diff)
	}
	if n := len(s.Table.Rows); n != 6 || s.Table.Rows[5][0] != "singletons" {
		t.Errorf("expected the same in the table, found %q", s.Table.Rows)
	}
}

func TestNoise(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	for _, c := range []struct{ content, note string }{
		{`7`, "noise-birds-00000000.json: expected a result that lago-train stored"},
		{`{"dataset": "birds"}`, "noise-birds-00000000.json: expected methods and ratios, found 0 and 0"},
		{`{"dataset": "birds", "ratios": [0.1], "methods": [{"method": "eszsl"}]}`, "noise-birds-00000000.json: eszsl: expected an accuracy"},
	} {
		store(t, root, "noise", c.content)
		if s := noiseSection(f, d); len(s.Missing) != 1 || !strings.Contains(s.Missing[0].What, c.note) || len(s.Figures) > 0 {
			t.Errorf("%s: expected %q, found %q", c.content, c.note, s.Missing)
		}
	}
	writeAll(t, root)
	p := noiseSection(f, d).Figures[0].Picture.(*plot.Lines)
	want := []plot.Point{{X: 0, Y: 100, Low: 100, High: 100}, {X: 25, Y: 60, Low: 56, High: 64}}
	if diff := cmp.Diff(want, p.Series[0].Points, closely); diff != "" {
		t.Errorf("relative accuracy (-expected +found):\n%s", diff)
	}
}

func TestComparison(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	store(t, root, "compare", `{"methods": [{"name": "ale"}]}`)
	for split, note := range map[string]string{
		d.fingerprint: "compare-birds-00000000.json: ale: expected val, test and parts, found none",
		"fedcba98":    "LAGO and its baselines", // of this split
	} {
		of := &datasetRuns{name: d.name, fingerprint: split}
		if s := comparisonSection(f, of); len(s.Missing) != 1 || !strings.Contains(s.Missing[0].What, note) || len(s.Figures) > 0 {
			t.Errorf("%s: expected %q, found %q", split, note, s.Missing)
		}
	}
	writeAll(t, root)
	s := comparisonSection(f, d)
	p := s.Figures[0].Picture.(*plot.Dots)
	if diff := cmp.Diff([]plot.Row{{Name: "ESZSL", Method: "eszsl"}, {Name: "LAGO (k-soft)", Method: "k-soft", Emphatic: true}}, p.Rows); diff != "" {
		t.Errorf("rows (-expected +found):\n%s", diff)
	}
	want := []plot.Dot{{Row: 0, Value: 55, Text: "55.0"}, {Row: 1, Value: 50, Below: 6, Above: 7, Text: "50.0"}}
	if diff := cmp.Diff(want, p.Series[1].Dots, closely); diff != "" {
		t.Errorf("test accuracy (-expected +found):\n%s", diff)
	}
	if !strings.Contains(s.Figures[0].Caption, "1 to 2 seeds") {
		t.Errorf("expected the seeds of both methods, found %q", s.Figures[0].Caption)
	}
	s = rotationSection(f, d)
	want = []plot.Dot{{Row: 0, Value: -5, Below: 4, Above: 6, Text: "-5.0, p 0.03"}}
	if diff := cmp.Diff(want, s.Figures[1].Picture.(*plot.Dots).Series[0].Dots, closely); diff != "" {
		t.Errorf("differences (-expected +found):\n%s", diff)
	}
}

func TestPartial(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	store(t, root, "partial", `{"dataset": "birds", "given": "random", "shares": [1], "methods": [{"method": "eszsl"}]}`)
	if s := partialSection(f, d); len(s.Missing) != 1 || !strings.Contains(s.Missing[0].What, "each of the 1 shares, found 0 and 0") {
		t.Errorf("expected a note on a method without accuracy, found %q", s.Missing)
	}
	writeAll(t, root)
	s := partialSection(f, d)
	p := s.Figures[0].Picture.(*plot.Lines)
	want := []plot.Series{
		{Name: "eszsl", Look: plot.Look{Method: "eszsl"}, Measured: true, Points: []plot.Point{{X: 10, Y: 20, Low: 19, High: 21}, {X: 100, Y: 40, Low: 40, High: 40}}},
		{Name: "eszsl, inferred", Look: plot.Look{Method: "eszsl", Condition: plot.Dashed}, Measured: true, Points: []plot.Point{{X: 10, Y: 30, Low: 28, High: 32}, {X: 100, Y: 40, Low: 40, High: 40}}},
	}
	if diff := cmp.Diff(want, p.Series, closely); diff != "" {
		t.Errorf("series (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"method", "all given (%)", "100 % given (%)", "10 % given (%)"}, s.Table.Header); diff != "" {
		t.Errorf("header (-expected +found):\n%s", diff)
	}
}

func TestPartialOfTheStrongest(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.SemanticHard, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	strongest := strings.Replace(partially, "random", "strongest", 1)
	store(t, root, "partial", partially)
	store(t, root, "partial-strongest", strongest)
	writeFile(t, filepath.Join(root, "partial-strongest-birds-11111111.json"), storedForm(strongest))
	random, s := partialSection(f, d), strongestSection(f, d)
	if got := random.Figures[0].Name; got != "birds-partial" || random.Notes[0] != "From partial-birds-00000000.json." {
		t.Errorf("found %s, %q", got, random.Notes)
	}
	one := s.Figures[0]
	if one.Name != "birds-partial-strongest" || one.Title != "Accuracy with partial descriptions, strongest attributes first, birds" ||
		!strings.Contains(one.Caption, "over 2 random orders of equally strong attributes") {
		t.Errorf("found %+v", one)
	}
	if !strings.HasSuffix(s.Notes[0], ".json, the newest of 2.") {
		t.Errorf("found %q", s.Notes)
	}
}

func TestGammaIsSortedByTheStrongestGroup(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.5)
	write(t, root, made(model.KSoft, train.Dev, 1, nil), 0.7)
	f, d := only(t, root)
	s := groupsSection(f, d)
	if !strings.HasPrefix(s.Figures[0].Caption, "k-soft, seed 1; 3 attributes") {
		t.Errorf("expected the seed with the best val accuracy, found %q", s.Figures[0].Caption)
	}
	named := s.Figures[0].Picture.(*plot.Heat)
	if diff := cmp.Diff([]string{"bill (1)", "wing (2)"}, named.Rows); diff != "" {
		t.Errorf("named groups (-expected +found):\n%s", diff)
	}
	// softmax(10 (0.2, 0)), softmax(10 (0, 0.1)) and softmax(10 (0, 0.4)), by hand
	bill, red, white := 1/(1+math.Exp(2)), 1/(1+math.Exp(1)), 1/(1+math.Exp(4))
	want := [][]float64{{1 - bill, bill}, {(red + white) / 2, 1 - (red+white)/2}}
	if diff := cmp.Diff(want, named.Values, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("mean Gamma (-expected +found):\n%s", diff)
	}
	p := s.Figures[1].Picture.(*plot.Heat)
	if diff := cmp.Diff([]string{"bill: long", "wing: white", "wing: red"}, p.Rows); diff != "" {
		t.Errorf("rows (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]plot.Block{{Row: 0, Name: "0"}, {Row: 1, Name: "1"}}, p.Blocks); diff != "" {
		t.Errorf("blocks (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{white, 1 - white}, p.Values[1], cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("Gamma of wing: white (-expected +found):\n%s", diff)
	}
}

func TestGammaNamesTheGroupsOfSemanticSoft(t *testing.T) {
	root := t.TempDir()
	dir := write(t, root, made(model.SemanticSoft, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	blocks := groupsSection(f, d).Figures[1].Picture.(*plot.Heat).Blocks
	if diff := cmp.Diff([]plot.Block{{Row: 0, Name: "bill"}, {Row: 1, Name: "wing"}}, blocks); diff != "" {
		t.Errorf("blocks (-expected +found):\n%s", diff)
	}
	writeFile(t, filepath.Join(dir, train.ModelFile), "no model")
	if s := groupsSection(f, d); len(s.Notes) != 1 || !strings.Contains(s.Notes[0], dir) {
		t.Errorf("expected a note that names %s, found %q", dir, s.Notes)
	}
}

func TestClassesThatAreConfusedAreNeighbours(t *testing.T) {
	confusion := [][]float64{
		{0.6, 0, 0.4, 0},
		{0, 0.5, 0.1, 0.4},
		{0.4, 0, 0.6, 0},
		{0, 0.3, 0, 0.7},
	}
	if diff := cmp.Diff([]int{0, 2, 1, 3}, clustered(confusion)); diff != "" {
		t.Errorf("order (-expected +found):\n%s", diff)
	}
}

func TestConfusionIsOverSeeds(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	f, d := only(t, root)
	s := confusionSection(f, d)
	if len(s.Missing) == 0 || !strings.Contains(s.Figures[0].Caption, "2 val classes") {
		t.Errorf("expected the val classes, and a command for the test stage, found %q and %q", s.Figures[0].Caption, s.Missing)
	}
	for seed := range uint64(2) {
		write(t, root, made(model.Singletons, train.Test, seed, nil), 0.5)
	}
	f, d = only(t, root)
	p := confusionSection(f, d).Figures[0].Picture.(*plot.Heat)
	if diff := cmp.Diff([][]float64{{0.75, 0.25}, {1. / 3, 2. / 3}}, p.Values, closely); diff != "" {
		t.Errorf("shares (-expected +found):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"owl", "wren"}, p.Rows); diff != "" {
		t.Errorf("classes (-expected +found):\n%s", diff)
	}
}

func TestConfusionWithoutSamples(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Test, 0, nil), 0.5)
	_, d := only(t, root)
	d.test[0].runs[0].Result.Evaluation.Confusion = [][]int{{0, 0}, {1, 1}}
	if diff := cmp.Diff([][]float64{{0, 0}, {0.5, 0.5}}, confusionPicture(d.test[0]).Values); diff != "" {
		t.Errorf("shares (-expected +found):\n%s", diff)
	}
}

// What does not apply has no value, and the default ridge is no ridge of 0.
func TestSettingsThatDoNotApply(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.3)
	for i, chain := range []preprocess.Chain{preprocess.None, preprocess.Whiten, preprocess.Whiten} {
		write(t, root, made(model.Singletons, train.Dev, 0, func(t *train.Trial) {
			t.Preprocess, t.Ridge = chain, []float64{0, 0, 100}[i]
		}), 0.9-0.1*float64(i))
	}
	write(t, root, made(model.Singletons, train.Test, 0, epochs(3)), 0.5)
	write(t, root, made(model.Singletons, train.Test, 0, epochs(5)), 0.5)
	f, d := only(t, root)
	var labels []string
	for _, c := range d.configurations() {
		labels = append(labels, c.label)
	}
	want := []string{
		"singletons, preprocess none", "singletons, preprocess whiten, ridge auto", "singletons, preprocess whiten, ridge 100", "k-soft",
		"singletons, epochs 3", "singletons, epochs 5",
	}
	slices.Sort(labels[4:])
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("labels (-expected +found):\n%s", diff)
	}
	table := configurationsSection(f, d).Table
	var ridges, ks []string
	for _, row := range table.Rows[:4] {
		ridges = append(ridges, row[slices.Index(table.Header, "ridge")])
		ks = append(ks, row[slices.Index(table.Header, "k")])
	}
	if diff := cmp.Diff([][]string{{"–", "auto", "100", "–"}, {"–", "–", "–", "2"}}, [][]string{ridges, ks}); diff != "" {
		t.Errorf("ridges and k (-expected +found):\n%s", diff)
	}
}

func TestSettingsListWhatDiffers(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.2, 0.4)
	write(t, root, made(model.KSoft, train.Dev, 1, nil), 0.5, 0.3)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 7 }), 0.1)
	f, d := only(t, root)
	different, shared := configurationsSection(f, d).Table, sharedSection(f, d).Table
	if diff := cmp.Diff([]string{"variant", "stage", "accuracy (%)", "epochs run", "best epoch", "ended by", "k"}, different.Header); diff != "" {
		t.Errorf("header (-expected +found):\n%s", diff)
	}
	want := [][]string{{"k-soft", "dev", "45.0 ± 5.0", "2", "2, 1", "epochs", "2"}, {"k-soft", "dev", "10.0", "1", "1", "epochs", "7"}}
	if diff := cmp.Diff(want, different.Rows); diff != "" {
		t.Errorf("configurations (-expected +found):\n%s", diff)
	}
	if n := len(different.Runs[0]); n != 2 {
		t.Errorf("expected the runs of 2 seeds, found %d", n)
	}
	if !slices.ContainsFunc(shared.Rows, func(row []string) bool { return slices.Equal(row, []string{"beta", "1e-06"}) }) {
		t.Errorf("expected what all have in common, found %q", shared.Rows)
	}
}
