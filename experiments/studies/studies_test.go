package studies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
// where it has two validation classes.
func TestStudiesOfFewClasses(t *testing.T) {
	const noneToChoose = "seen classes: expected validation classes, or at least 8 seen classes to take them from"
	given := map[string][]string{
		"run": {"seeds=1"}, "reproduce": {"seeds=1"}, "ablate": {"seeds=1"}, "sweep-k": {"seeds=1", "ks=2"}, "groups": {"seeds=1"},
		"compare": {"seeds=1", "methods=lago,eszsl", "tune=0", "folds=1"}, "noise": {"seeds=1", "ratios=0.5", "noise_seeds=2"}, "search": {"budget=2", "folds=1"},
	}
	for classes, refused := range map[[2]int]map[string]string{ // of train and validation
		{8, 2}: {},
		{4, 2}: {},
		{6, 0}: {"ablate": noneToChoose, "sweep-k": noneToChoose, "search": noneToChoose, "compare": noneToChoose, "noise": noneToChoose, "reproduce": noneToChoose},
	} {
		for _, entry := range All {
			t.Run(fmt.Sprint(classes, " ", entry.Command), func(t *testing.T) {
				l := lab.New(tiny.Simulate(tiny.Spec{
					Name: "few", Samples: 160, Dims: 16, Attributes: 9, Groups: 3, TrainClasses: classes[0], ValClasses: classes[1], TestClasses: 4,
				}), t.TempDir())
				study := entry.New()
				r := request(t, study, l, given[entry.Command]...)
				if want := refused[entry.Command]; want != "" {
					_, err := results.Ask(t.Context(), study, r, l)
					testkit.WantError(t, err, want)
					return
				}
				found := testlab.Ask[results.Result](t, l, study, r)
				testkit.Must(found.Figures(l.Root))(t)
				testkit.WantText(t, testlab.Text(found.Tables()), " on few")
			})
		}
	}
}
