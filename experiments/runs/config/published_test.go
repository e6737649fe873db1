package config

import (
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
)

func TestCellsAreAsPrinted(t *testing.T) {
	for _, c := range []struct{ dataset, method, want string }{
		{"cub", "ESZSL", "53.9"},                  // table 1 of the paper
		{"AWA2", "Kernel alignment", "58.3-70.5"}, // ZHANG2018 in table 1
		{"SUN", "semantic-hard", "47.1"},          // table A.1
		{"CUB", "semantic-soft", "57.8"},          // table A.1
	} {
		testkit.Equal(t, c.method+" on "+c.dataset, publishedCell(c.dataset, c.method), c.want)
	}
	testkit.Equal(t, "cub127, which the paper does not have", publishedCell("cub127", "ESZSL"), "")
	rows := Published.Ablation
	got, ok := rows[0].On("CUB")
	if _, sun := rows[0].On("sun"); len(rows) != 8 || !ok || got != 52.85 || sun {
		t.Errorf("%d rows, %g on CUB; expected the 8 of table A.2, which has no SUN, and 52.85", len(rows), got)
	}
}
