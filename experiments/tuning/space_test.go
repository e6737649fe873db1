package tuning

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

func names(s space) []string {
	var list []string
	for _, d := range s {
		list = append(list, d.key)
	}
	return list
}

func lagoSpace(v model.Variant, attributes int, fixed ...string) space {
	return candidate{config: protocol.Config{Variant: v}}.searchSpace(attributes, fixed)
}

func TestSearchSpaceHasWhatTheVariantUses(t *testing.T) {
	hard := []string{"lr", "bias_factor", "preprocess", "ridge", "beta", "lambda", "alpha", "prior"}
	for _, c := range []struct {
		variant model.Variant
		fixed   []string
		want    []string
	}{
		{model.Singletons, nil, hard},
		{model.SemanticHard, nil, hard},
		{model.KSoft, nil, slices.Insert(slices.Clone(hard), 6, "lr_v", "zeta", "k")},
		{model.SemanticSoft, nil, slices.Insert(slices.Clone(hard), 6, "lr_v", "zeta", "psi")},
		{model.SemanticHard, []string{"preprocess", "ridge", "seed"}, []string{"lr", "bias_factor", "beta", "lambda", "alpha", "prior"}},
	} {
		if diff := cmp.Diff(c.want, names(lagoSpace(c.variant, 312, c.fixed...))); diff != "" {
			t.Errorf("%s without %v (-want +got):\n%s", c.variant, c.fixed, diff)
		}
	}
}

// Every listed value is drawn before long, whatever the seed, and nothing else.
func TestDrawsCoverTheListedValues(t *testing.T) {
	const draws = 60
	s := lagoSpace(model.KSoft, 35)
	rapid.Check(t, func(t *rapid.T) {
		configs := s.draw(candidate{}, draws, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, d := range s {
			var want, got []any
			for i := range len(d.values) {
				want = append(want, d.get(d.with(candidate{}, d.values[i])))
			}
			for _, c := range configs {
				if v := d.get(c); !slices.Contains(want, v) {
					t.Fatalf("%s: drew %v, which is not of %v", d.key, v, want)
				} else if !slices.Contains(got, v) {
					got = append(got, v)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s: drew %v of %v", d.key, got, want)
			}
		}
	})
}

// A larger budget starts with the draws of a smaller one.
func TestDrawsOfAnyNumberBeginTheSame(t *testing.T) {
	s := lagoSpace(model.SemanticSoft, 85)
	base := candidate{config: protocol.PresetFor("awa2", model.SemanticSoft).Config}
	long := s.draw(base, 50, rand.NewPCG(4, 0))
	if short := s.draw(base, 20, rand.NewPCG(4, 0)); !slices.Equal(long[:20], short) {
		t.Errorf("20 draws %+v, expected the first of 50, %+v", short, long[:20])
	}
	if slices.Equal(long, s.draw(base, 50, rand.NewPCG(5, 0))) {
		t.Error("another seed draws the same")
	}
}

func TestSpaceOfNothing(t *testing.T) {
	base := candidate{config: protocol.Config{LR: 3}}
	if got := (space{}).draw(base, 7, rand.NewPCG(0, 0)); !slices.Equal(got, []candidate{base}) {
		t.Errorf("drew %+v", got)
	}
}

func TestNeighboursOfANumber(t *testing.T) {
	dimensions := map[string]dimension{}
	for _, d := range lagoSpace(model.KSoft, 312) {
		dimensions[d.key] = d
	}
	for _, c := range []struct {
		name string
		at   float64
		want []float64
	}{
		{"lr", 1e-5, []float64{3e-6, 5.5e-6, 3e-5, 1.7e-5}},
		{"lr", 3e-6, []float64{1e-5, 5.5e-6}},
		{"lr", 1.7e-5, []float64{1e-5, 1.3e-5, 3e-5, 2.3e-5}}, // from between two listed values
		{"beta", 0, []float64{1e-8}},                          // no way halfway to 0 on a log scale
		{"beta", 1e-8, []float64{0, 1e-7, 3.2e-8}},
		{"ridge", 1e6, []float64{1e5, 3.2e5}},
		{"k", 10, []float64{1, 3, 20, 14}},
		{"k", 2, []float64{1, 10, 4}}, // 1.4 is no number of groups
		{"zeta", 3, []float64{1, 1.7, 10, 5.5}},
	} {
		d := dimensions[c.name]
		var got []float64
		for _, near := range d.neighbours(d.with(candidate{}, c.at)) {
			value, _ := d.number(near)
			got = append(got, value)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s = %g (-want +got):\n%s", c.name, c.at, diff)
		}
	}
}

// However far a search walks from neighbour to neighbour, it stays inside of the
// listed values, and changes one setting at a time.
func TestNeighboursStayInTheSpace(t *testing.T) {
	s := lagoSpace(model.SemanticSoft, 85)
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		c := s.draw(candidate{config: protocol.PresetFor("awa2", model.SemanticSoft).Config}, 1, rand.NewPCG(rng.Uint64(), 0))[0]
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			near := s.neighbours(c, rng)
			// Each dimension has its first before any has its second.
			seen := map[string]bool{}
			for _, n := range near[:len(s)] {
				seen[changed(t, s, c, n)] = true
			}
			if len(seen) != len(s) {
				t.Fatalf("the first %d neighbours change %v", len(s), seen)
			}
			c = near[rng.IntN(len(near))]
			for _, d := range s {
				if v, ok := d.number(c); ok && (v < d.values[0].(float64) || v > d.values[len(d.values)-1].(float64)) {
					t.Fatalf("%s = %g is outside of %v", d.key, v, d.values)
				}
			}
		}
	})
}

// changed names the one setting in which two candidates differ.
func changed(t *rapid.T, s space, a, b candidate) string {
	var list []string
	for _, d := range s {
		if d.get(a) != d.get(b) {
			list = append(list, d.key)
		}
	}
	if len(list) != 1 {
		t.Fatalf("a neighbour differs in %v", list)
	}
	return list[0]
}

func TestEdges(t *testing.T) {
	s := lagoSpace(model.KSoft, 312)
	c := protocol.Config{Variant: model.KSoft, LR: 3e-3, Alpha: 0.1, Preprocess: preprocess.None, Ridge: 1e2, Beta: 1e-6, Lambda: 0, LRV: 0.1, Zeta: 1, K: 30}
	want := []Edge{{"lr", 3e-3, "highest"}, {"zeta", 1.0, "lowest"}} // nothing is below a lambda of 0
	if diff := cmp.Diff(want, s.edges(candidate{config: c})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Preprocess = preprocess.Whiten // which has a ridge
	if diff := cmp.Diff(slices.Insert(want, 1, Edge{"ridge", 1e2, "lowest"}), s.edges(candidate{config: c})); diff != "" {
		t.Errorf("whitened (-want +got):\n%s", diff)
	}
	c.Ridge = 0 // by the scale of the features, which is beside the listed values
	if diff := cmp.Diff(want, s.edges(candidate{config: c})); diff != "" {
		t.Errorf("with a ridge by the features (-want +got):\n%s", diff)
	}
	// With a single attribute there is one number of groups, which is no edge.
	if e := lagoSpace(model.KSoft, 1).edges(candidate{config: protocol.Config{LR: 1e-4, Beta: 1e-6, Lambda: 1e-6, Alpha: 0.1, LRV: 0.1, Zeta: 3, K: 1}}); len(e) > 0 {
		t.Errorf("%v", e)
	}
}
