package tuning

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/kernelalign"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Every method tries the same number of different settings. Those that make no difference do
// not count; its defaults, or the fixed settings, are the first.
func TestEachMethodTriesTheSameNumberOfSettings(t *testing.T) {
	l := testlab.Simulated(t)
	fixed, err := ParseFixed("kernel.kernel=linear")
	if err != nil {
		t.Fatal(err)
	}
	const budget = 12
	c := Config{
		Methods: append([]string{LAGOMethod}, methods.Names()...), Budget: budget, Folds: 2, Fixed: []Fixed{fixed}, Given: []string{"seed"},
		Common: protocol.PresetFor(l.Data.Name, model.SemanticHard).Config,
		LAGO:   []protocol.Config{protocol.PresetFor(l.Data.Name, model.SemanticHard).Config},
	}
	contenders, searchers, err := c.contenders(l, &Methods{})
	if err != nil || len(contenders) != len(searchers) {
		t.Fatalf("%d contenders, %d searchers, %v", len(contenders), len(searchers), err)
	}
	for _, s := range searchers {
		seen := map[train.Trial]bool{}
		first := s.coarse()
		// All that were tried are as good, so that refining takes neighbours of each.
		for _, one := range first.candidates {
			s.tried = append(s.tried, tried{candidate: one})
		}
		all := first.candidates
		for _, n := range s.budget.refined {
			all = append(all, s.refine(n).candidates...)
		}
		for _, one := range all {
			trials := s.trialsOf(batch{candidates: []candidate{one}, seeds: 1})
			if len(trials) != 2 || trials[0].Fingerprint == trials[1].Fingerprint {
				t.Fatalf("%s: trials %+v, expected one for each of two folds", s.name, trials)
			}
			if seen[trials[0]] {
				t.Errorf("%s: %+v is tried twice", s.name, trials[0])
			}
			seen[trials[0]] = true
			if k, ok := one.spec.Settings.(kernelalign.Config); ok && k.Kernel != kernelalign.Linear {
				t.Errorf("the fixed kernel became %s", k.Kernel)
			}
		}
		if len(all) != budget {
			t.Errorf("%s: %d settings, expected %d", s.name, len(all), budget)
		}
		if all[0] != s.base {
			t.Errorf("%s: the first is %+v, expected the defaults", s.name, all[0])
		}
	}
}

// A search from a preset tries the general defaults, too, in the settings that it varies, and a
// search from the general defaults features without preprocessing.
func TestSearchFirstSettings(t *testing.T) {
	l := testlab.Simulated(t)
	preset := protocol.PresetFor("cub", model.SemanticHard).Config
	s := newSearcher("semantic-hard", candidate{config: preset}, l.Parts, 4, 0, []string{"beta"})
	second, general := s.coarse().candidates[1].config, protocol.DefaultsOf(model.SemanticHard).On(l.Data)
	if second.LR != general.LR || second.Preprocess != general.Preprocess || second.Alpha != general.Alpha || second.Beta != preset.Beta || second.Dataset != "cub" {
		t.Errorf("the second is %+v, expected the defaults %+v with the fixed beta", second, general)
	}
	want := general
	want.Preprocess = preprocess.None
	for _, c := range []struct {
		fixed []string
		want  bool
	}{{nil, true}, {[]string{"preprocess"}, false}} {
		s = newSearcher("semantic-hard", candidate{config: general}, l.Parts, 4, 0, c.fixed)
		if got := s.coarse().candidates[1].config; (got == want) != c.want {
			t.Errorf("with fixed %q the second is %+v; found %+v: expected %v", c.fixed, got, want, c.want)
		}
	}
}

// The settings of one kernel are inert with another.
func TestInertSettingsAreEqual(t *testing.T) {
	m, err := methods.Find("kernel")
	if err != nil {
		t.Fatal(err)
	}
	c := baselineCandidate(m, protocol.Config{})
	set := func(c candidate, name, value string) candidate {
		if c.spec, err = c.spec.Set(name, []byte(value)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	linear := set(c, "kernel", `"linear"`)
	for _, one := range []struct {
		kernel, name, value string
		inert               bool
	}{
		{`"linear"`, "sigma", "0.5", true},
		{`"linear"`, "ort", "false", true},
		{`"linear"`, "degree", "3", true},
		{`"linear"`, "beta", "3", false},
		{`"gaussian"`, "sigma", "0.5", false},
		{`"gaussian"`, "degree", "3", true},
		{`"polynomial"`, "degree", "3", false},
		{`"polynomial"`, "sigma", "0.5", true},
	} {
		a := set(linear, "kernel", one.kernel)
		b := set(a, one.name, one.value)
		if equal := a.spec.Canonical() == b.spec.Canonical(); equal != one.inert {
			t.Errorf("%s with %s %s: equal is %v", one.kernel, one.name, one.value, equal)
		}
	}
}

func TestSearchBudgetIsSpent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		settings := rapid.IntRange(1, 1000).Draw(t, "budget")
		b := divide(settings)
		total := b.coarse
		for _, n := range b.refined {
			total += n
		}
		if total != settings || b.coarse < 1 || slices.Min(b.refined[:]) < 0 || b.best < 1 || b.best > 5 || b.best > settings {
			t.Fatalf("%+v of %d", b, settings)
		}
	})
	for settings, want := range map[int]budget{
		4:  {3, [refiningRounds]int{1}, 1},
		24: {12, [refiningRounds]int{3, 3, 3, 3}, 3}, // as the help says
	} {
		if diff := cmp.Diff(want, divide(settings), cmp.AllowUnexported(budget{})); diff != "" {
			t.Errorf("of %d (-want +got):\n%s", settings, diff)
		}
	}
}

// A mistyped method gets its nearest name, in --methods and in --set.
func TestMistypedMethods(t *testing.T) {
	_, err := ParseFixed("ezsl.gamma=1")
	for _, err := range []error{Config{Methods: []string{"ezsl"}}.Check(), err} {
		if err == nil || !strings.HasSuffix(err.Error(), `found "ezsl". Did you mean eszsl?`) {
			t.Errorf("error %v, expected a suggestion of eszsl", err)
		}
	}
	if f, err := ParseFixed("ESZSL.gamma=1"); err != nil || f.Method != "eszsl" {
		t.Errorf("found %+v and error %v, expected the method eszsl", f, err)
	}
}
