package studies

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// preset is the general defaults with a configuration that takes milliseconds.
func preset(l *lab.Lab, stage config.Stages) config.Preset {
	c := testlab.Config(l, stage, model.SemanticHard).With("lr", 0.1)
	p := config.PresetFor(c.Dataset, c.Method)
	p.Config = c
	return p
}

func askMethod(t *testing.T, l *lab.Lab, p config.Preset) *MethodAccuracy {
	t.Helper()
	return testlab.Ask[*MethodAccuracy](t, l, &Method{}, &config.Request{Presets: []config.Preset{p}})
}

// The result of each stage is that of its runs, is stored, and is the same when the runs are
// reused, except for what says so.
func TestRun(t *testing.T) {
	for stage, runs := range map[config.Stages]int{config.OnlyDev: 2, config.OnlyTest: 2, config.DevThenTest: 4} {
		l := testlab.New(t)
		chosen := 0
		l.OnStep = func(string) { chosen++ }
		r := askMethod(t, l, preset(l, stage))
		byStage := map[train.Stage][]float64{}
		for _, dir := range r.RunDirs {
			run, err := lab.ReadRun(dir)
			testkit.NoError(t, err)
			byStage[run.Stage] = append(byStage[run.Stage], run.Evaluation.PerClass)
		}
		for name, m := range map[train.Stage]*results.Measured{train.Dev: r.Val, train.Test: r.Test} {
			switch values := byStage[name]; {
			case (m == nil) != (values == nil):
				t.Errorf("%s: %s has runs %v, and the result %v", stage, name, values, m)
			case m != nil && (!slices.Equal(m.PerClass.Values, values) || m.Classes != 4 || m.PerClass.Mean <= m.Chance()):
				t.Errorf("%s: %s has %+v, expected %v over 4 classes, above chance", stage, name, m, values)
			}
		}
		hasDev := min(len(byStage[train.Dev]), 1)
		if len(r.RunDirs) != runs || r.Reused != 0 || chosen != hasDev || (r.Adaptation != nil) != (hasDev > 0) {
			t.Errorf("%s: found %+v, chosen %d times", stage, r, chosen)
		}
		testkit.WantNoText(t, testlab.Text(r.Tables()), "; chance: ")
		l.OnStep = func(step string) { t.Errorf("%s again", step) }
		l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Dir) }
		again := askMethod(t, l, preset(l, stage))
		testkit.Equal(t, fmt.Sprint("reused by ", stage), again.Reused, runs)
		testkit.Equal(t, fmt.Sprint("again ", stage), again, r, cmpopts.IgnoreFields(MethodAccuracy{}, "Config", "Reused"))
		last, stageName, adapted := r.Val, "validation", "+25.0 points on the validation classes (95 %: 5.0 to 55.0)"
		if r.Test != nil {
			last, stageName = r.Test, "test"
		}
		if adapted = "\npredict --adapt, with many unlabelled samples: " + adapted; hasDev == 0 {
			adapted = ""
		}
		again.Follow("latest", "")
		text := testlab.Text(again.Tables())
		testkit.WantText(t, text, fmt.Sprintf("%d runs (%d reused) in ", runs, runs), "│ "+besideLAGO+" ",
			fmt.Sprintf("\n%s: %s on 4 ", stageName, last.PerClass.MeanText()), "; chance: 25.0 %)\n", adapted,
			"\nmethod: semantic-hard, the default for data with attribute groups; ", "\nsettings: epochs 4, lr 0.1, batch 16; otherwise defaults\n", "\nnext: lago-train ")
		testkit.Equal(t, "explained", strings.Contains(text, "by attributes and their groups: lago-train explain --model latest --sample "), r.Test != nil)
		curve := again.Learning
		among := fmt.Sprintf(" among %d training classes", map[bool]int{true: 8, false: 12}[hasDev > 0])
		testkit.WantText(t, text, fmt.Sprintf("\n  epoch 1%s: loss %.2f (W); accuracy %s%s", map[bool]string{true: ", chosen"}[hasDev > 0 && r.Epochs == 1], curve.Epochs[0].Phases[0].Loss, format.Percent(curve.Epochs[0].TrainAccuracy), among), "\n  epoch 4, the last: ")
		testkit.Equal(t, "validation in the curve", strings.Contains(text, among+", ") && strings.Contains(text, " among 4 validation classes"), hasDev > 0)
	}
}

