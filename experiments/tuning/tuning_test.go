package tuning

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

func TestCandidates(t *testing.T) {
	m, err := methods.Find("eszsl")
	if err != nil {
		t.Fatal(err)
	}
	open := m
	open.FullGrid = false
	fixed := func(s string) Fixed {
		f, err := ParseFixed(s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		name   string
		m      methods.Method
		config Config
		want   int
	}{
		{"a closed form", m, Config{}, 35},
		{"a closed form with a fixed ridge", m, Config{Fixed: []Fixed{fixed("eszsl.gamma=7")}}, 5},
		{"the defaults", open, Config{}, 1},
		{"a budget", open, Config{Budget: 8}, 8},
		{"a budget above the space", open, Config{Budget: 100}, 35},
		{"nothing left to tune", open, Config{Budget: 9, Fixed: []Fixed{fixed("eszsl.gamma=7"), fixed("eszsl.lambda=8")}}, 1},
	} {
		got, err := c.config.candidates(c.m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.config.candidates(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != c.want || !slices.Equal(got, again) {
			t.Errorf("%s: %d candidates, expected the same %d each time", c.name, len(got), c.want)
		}
		seen := map[methods.Spec]bool{}
		for _, g := range got {
			if seen[g] {
				t.Errorf("%s: %+v twice", c.name, g)
			}
			seen[g] = true
			for _, f := range c.config.Fixed {
				if f.Setting == "gamma" && g.Settings.(eszsl.Config).Gamma != 7 {
					t.Errorf("%s: %+v has not the given gamma", c.name, g)
				}
			}
		}
		if !c.m.FullGrid && c.config.Fixed == nil && got[0].Settings != m.Default {
			t.Errorf("%s: the first is %+v, expected the defaults", c.name, got[0])
		}
	}
}

func TestSearchBudgetIsSpent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trials := rapid.IntRange(MinBudget, 1000).Draw(t, "budget")
		b := divide(trials)
		if sum := b.coarse + b.refined[0] + b.refined[1] + b.best*FurtherSeeds; sum != trials {
			t.Fatalf("%+v is %d trials", b, sum)
		}
		if b.coarse < 2 || b.refined[1] < 0 || b.best < 1 || b.best > 5 || b.best > b.coarse {
			t.Fatalf("%+v", b)
		}
	})
	if diff := cmp.Diff(budget{21, [2]int{5, 5}, 3}, divide(40), cmp.AllowUnexported(budget{})); diff != "" {
		t.Errorf("of 40, as the help says (-want +got):\n%s", diff)
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
