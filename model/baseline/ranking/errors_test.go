package ranking_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/bilinear"
	"github.com/lago-train/lago-train/model/baseline/ranking"
)

func TestBadSettingsAreNamed(t *testing.T) {
	e := examples(10, 4, 3, 2, 6)
	nan, inf := math.NaN(), math.Inf(1)
	for field, changes := range map[string][]func(*ranking.Config){
		"loss":     {func(c *ranking.Config) { c.Loss = "hinge" }, func(c *ranking.Config) { c.Loss = "" }},
		"lr":       numbers(func(c *ranking.Config) *float64 { return &c.LR }, 0, -1, nan, inf),
		"margin":   numbers(func(c *ranking.Config) *float64 { return &c.Margin }, 0, -1, nan, inf),
		"init":     numbers(func(c *ranking.Config) *float64 { return &c.Init }, -1, nan, inf),
		"features": {func(c *ranking.Config) { c.Features = "pca" }},
	} {
		for _, change := range changes {
			c := ranking.Default(ranking.ALE)
			change(&c)
			_, err := c.Learn(e, 1)
			for _, err := range []error{c.Check(), err} {
				if wrong := (*invalid.Error)(nil); !errors.As(err, &wrong) || wrong.Field != field {
					t.Errorf("%+v: %v, expected an error of %s", c, err, field)
				}
			}
		}
	}
}

func numbers(of func(*ranking.Config) *float64, values ...float64) (changes []func(*ranking.Config)) {
	for _, v := range values {
		changes = append(changes, func(c *ranking.Config) { *of(c) = v })
	}
	return changes
}

func TestBadExamplesAreNamed(t *testing.T) {
	good := examples(10, 4, 3, 2, 7)
	for field, change := range map[string]func(*baseline.Examples){
		"samples":      func(e *baseline.Examples) { e.Rows = nil },
		"labels":       func(e *baseline.Examples) { e.Labels = e.Labels[1:] },
		"descriptions": func(e *baseline.Examples) { e.U.Data[1] = 7 },
	} {
		e := good
		e.U.Data = slices.Clone(good.U.Data)
		change(&e)
		_, err := ranking.Default(ranking.DeViSE).Learn(e, 1)
		if wrong := (*invalid.Error)(nil); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v, expected an error of %s", err, field)
		}
	}
	if _, err := ranking.Default(ranking.ALE).Restore(nil); err == nil {
		t.Error("a model without tensors is restored")
	}
}

// Numbers out of range end an epoch, wherever they come from.
func TestNotFinite(t *testing.T) {
	for _, name := range names {
		for what, change := range map[string]func(*ranking.Config, *baseline.Examples){
			"a rate out of range": func(c *ranking.Config, _ *baseline.Examples) { c.LR = 1e38 },
			"a margin beyond":     func(c *ranking.Config, _ *baseline.Examples) { c.LR, c.Margin = 3e37, 3e38 },
			"a NaN":               func(_ *ranking.Config, e *baseline.Examples) { e.X.Row(e.Rows[4])[1] = float32(math.NaN()) },
		} {
			e, c := examples(100, 12, 7, 9, 8), ranking.Default(name)
			c.Features = bilinear.None
			change(&c, &e)
			l := learner(t, c, e, 1)
			var err error
			for number := 1; number <= 3 && err == nil; number++ {
				_, _, err = l.Epoch(number)
			}
			if nf := (*model.NotFinite)(nil); !errors.As(err, &nf) || nf.Term != "W" {
				t.Errorf("%s, %s: %v, expected W not to be finite", name, what, err)
			}
		}
	}
}

// The W of an epoch is looked at before it is handed out.
func TestLastStepOutOfRange(t *testing.T) {
	e, c := examples(1, 12, 7, 9, 8), ranking.Default(ranking.DeViSE)
	c.Features, c.LR, c.Margin = bilinear.None, 3e38, 1e3
	_, _, err := learner(t, c, e, 1).Epoch(1)
	if nf := (*model.NotFinite)(nil); !errors.As(err, &nf) || nf.Term != "W" {
		t.Errorf("%v, expected W not to be finite", err)
	}
}
