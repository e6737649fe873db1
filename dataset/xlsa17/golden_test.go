package xlsa17

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// expectedMini is testdata/expected.json: the numbers that both forms of the fixture were written from.
type expectedMini struct {
	Features [][]float64 `json:"features_sample_by_dim"`
	Labels   []int       `json:"labels"`
	Classes  []string    `json:"classes"`
	Original [][]float64 `json:"original_att_class_by_attribute"`
	Train    []string    `json:"train"`
	Val      []string    `json:"val"`
	Test     []string    `json:"test"`
}

func TestMiniFixture(t *testing.T) {
	var e expectedMini
	testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, "testdata/expected.json")), &e))
	u := slices.Concat(e.Original...)
	for i, percent := range u {
		if u[i] = percent / 100; percent < 0 {
			u[i] = math.NaN()
		}
	}
	for _, form := range []string{"plain", "compressed"} {
		d := testkit.Must(Load(t.Context(), filepath.Join("testdata", form), Options{NoCache: true}))(t)
		testkit.NoError(t, check.Errors(d))
		testkit.NearAll(t, "features", d.Features.Data, slices.Concat(e.Features...), 1e-7)
		testkit.NearAll(t, "descriptions", d.Descriptions.Data, u, 1e-7)
		got := expectedMini{Classes: d.Classes}
		for _, z := range d.Labels {
			got.Labels = append(got.Labels, z+1)
		}
		for n, names := range []*[]string{&got.Train, &got.Val, &got.Test} {
			for _, z := range d.Split.Subsets()[n].Classes {
				*names = append(*names, d.Classes[z])
			}
		}
		testkit.Equal(t, form, got, e, cmpopts.IgnoreFields(expectedMini{}, "Features", "Original"))
		if diff := cmp.Diff([]any{form, []string{"shape", "colour", "habitat", "size"}, []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3}, "colour::v3"},
			[]any{d.Name, d.Groups, d.GroupOf(), d.Attributes[3].Name}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
