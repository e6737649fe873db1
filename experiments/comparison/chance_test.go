package comparison

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/model"
)

// shuffled returns the data set with the descriptions of the test classes permuted, so that
// none keeps its own. Accuracy is then chance, unless test data leak into a method.
func shuffled(d *dataset.Dataset, seed uint64) *dataset.Dataset {
	s := *d
	s.Descriptions = dataset.NewMatrix[float64](d.Descriptions.Rows, d.Descriptions.Cols)
	copy(s.Descriptions.Data, d.Descriptions.Data)
	test := d.Split.Test
	// A cycle through all of them leaves none in place.
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(test))
	for i, z := range order {
		copy(s.Descriptions.Row(test[z]), d.Descriptions.Row(test[order[(i+1)%len(order)]]))
	}
	return &s
}

// compareWithChance reports an error if the mean test accuracy of a method over some ways
// of shuffling exceeds chance, 1 / classes, by more than the slack.
func compareWithChance(t *testing.T, d *dataset.Dataset, c func(*lab.Lab) tuning.Config, shuffles int, slack float64) {
	t.Helper()
	mean := map[string]float64{}
	for seed := range shuffles {
		l := lab.New(shuffled(d, uint64(seed)), t.TempDir())
		r, err := Run(context.Background(), l, c(l))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Methods {
			mean[m.Name] += m.Test.PerClass.Mean / float64(shuffles)
		}
	}
	chance := 1 / float64(len(d.Split.Test))
	for name, accuracy := range mean {
		t.Logf("%s: %.1f %%, chance is %.1f %%", name, 100*accuracy, 100*chance)
		if accuracy > chance+slack {
			t.Errorf("%s: %.1f %% on the test classes by the descriptions of others, expected about %.1f %%", name, 100*accuracy, 100*chance)
		}
	}
}

func TestShuffledDescriptionsLeaveChance(t *testing.T) {
	d, err := simulate.Make(simulate.Spec{
		Name: "chance", Samples: 400, Dims: 24, Attributes: 18, Groups: 4,
		TrainClasses: 16, ValClasses: 4, TestClasses: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	compareWithChance(t, d, func(l *lab.Lab) tuning.Config {
		c := compareAll(l)
		c.LAGO, c.Common.Seeds, c.Common.Epochs = c.LAGO[:1], 1, 2
		return c
	}, 2, 0.1)
}

// The same on the photographs of cub127, with the defaults of each method; `make
// chance-check` runs it where the data is.
func TestShuffledDescriptionsLeaveChanceOnCUB127(t *testing.T) {
	if os.Getenv("LAGO_CHANCE") == "" {
		t.Skip("takes minutes, and needs cub127 in $LAGO_DATA: make chance-check")
	}
	if _, err := blas.Use(""); err != nil {
		t.Fatal(err)
	}
	d, err := catalog.Open(t.Context(), "cub127", catalog.Options{DataDir: cmp.Or(os.Getenv(catalog.EnvDataDir), "../../../shared/data")})
	if err != nil {
		t.Fatal(err)
	}
	compareWithChance(t, d, func(l *lab.Lab) tuning.Config {
		c := compareAll(l)
		c.Methods, c.LAGO = c.Methods[1:], nil
		c.Methods = append(c.Methods, string(model.SemanticHard))
		for _, v := range []model.Variant{model.Singletons, model.SemanticHard} {
			c.LAGO = append(c.LAGO, protocol.PresetFor("cub127", v).Config)
			c.LAGO[len(c.LAGO)-1].Epochs, c.LAGO[len(c.LAGO)-1].Seeds = 10, 1
		}
		c.Common.Seeds, c.Common.Epochs, c.Common.Patience = 1, 10, 10
		return c
	}, 2, 0.05)
}