// The difference from ESZSL is that over the same classes. Only if its interval leaves 0 out, and p is small, is a
// method said to be more accurate.
func TestRanking(t *testing.T) {
	l := testlab.New(t)
	r := askMethod(t, l, preset(l, config.DevThenTest))
	testkit.Equal(t, "difference", *r.Difference, metrics.PairedDifference(r.Test.ByClass, r.ESZSL.ByClass))
	for want, d := range map[string][]float64{
		"+2.0 points (95 %: -1.0 to 5.0); they cannot be ranked on 4 classes":                {2, -1, 5, 0.01},
		"+2.0 points (95 %: 1.0 to 5.0); they cannot be ranked on 4 classes (p 0.12)":        {2, 1, 5, 0.125},
		"+2.0 points (95 %: 1.0 to 5.0); LAGO (semantic-hard) is more accurate here":         {2, 1, 5, 0.01},
		"-2.0 points (95 %: -5.0 to -1.0); ESZSL is more accurate here: take --method eszsl": {-2, -5, -1, 0.01},
	} {
		r.Difference = &metrics.Difference{Mean: d[0] / 100, Interval: metrics.Interval{Low: d[1] / 100, High: d[2] / 100}, P: d[3]}
		testkit.WantText(t, testlab.Text(r.Tables()), "LAGO (semantic-hard) minus ESZSL (defaults): "+want+"\n")
	}
	r.Difference = nil // as an older version stored it
	testkit.WantNoText(t, testlab.Text(r.Tables()), "minus")
}

// ESZSL beside LAGO has its own correction, unless LAGO has none.
func TestCorrectionBesideLAGO(t *testing.T) {
	l := testlab.New(t)
	p := preset(l, config.OnlyDev)
	for kind, want := range map[model.CorrectionKind]model.CorrectionKind{
		model.Subtract: model.Standardise, model.Standardise: model.Standardise, model.NoCorrection: model.NoCorrection,
	} {
		p.Config = p.WithCorrection(model.Correction{Kind: kind, Omega: 0.5})
		plan := testkit.Must(new(Method).Plan(&config.Request{Presets: []config.Preset{p}}, l))(t)
		testkit.Equal(t, "beside "+string(kind), plan.Arms[1].Starts[0].Correction.Kind, want)
	}
}

func TestBestEpochThatIsTheLastAllowed(t *testing.T) {
	const note = "more epochs may be better (--epochs)"
	l := testlab.New(t)
	p := preset(l, config.OnlyDev)
	p.Epochs = 1
	r := askMethod(t, l, p)
	testkit.WantText(t, testlab.Text(r.Tables()), "the best epoch, 1, is the last one allowed", note)
	for i := range r.Val.Status {
		r.Val.Status[i] = train.Converged
	}
	testkit.WantNoText(t, testlab.Text(r.Tables()), note) // a run that converged needs no more epochs
}

func TestRunNamesTheFolderOfAFailedSeed(t *testing.T) {
	l := testlab.New(t)
	p := preset(l, config.OnlyDev)
	p.Config = p.With("lr", 1e38)
	_, err := results.Ask(t.Context(), &Method{}, &config.Request{Presets: []config.Preset{p}}, l)
	testkit.WantError(t, err, filepath.Join(l.Root, p.Trials(l.Data, l.Fingerprint, train.Dev, p.Epochs)[0].Name()))
	l.Data.Groups = nil
	_, err = results.Ask(t.Context(), &Method{}, &config.Request{Presets: []config.Preset{preset(l, config.OnlyDev)}}, l)
	testkit.WantError(t, err, "method: expected one that the data set allows, found semantic-hard: the data set has no attribute groups",
		"Without groups, the variants singletons", "and all baselines work.")
}

