package studies

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// animals are four attributes of three classes: stripes and spots exclude each
// other, large and heavy go together.
func animals() *dataset.Dataset {
	d := &dataset.Dataset{
		Name: "animals", Classes: []string{"zebra", "leopard", "hamster"}, Labels: []int{0, 0, 0, 1, 1, 2}, Features: dataset.NewMatrix[float32](6, 1),
		Descriptions: dataset.Matrix[float64]{Rows: 3, Cols: 4, Data: []float64{
			1, 0, 1, 1,
			0, 1, 0.5, 0.5,
			0, 0, 0, 0,
		}},
	}
	for _, name := range []string{"striped", "spotted", "large", "heavy"} {
		d.Attributes = append(d.Attributes, dataset.Attribute{Name: name})
	}
	return d
}

// soft is a model of animals whose Gamma is given.
func soft(gamma ...float64) *train.Saved {
	s := lago.New(model.KSoft)
	s.K, s.FreezePrior = len(gamma)/4, false
	p := &model.Parameters[float32]{W: dataset.NewMatrix[float32](1, 4), B: make([]float32, 4), V: dataset.NewMatrix[float32](4, s.K)}
	for i, g := range gamma {
		p.V.Data[i] = float32(math.Log(max(g, 1e-30)))
	}
	d := animals()
	return &train.Saved{
		Method: methods.Named{Name: methods.LAGO, Method: s}, Dims: 1, Descriptions: d.Descriptions, Classes: d.Classes, Learned: []int{0, 1},
		Pipeline: &model.Pipeline{Transform: &preprocess.Transform{Chain: preprocess.None}, Classifier: lago.Model{LAGO: &model.LAGO{Config: s.Config, Params: p}}},
		Dataset:  "animals", Attributes: []string{"striped", "spotted", "large", "heavy"},
	}
}

func analyse(t testkit.TB, d *dataset.Dataset, m *train.Saved, c GroupThresholds) *LearnedGroups {
	t.Helper()
	return testkit.Must((&Grouping{GroupThresholds: c}).AskModel(d, m))(t).(*LearnedGroups)
}

func TestLearnedGroups(t *testing.T) {
	m := soft(
		1, 0, 0,
		0.7, 0.3, 0,
		0, 1, 0,
		0, 0.9995, 0.0005)
	got := analyse(t, animals(), m, GroupThresholds{Threshold: 1e-3})
	want := &LearnedGroups{
		Dataset: "animals", Method: model.KSoft, Attributes: 4, GroupThresholds: GroupThresholds{1e-3, 0},
		NonZero: 5.0 / 12, PerAttribute: 5.0 / 4,
		Groups: []Group{
			{K: 1, Weight: 2.2995, Members: []Member{{"large", 1}, {"heavy", 0.9995}, {"spotted", 0.3}}},
			{K: 0, Weight: 1.7, Members: []Member{{"striped", 1}, {"spotted", 0.7}}},
			{K: 2, Weight: 0.0005, Members: []Member{}},
		},
		// By class, striped and spotted have the correlation -0.5, spotted is
		// uncorrelated with both others, and these are the same.
		Grouped:   AttributePairs{4, 1.0 / 4}, // striped-spotted, spotted-large, spotted-heavy, large-heavy
		Ungrouped: AttributePairs{2, 0},
		All:       AttributePairs{6, 1.0 / 6},
	}
	testkit.Equal(t, "result", got, want, cmpopts.EquateApprox(0, 1e-6))
}

// An attribute with the same value in every class has no correlation; a missing entry is replaced
// by the mean.
func TestPairsWithoutCorrelationAreLeftOut(t *testing.T) {
	d := animals()
	for z := range 3 {
		d.Descriptions.Row(z)[3] = 0.1
	}
	for _, missing := range []float64{0.1, math.NaN()} {
		d.Descriptions.Row(1)[3] = missing
		g := analyse(t, d, soft(1, 1, 1, 1), GroupThresholds{})
		testkit.Equal(t, "pairs without the attribute", []int{g.Grouped.Count, g.All.Count}, []int{3, 3})
	}
	g := analyse(t, animals(), soft(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1), GroupThresholds{Threshold: 1e-3})
	testkit.Equal(t, "pairs, and entries", []any{g.Grouped, g.NonZero}, []any{AttributePairs{}, 0.25})
	testkit.WantText(t, testlab.Text(g.Tables()), "No two attributes share a group")
}

func TestTablesOfGroups(t *testing.T) {
	d, m := animals(), soft(1, 0, 1, 0, 0, 1, 0, 1)
	d.Name = "AWA2" // has published numbers
	testlab.Cover(t, d)
	m.Attributes[0], d.Attributes[0].Name = "striped\x1b[2J", "striped\x1b[2J"
	g := analyse(t, d, m, GroupThresholds{Threshold: 1e-3})
	g.Groups[1].Members = slices.Repeat(g.Groups[1].Members, 3)
	testkit.WantText(t, strings.Join(strings.Fields(testlab.Text(g.Tables())), " "), "k-soft on AWA2: 2 groups of 4 attributes", "Gamma above 0.001: 50.0 % of the entries, 1.0 groups per attribute",
		"published: 8.7 % of the entries", "│ in the same group │ 2 │ 50.0 % │ 38.0 % │", "│ in different groups │ 4 │ 0.0 % │ - │",
		"│ all │ 6 │ 16.7 % │ 5.0 % │", "k-soft model with 30 groups", "│ striped\uFFFD[2J, spotted │", "large, and 1 more │")
}
