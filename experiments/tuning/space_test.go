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
		list = append(list, d.Key)
	}
	return list
}

func TestSearchSpaceHasWhatTheVariantUses(t *testing.T) {
	hard := []string{"lr", "preprocess", "ridge", "beta", "lambda"}
	for _, c := range []struct {
		variant model.Variant
		fixed   []string
		want    []string
	}{
		{model.Singletons, nil, hard},
		{model.SemanticHard, nil, hard},
		{model.KSoft, nil, slices.Concat(hard, []string{"lr_v", "zeta", "k"})},
		{model.SemanticSoft, nil, slices.Concat(hard, []string{"lr_v", "zeta", "psi"})},
		{model.SemanticHard, []string{"preprocess", "ridge", "seed"}, []string{"lr", "beta", "lambda"}},
	} {
		if diff := cmp.Diff(c.want, names(searchSpace(c.variant, 312, c.fixed))); diff != "" {
			t.Errorf("%s without %v (-want +got):\n%s", c.variant, c.fixed, diff)
		}
	}
}

// Every listed value is drawn before long, whatever the seed, and nothing else.
func TestDrawsCoverTheListedValues(t *testing.T) {
	const draws = 60
	s := searchSpace(model.KSoft, 35, nil)
	rapid.Check(t, func(t *rapid.T) {
		configs := s.draw(protocol.Config{}, draws, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, d := range s {
			var want, got []any
			for i := range len(d.values) {
				var c protocol.Config
				d.SetValue(&c, d.values[i])
				want = append(want, d.Value(c))
			}
			for _, c := range configs {
				if v := d.Value(c); !slices.Contains(want, v) {
					t.Fatalf("%s: drew %v, which is not of %v", d.Key, v, want)
				} else if !slices.Contains(got, v) {
					got = append(got, v)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s: drew %v of %v", d.Key, got, want)
			}
		}
	})
}

// A larger budget starts with the draws of a smaller one.
func TestDrawsOfAnyNumberBeginTheSame(t *testing.T) {
	s := searchSpace(model.SemanticSoft, 85, nil)
	base := protocol.PresetFor("awa2", model.SemanticSoft).Config
	long := s.draw(base, 50, rand.NewPCG(4, 0))
	if diff := cmp.Diff(long[:20], s.draw(base, 20, rand.NewPCG(4, 0))); diff != "" {
		t.Errorf("(-first 20 of 50 +20):\n%s", diff)
	}
	if cmp.Equal(long, s.draw(base, 50, rand.NewPCG(5, 0))) {
		t.Error("another seed draws the same")
	}
}

func TestSpaceOfNothing(t *testing.T) {
	if diff := cmp.Diff([]protocol.Config{{LR: 3}}, space{}.draw(protocol.Config{LR: 3}, 7, rand.NewPCG(0, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNeighboursOfANumber(t *testing.T) {
	dimensions := map[string]dimension{}
	for _, d := range searchSpace(model.KSoft, 312, nil) {
		dimensions[d.Key] = d
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
		for _, near := range d.neighbours(d.with(protocol.Config{}, c.at)) {
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
	s := searchSpace(model.SemanticSoft, 85, nil)
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		c := s.draw(protocol.PresetFor("awa2", model.SemanticSoft).Config, 1, rand.NewPCG(rng.Uint64(), 0))[0]
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
					t.Fatalf("%s = %g is outside of %v", d.Key, v, d.values)
				}
			}
		}
	})
}

// changed names the one setting in which two configs differ.
func changed(t *rapid.T, s space, a, b protocol.Config) string {
	var list []string
	for _, d := range s {
		if d.Value(a) != d.Value(b) {
			list = append(list, d.Key)
		}
	}
	if len(list) != 1 {
		t.Fatalf("a neighbour differs in %v", list)
	}
	return list[0]
}

func TestEdges(t *testing.T) {
	s := searchSpace(model.KSoft, 312, nil)
	c := protocol.Config{Variant: model.KSoft, LR: 3e-4, Preprocess: preprocess.None, Ridge: 1e2, Beta: 1e-6, Lambda: 0, LRV: 0.1, Zeta: 1, K: 30}
	want := []Edge{{"lr", 3e-4, "highest"}, {"lambda", 0.0, "lowest"}, {"zeta", 1.0, "lowest"}}
	if diff := cmp.Diff(want, s.edges(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Preprocess = preprocess.Whiten // which has a ridge
	if diff := cmp.Diff(slices.Insert(want, 1, Edge{"ridge", 1e2, "lowest"}), s.edges(c)); diff != "" {
		t.Errorf("whitened (-want +got):\n%s", diff)
	}
	c.Ridge = 0 // by the scale of the features, which is beside the listed values
	if diff := cmp.Diff(want, s.edges(c)); diff != "" {
		t.Errorf("with a ridge by the features (-want +got):\n%s", diff)
	}
	// With a single attribute there is one number of groups, which is no edge.
	if e := searchSpace(model.KSoft, 1, nil).edges(protocol.Config{LR: 1e-4, Beta: 1e-6, Lambda: 1e-6, LRV: 0.1, Zeta: 3, K: 1}); len(e) > 0 {
		t.Errorf("%v", e)
	}
}
