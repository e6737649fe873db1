package report

import (
	"testing"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

func epochs(n int) func(*train.Trial) {
	return func(t *train.Trial) { t.Training.Epochs, t.Training.Patience = n, n }
}

// The test accuracy has no influence on the choice.
func TestChoiceIsByValAccuracy(t *testing.T) {
	root := t.TempDir()
	seven := func(t *train.Trial) { t.Model.K = 7 }
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.8)
	write(t, root, made(model.KSoft, train.Test, 0, nil), 0.1)
	write(t, root, made(model.KSoft, train.Dev, 0, seven), 0.7)
	write(t, root, made(model.KSoft, train.Test, 0, seven), 0.9)
	_, d := only(t, root)
	c := d.choices()
	if len(c) != 1 || c[0].dev.trial().Model.K != 2 || c[0].test.trial().Model.K != 2 {
		t.Errorf("expected k 2 in both stages, found %+v", c)
	}
}

// A trial of a search, which is not evaluated on the test classes, does not hide the test
// accuracy of others.
func TestChoiceHasTestRuns(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.KSoft, train.Dev, 0, nil), 0.7)
	write(t, root, made(model.KSoft, train.Test, 0, epochs(1)), 0.6)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 7 }), 0.8)
	write(t, root, made(model.KSoft, train.Dev, 0, func(t *train.Trial) { t.Model.K = 9 }), 0.5)
	f, d := only(t, root)
	s := variantsSection(f, d)
	if got := s.Table.Rows[0]; got[0] != "k-soft, k 2" || got[3] != "60.0" || got[6] != "3" {
		t.Errorf("expected k 2 of 3 configurations, found %q", got)
	}
	if len(s.Notes) != 1 || s.Notes[0] != "k-soft, k 7 has a higher validation accuracy, 80.0 %, but was not evaluated on the test classes." {
		t.Errorf("expected a note on k 7, found %q", s.Notes)
	}
}

func TestTestRunsHaveTheEpochsOfTheDevStage(t *testing.T) {
	for _, ran := range [][]int{{3, 9}, {9, 3}} {
		root := t.TempDir()
		write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.1, 0.2, 0.3, 0.2)
		for _, n := range ran {
			write(t, root, made(model.Singletons, train.Test, 0, epochs(n)), 0.5)
		}
		_, d := only(t, root)
		if got := d.choices()[0].test.trial().Training.Epochs; got != 3 {
			t.Errorf("expected the trials of 3 epochs, found those of %d", got)
		}
	}
}

func TestTestRunsOfOtherSettingsAreNotUsed(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Dev, 0, nil), 0.5)
	write(t, root, made(model.Singletons, train.Test, 0, func(t *train.Trial) { t.Model.Beta = 1 }), 0.5)
	_, d := only(t, root)
	if c := d.choices(); c[0].test != nil {
		t.Errorf("expected no test trials of these settings, found %s", c[0].test.label)
	}
}

func TestVariantWithTestRunsOnly(t *testing.T) {
	root := t.TempDir()
	write(t, root, made(model.Singletons, train.Test, 0, nil), 0.5)
	f, d := only(t, root)
	s := variantsSection(f, d)
	if got := s.Table.Rows[0]; got[1] != absent || got[2] != absent || got[3] != "50.0" {
		t.Errorf("expected a test accuracy alone, found %q", got)
	}
	if n := len(read(t, root).Figures()); n != 2 { // variants and confusion
		t.Errorf("expected 2 pictures, found %d", n)
	}
}
