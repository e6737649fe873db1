package explain_test

import (
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/experiments/explain"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/lago"
	"github.com/lago-train/lago-train/train/methods"
)

// A model of two attributes in one group, with detectors set by hand, predicts the class
// of a bird that is certainly white and may be brown.
func Example() {
	groups := &model.LAGO{
		Config:   model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.Const, Zeta: 1000},
		Semantic: []int{0, 0},
		Params: &model.Parameters[float32]{
			W: dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{1, 0, 0, 1}}, B: make([]float32, 2),
			V: dataset.Matrix[float32]{Rows: 2, Cols: 1, Data: []float32{1, 1}},
		},
	}
	saved := &train.Saved{
		Method: methods.Of(model.SemanticHard), Pipeline: &model.Pipeline{Classifier: lago.Model{LAGO: groups}}, Dataset: "birds", Dims: 2,
		Attributes: []string{"has_color::white", "has_color::brown"}, Groups: []string{"has_color"}, Semantic: []int{0, 0},
	}
	x, err := explain.Explain(saved, explain.Question{
		Sample: explain.Sample{From: "birds"},
		X:      dataset.Matrix[float32]{Rows: 1, Cols: 2, Data: []float32{3, 0}},
		Candidates: candidates.Set{
			What:  "classes",
			Names: []string{"gull", "wren"},
			U:     dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{0.9, 0, 0.1, 0.8}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	c := x.Comparisons[0]
	fmt.Printf("%s against %s: log odds %.2f\n", c.Class, c.Against, c.LogOdds)
	for _, g := range c.Groups {
		fmt.Printf("%s contributes %.2f\n", g.Name, g.Contribution)
		for _, t := range g.Terms {
			fmt.Printf("  %s, detected %.2f: %.0f %% of one score, %.0f %% of the other\n",
				t.Attribute, t.Detected, 100*t.Share.Class, 100*t.Share.Against)
		}
	}
	// Output:
	// gull against wren: log odds 0.28
	// has_color contributes 0.28
	//   has_color::white, detected 0.95: 85 % of one score, 12 % of the other
	//   has_color::brown, detected 0.50: 0 % of one score, 52 % of the other
}
