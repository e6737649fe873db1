package published_test

import (
	"testing"

	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
)

func TestEveryVariantHasARunAndACellOnEveryDataset(t *testing.T) {
	for _, dataset := range []string{"cub", "AWA2", "sun"} {
		for _, v := range model.Variants {
			r, ok := published.Find(dataset, v)
			if !ok {
				t.Fatalf("no released test run of %s on %s", v, dataset)
			}
			if r.LearningRate <= 0 || r.Epochs < 1 || r.Batch < 1 || r.Zeta <= 0 || len(r.Accuracy) != 5 || v.Learned() != (r.LearningRateV > 0) || (v == model.KSoft) != (r.K > 0) {
				t.Errorf("%s on %s: settings are missing: %+v", v, dataset, r)
			}
			if _, ok := published.TestAccuracy(dataset, v.Info().Title); !ok {
				t.Errorf("no cell of %s on %s", v, dataset)
			}
		}
	}
}

func TestCellsAreAsPrinted(t *testing.T) {
	for _, c := range []struct{ dataset, method, want string }{
		{"cub", "ESZSL", "53.9"},                  // table 1 of the paper
		{"AWA2", "Kernel alignment", "58.3-70.5"}, // ZHANG2018 in table 1
		{"SUN", "LAGO-Semantic-Hard", "47.1"},     // table A.1
		{"CUB", "LAGO-Semantic-Soft", "57.8"},     // table A.1
	} {
		if got, ok := published.TestAccuracy(c.dataset, c.method); !ok || got != c.want {
			t.Errorf("%s on %s: %q, expected %q", c.method, c.dataset, got, c.want)
		}
	}
	if _, ok := published.TestAccuracy("cub127", "ESZSL"); ok {
		t.Error("the paper has no cub127")
	}
	rows := published.Tables.Ablation
	got, ok := rows[0].On("CUB")
	if _, sun := rows[0].On("sun"); len(rows) != 8 || !ok || got != 52.85 || sun {
		t.Errorf("%d rows, %g on CUB; expected the 8 of table A.2, which has no SUN, and 52.85", len(rows), got)
	}
}
