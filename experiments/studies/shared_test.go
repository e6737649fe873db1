//go:build shared

package studies

import (
	"testing"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// The same on the photographs of cub127, with the defaults of each method; `make chance-check` runs it.
func TestShuffledDescriptionsLeaveChanceOnCUB127(t *testing.T) {
	testkit.Must(blas.Use(""))(t)
	d := testkit.Must(catalog.Open(t.Context(), "cub127", catalog.Options{DataDir: testkit.Shared(t, "data")}))(t)
	compareWithChance(t, d, 0.05, func(l *lab.Lab) Comparison {
		c := compareAll(l)
		c.Methods, c.LAGO = append(c.Methods[1:], string(model.SemanticHard)), nil
		for _, v := range []model.Variant{model.Singletons, model.SemanticHard} {
			start := config.PresetFor("cub127", methods.Variant(v)).Config
			start.Epochs, start.Seeds = 10, 1
			c.LAGO = append(c.LAGO, start)
		}
		c.Common.Seeds, c.Common.Epochs, c.Common.Patience = 1, 10, 10
		return c
	})
}
