package studies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
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
