package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
)

func spaceOf(v model.Variant, attributes int, fixed ...string) space {
	return newSpace(config.Defaults(methods.Variant(v)), attributes, fixed)
}

// same reports whether two configurations have the same settings.
func same(a, b config.Config) bool { return cmp.Equal(a.Settings().Values(), b.Settings().Values()) }

// Every listed value is drawn before long, whatever the seed, and nothing else. A larger
// budget starts with the draws of a smaller one.
func TestDraws(t *testing.T) {
	const draws = 60
	s, base := spaceOf(model.KSoft, 35), config.Defaults(methods.Variant(model.KSoft))
	for seed := range uint64(3) {
		configs := s.draw(base, draws, rand.NewPCG(seed, 0))
		for _, d := range s {
			got := map[any]bool{}
			for _, c := range configs {
				got[c.Value(d.key)] = true
			}
			for _, v := range d.values {
				want := base.With(d.key, v).Value(d.key)
				if !got[want] {
					t.Fatalf("%s: %v is not drawn", d.key, want)
				}
				delete(got, want)
			}
			if len(got) > 0 {
				t.Fatalf("%s: drew %v, which is not of %v", d.key, got, d.values)
			}
		}
		if !slices.EqualFunc(configs[:9], s.draw(base, 9, rand.NewPCG(seed, 0)), same) {
			t.Fatal("9 draws are not the first of more")
		}
		if slices.EqualFunc(configs, s.draw(base, draws, rand.NewPCG(seed+1, 0)), same) {
			t.Fatal("another seed draws the same")
		}
	}
	if got := (space{}).draw(base, 7, rand.NewPCG(0, 0)); len(got) != 1 || !same(got[0], base) {
		t.Errorf("drew %+v of nothing", got)
	}
}

func TestEdges(t *testing.T) {
	c := config.Defaults(methods.Variant(model.KSoft)).With("lr", 3e-3).With("bias_factor", 3).With("alpha", 0.1).With("preprocess", preprocess.None).
		With("ridge", 1e2).With("beta", 1e-6).With("lambda", 0).With("lr_v", 0.1).With("zeta", 1).With("k", 30)
	lr, zeta := Edge{"lr", 3e-3, "highest"}, Edge{"zeta", 1.0, "lowest"} // nothing is below a lambda of 0
	for name, one := range map[string]struct {
		config.Config
		want []Edge
	}{
		"not whitened":           {c, []Edge{lr, zeta}},
		"whitened":               {c.With("preprocess", preprocess.Whiten), []Edge{lr, {"ridge", 1e2, "lowest"}, zeta}},
		"a ridge by the data":    {c.With("preprocess", preprocess.Whiten).With("ridge", 0), []Edge{lr, zeta}},
		"highest number of k":    {c.With("lr", 1e-4).With("zeta", 3).With("k", 60), []Edge{{"k", 60, "highest"}}},
		"between listed numbers": {c.With("lr", 1.7e-5).With("zeta", 3), []Edge{}},
	} {
		testkit.Equal(t, name, spaceOf(model.KSoft, 312).edges(one.Config), one.want)
	}
	// With a single attribute there is one number of groups, which is no edge.
	if e := spaceOf(model.KSoft, 1).edges(c.With("lr", 1e-4).With("zeta", 3).With("k", 1)); len(e) > 0 {
		t.Errorf("found %v", e)
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
		if total != settings || b.coarse < 1 || slices.Min(b.refined[:]) < 0 {
			t.Fatalf("%+v of %d", b, settings)
		}
	})
	for settings, want := range map[int]budget{
		4:  {3, [refiningRounds]int{1}},
		24: {12, [refiningRounds]int{6, 6}}, // as the help says
	} {
		if got := divide(settings); got != want {
			t.Errorf("of %d: %+v, expected %+v", settings, got, want)
		}
	}
}

// From every start, a search tries each correction that the scores of its method can have, and the same
// settings beside it: LAGO, as DAP, whose scores are logarithms too, has seven.
func TestCorrectionsFromEveryStart(t *testing.T) {
	folds, want := []lab.View{{Data: tiny.Small()}}, map[string]int{"dap": 7, "iap": 7}
	var starts []methods.Named
	for _, v := range model.Variants {
		starts, want[string(v)] = append(starts, methods.Variant(v)), 7
	}
	for _, e := range methods.All[1:] {
		starts = append(starts, e.Default())
	}
	for _, m := range starts {
		of := testkit.Must(methods.Find(m.Name))(t)
		first := newSearch(config.Defaults(m), folds, 100, nil, of)
		testkit.Equal(t, "corrections of "+m.Label(), len(first.corrections), max(want[m.Label()], 4))
		testkit.Equal(t, m.Label()+" is tried for fewer epochs", first.epochs < first.base.DevEpochs(), of.Seeded)
		for _, c := range m.Corrections() {
			s := newSearch(config.Defaults(m).WithCorrection(c), folds, 100, nil, of)
			testkit.Equal(t, fmt.Sprintf("%s from %v: corrections", m.Label(), c), s.corrections, first.corrections)
			testkit.Equal(t, fmt.Sprintf("%s from %v: settings", m.Label(), c), s.searched, first.searched)
			for _, key := range methods.CorrectionKeys {
				if now := s.base.Settings(); len(testkit.Must(now.Find(key))(t).Search) == 0 {
					t.Errorf("%s from %v: no values of %s", m.Label(), c, key)
				}
			}
		}
	}
}
