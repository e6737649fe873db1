package studies

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// The help and the documentation name each study, and no kind of results is of two.
func TestTextsNameEveryStudy(t *testing.T) {
	help, files := testkit.Read(t, "../../cmd/lago-train/help.txt"), testkit.Read(t, "../../docs/files.md")
	var names []string
	for _, s := range All {
		testkit.WantText(t, help, "\n# lago-train "+s.Command+"\n")
		for _, k := range s.Kinds {
			if !strings.HasPrefix(k.Command+" ", s.Command+" ") || k.Title == "" || k.Text == "" || slices.Contains(names, k.Name) {
				t.Errorf("%s: %+v", s.Command, k)
			}
			names = append(names, k.Name)
			testkit.WantText(t, files, k.Name)
		}
	}
}

// request has settings of a study as on the command line, "key=value", and those that make it short.
func request(t *testing.T, study results.Study, l *lab.Lab, given ...string) *config.Request {
	t.Helper()
	r := &config.Request{Out: l.Root}
	list := study.Settings(r)
	list.SetDefaults()
	for _, text := range append([]string{"dataset=" + l.Data.Name, "epochs=2", "batch=16"}, given...) {
		key, value, _ := strings.Cut(text, "=")
		a := setting.Assignment{Key: key, Text: value}
		if r.Given = append(r.Given, key); config.All().Has(key) {
			r.Assigned = append(r.Assigned, a)
		} else {
			testkit.NoError(t, list.Set(a))
		}
	}
	testkit.NoError(t, r.Resolve(t.Context(), false))
	if c, ok := study.(results.Checker); ok {
		testkit.NoError(t, c.Check(r))
	}
	return r
}

// Every study answers, or says what the data set lacks, where there are too few classes for a dev stage, and
// where it has one, two or three validation classes, or eight seen ones to take them from.
func TestStudiesOfFewClasses(t *testing.T) {
	const noneToChoose = "seen classes: expected at least 2 validation classes, or 8 seen classes to take them from"
	type asked struct{ command, settings string }
	list := []asked{
		{"reproduce", ""},
		{"ablate", ""},
		{"sweep-k", "ks=2"},
		{"noise", "ratios=0.5 noise_seeds=2"},
		{"search", "budget=2 folds=1"},
		{"compare", "methods=lago,eszsl tune=0 folds=1"},
		{"compare", "methods=singletons,eszsl tune=0 rotate=3 hold_out=true"},
		{"compare", "methods=singletons,eszsl tune=0 folds=1 hold_out=true"},
		{"compare", "methods=singletons tune=2 folds=2"},
		{"groups", ""},
		{"run", ""},
	}
	choose := list[:6]
	for classes, refused := range map[[2]int][]asked{{8, 2}: nil, {4, 3}: nil, {5, 2}: nil, {7, 1}: nil, {5, 1}: choose, {6, 0}: choose} { // of train and validation
		for _, a := range list {
			t.Run(fmt.Sprint(classes, a), func(t *testing.T) {
				d := tiny.Simulate(tiny.Spec{
					Name: "few", Samples: 160, Dims: 16, Attributes: 9, Groups: 3, TrainClasses: classes[0], ValClasses: classes[1], TestClasses: 4,
				})
				d.TestSeen = catalog.HoldOut(d, d.Split)
				l := lab.New(d, t.TempDir())
				study := All[slices.IndexFunc(All, func(e Entry) bool { return e.Command == a.command })].New()
				given := strings.Fields(a.settings)
				if a.command != "search" {
					given = append(given, "seeds=1")
				}
				r := request(t, study, l, given...)
				if r.Rotate > 0 {
					testkit.NoError(t, l.Rotate(r.Rotate, r.RotateSeed, r.Presets[0].HoldOut))
				}
				if slices.Contains(refused, a) {
					_, err := results.Ask(t.Context(), study, r, l)
					testkit.WantError(t, err, noneToChoose)
					return
				}
				found := testlab.Ask[results.Result](t, l, study, r)
				testkit.Must(found.Figures(l.Root))(t)
				testkit.WantText(t, testlab.Text(found.Tables()), " on few")
			})
		}
	}
}

const testBudget = 6

// The file has the best settings for the test stage, with the epochs of all seeds: it
// makes the trials of the result, which run.
func TestChosenSettings(t *testing.T) {
	l := testlab.New(t)
	c := &Search{Budget: testBudget, Folds: 2, File: filepath.Join(t.TempDir(), "found.json")}
	s := testlab.Ask[*FoundSettings](t, l, c, testlab.Request(testlab.Config(l, config.DevThenTest, model.SemanticHard)))
	testkit.NoError(t, fileio.Write(c.File, c.Files(s)[0].Write))
	if len(s.Tried) != testBudget || len(s.Missing) > 0 || s.Tried[1].Final == nil || s.Tried[2].Final != nil {
		t.Fatalf("%d settings, missing %v", len(s.Tried), s.Missing)
	}
	testkit.Equal(t, "accuracy of the best", s.Chosen.Accuracy, *s.Tried[0].Final)
	given := testkit.Must(config.ReadFile(t.Context(), c.File))(t)
	p := testkit.Must(config.Resolve(given, config.PresetFor))(t)
	testkit.Equal(t, "stage, epochs, data", []any{p.Stage, p.Epochs, p.ChosenOn}, []any{config.OnlyTest, s.Chosen.Epochs, l.Fingerprint})
	want, got := s.Chosen.Config.Trials(l.Data, l.Fingerprint, train.Test, p.Epochs), p.Trials(l.Data, l.Fingerprint, train.Test, p.Epochs)
	for i, r := range testkit.Must(l.Do(t.Context(), got))(t) {
		testkit.Equal(t, "trial of the file", got[i].Name(), want[i].Name())
		testkit.Equal(t, "missing", r.Missing, nil)
	}
	for key, value := range s.Tried[0].Settings {
		testkit.Equal(t, key+" in the file", testkit.Must(p.Settings().Find(key))(t).Value(), value)
	}
	s.Budget++ // as if the space had no more
	testkit.WantText(t, testlab.Text(s.Tables()), "the best 6 of 6 settings by validation accuracy, the mean over 2 folds",
		"--budget 7: there are no more settings", "chosen: the first, "+s.Chosen.Accuracy.MeanText(), "  lago-train run --config "+format.ShellLine(c.File)+"\n")
}

// The errors name the folder of a run that failed.
func TestSearchesThatFail(t *testing.T) {
	l := testlab.New(t)
	start := testlab.Config(l, config.DevThenTest, model.SemanticHard)
	c, r := &Search{Budget: testBudget, Folds: 2}, testlab.Request(start.With("lr", 1e38))
	r.Given = []string{"lr"}
	testkit.Fails(results.Ask(t.Context(), c, r, l))(t, "none of the settings has a model; the first that failed, "+l.Root)

	r = testlab.Request(start)
	s := testlab.Ask[*FoundSettings](t, l, c, r)
	for _, best := range s.Tried[:2] {
		trial := lab.DevTrials(best.Config, testkit.Must(l.Folds(l.Parts[0], 2))(t)[:1], 1, s.Epochs)[0]
		dir := filepath.Join(l.Root, "splits", trial.Name())
		testkit.NoError(t, trial.WriteResult(dir, &train.Result{Status: train.NotFinite, Error: "CXE is NaN"}, nil))
	}
	testkit.Fails(results.Ask(t.Context(), c, r, l))(t, "none of the best settings has a model with each of 3 seeds; the last that failed, "+l.Root, ": CXE is NaN")
}
