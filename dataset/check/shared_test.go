//go:build shared

package check_test

import (
	"math"
	"testing"

	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/testkit"
)

func init() {
	places["cub127"] = "../../../shared/data/CUB127"
}

// In a draft of 28 birds by a language model, 3.4 % of the entries are off by more than a half.
func TestDoubtsOfDraft(t *testing.T) {
	bench := tables(t)["cub127"]
	row, column, draft := map[string]int{}, map[string]int{}, &descriptions.Table{}
	for z, class := range bench.Classes {
		row[class] = z
	}
	for m, a := range bench.Attributes {
		column[a.Name] = m
	}
	testkit.Must(draft.AddTraits(t.Context(), "../descriptions/testdata/draft.csv", false, true))(t)
	u := draft.Values()
	found := 0
	for _, doubt := range impute.Doubts(u)[:100] {
		z, m := doubt.Class, doubt.Attribute
		right := bench.Descriptions.Row(row[draft.Classes[z]])[column[draft.Attributes[m].Name]]
		if math.Abs(u.Row(z)[m]-right) > 0.5 {
			found++
		}
	}
	if found < 25 {
		t.Errorf("%d of the 100 most doubtful entries are wrong, expected 25", found)
	}
}
