package ranking

import (
	"errors"
	"math"
	"testing"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
)

// Numbers out of range end an epoch, wherever they come from.
func TestNotFinite(t *testing.T) {
	for _, name := range names {
		for what, change := range map[string]func(*Config, *baseline.Examples){
			"a rate out of range": func(c *Config, _ *baseline.Examples) { c.LR = 1e38 },
			"a margin beyond":     func(c *Config, _ *baseline.Examples) { c.LR, c.Margin = 3e37, 3e38 },
			"a NaN":               func(_ *Config, e *baseline.Examples) { e.X.Row(e.Rows[4])[1] = float32(math.NaN()) },
		} {
			e, c := examples(100, 12, 7, 9, 8), Default(name)
			c.Features = baseline.None
			change(&c, &e)
			l := newLearner(t, c, e, 1)
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
	e, c := examples(1, 12, 7, 9, 8), Default(DeViSE)
	c.Features, c.LR, c.Margin = baseline.None, 3e38, 1e3
	_, _, err := newLearner(t, c, e, 1).Epoch(1)
	if nf := (*model.NotFinite)(nil); !errors.As(err, &nf) || nf.Term != "W" {
		t.Errorf("%v, expected W not to be finite", err)
	}
}
