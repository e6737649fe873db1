package config

import (
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestCellsAreAsPrinted(t *testing.T) {
	for _, c := range []struct{ dataset, method, want string }{
		{"CUB", "ESZSL", "53.9"},                  // table 1 of the paper
		{"AWA2", "Kernel alignment", "58.3-70.5"}, // ZHANG2018 in table 1
		{"SUN", "semantic-hard", "47.1"},          // table A.1
		{"CUB", "semantic-soft", "57.8"},          // table A.1
	} {
		testkit.Equal(t, c.method+" on "+c.dataset, Published.TestAccuracy[c.method][c.dataset], c.want)
	}
	if rows := Published.Ablation; len(rows) != 8 || rows[0].Accuracy["CUB"] != 52.85 {
		t.Errorf("%+v; expected the 8 rows of table A.2", rows)
	}
}