func TestReproduce(t *testing.T) {
	l, paper := testlab.New(t), model.VariantsWith(func(v model.VariantInfo) bool { return v.Paper })
	r := testlab.Ask[*PaperTables](t, l, &Reproduction{}, testlab.Request(config.Config{}, testlab.Full(l, paper...)...))
	var titles []string
	for _, row := range r.Methods {
		if titles = append(titles, row.Title); row.Variant != "" && row.Val.PerClass.Mean > r.Result.Val.PerClass.Mean {
			t.Errorf("%s has %g on the validation classes, %s was chosen with %g", row.Title, row.Val.PerClass.Mean, r.Result.Title, r.Result.Val.PerClass.Mean)
		}
	}
	testkit.Equal(t, "methods", titles, []string{"ESZSL", "singletons", "semantic-hard", "k-soft", "semantic-soft"})
	testkit.Equal(t, "missing runs, and figures", []int{len(r.Missing), len(testkit.Must(r.Figures(""))(t))}, []int{0, 1})
}

// Neither the test accuracy nor ESZSL affects the choice.
func TestChosenByValidationAccuracyAlone(t *testing.T) {
	row := func(v model.Variant, val, test float64) results.Method {
		return results.Method{Variant: string(v), Val: results.Measured{PerClass: lab.Summarise([]float64{val})}, Test: results.Measured{PerClass: lab.Summarise([]float64{test})}}
	}
	eszsl := row("", 0.9, 0.9)
	got := chosen([]results.Method{eszsl, row(model.Singletons, 0.4, 0.8), row(model.KSoft, 0.5, 0.1), row(model.SemanticSoft, 0.5, 0.7)})
	testkit.Equal(t, "the first of the best validation accuracy", got.Variant, string(model.KSoft))
	testkit.Equal(t, "of none", chosen([]results.Method{eszsl}), nil)
}

// Published numbers of baselines were made without the held-out samples of seen classes,
// those of LAGO with them.
func TestBaselinesAreTrainedAsTheirPublishedNumbers(t *testing.T) {
	data := testlab.New(t).Data
	heldOut := data.SamplesOf(data.Split.Train)[:3]
	slices.Sort(heldOut)
	for name, c := range map[string]struct {
		dataset string
		heldOut []int
		all     bool // --hold-out
		rotate  int
		want    bool
	}{
		"published":           {"AWA2", heldOut, false, 0, true},
		"for all methods":     {"AWA2", heldOut, true, 0, false},
		"in a rotation":       {"AWA2", heldOut, false, 4, false},
		"nothing is held out": {"AWA2", nil, false, 0, false},
		"own data":            {"own", heldOut, false, 0, false},
	} {
		d := *data
		d.Name, d.TestSeen = c.dataset, c.heldOut
		testlab.Cover(t, &d)
		l := lab.New(&d, t.TempDir())
		configs := testlab.Full(l, model.Singletons)
		configs[0].HoldOut = c.all
		if c.rotate > 0 {
			testkit.NoError(t, l.Rotate(c.rotate, 0, false))
		}
		q := &Reproduction{}
		for _, arm := range testkit.Must(q.Plan(testlab.Request(config.Config{}, configs...), l))(t).Arms {
			if want := c.all || c.want && arm.Name == eszsl; q.Apart != c.want || arm.Starts[0].HoldOut != want {
				t.Errorf("%s: without the held-out samples %s %v, expected %v", name, arm.Name, arm.Starts[0].HoldOut, want)
			}
		}
	}
}

// The next commands have what the model does not know: the path of its data, and the folder of data sets.
func TestNextCommands(t *testing.T) {
	l := testlab.New(t)
	r := askMethod(t, l, preset(l, config.DevThenTest))
	for _, c := range []struct {
		dataset, data string
		classes       int
		next, explain string
	}{
		{"birds", "", 4, "evaluate --model latest", "explain --model latest --sample 120"},
		{"./birds", "", 4, "evaluate --model latest --dataset ./birds", "explain --model latest --sample 120 --dataset ./birds"},
		{"birds", "x y", 1, "predict --model latest --candidates all --dataset birds --data-dir 'x y'", ""},
		{"birds", "", 0, "search --method semantic-hard --dataset birds", ""},
	} {
		if r.Next, r.Explain, r.Config.Dataset, r.Test.Classes = "", "", c.dataset, c.classes; c.classes == 0 {
			r.Test = nil
		}
		r.Follow("latest", c.data)
		text, _ := r.Headline()
		testkit.Equal(t, "a headline", text != "", c.classes > 1) // on 1 class no accuracy can be measured
		testkit.Equal(t, "next", []string{r.Next, r.Explain}, []string{"lago-train " + c.next, strings.TrimSuffix("lago-train "+c.explain, "lago-train ")})
	}
}
