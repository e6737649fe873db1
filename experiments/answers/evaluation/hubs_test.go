package evaluation

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// remedies correct scores s by the sorted scores of one class for reference samples. p is p(z|x) without
// correction.
var remedies = []struct {
	name string
	by   func(of []float64) func(s, p float64) float64
}{
	{"none", func([]float64) func(s, p float64) float64 { return func(s, _ float64) float64 { return s } }},
	{"evidence, omega 0.5", less(func(of []float64) float64 { return 0.5 * numeric.LogSumExp(of) })},
	{"evidence, omega 1: the inverted softmax", less(numeric.LogSumExp)},
	{"standardise, omega 1", func(of []float64) func(s, p float64) float64 {
		mean, deviation := stat.PopMeanStdDev(of, nil)
		return func(s, _ float64) float64 { return (s - mean) / deviation }
	}},
	{"CSLS, 10 neighbours", less(func(of []float64) float64 { return stat.Mean(of[max(0, len(of)-10):], nil) / 2 })},
	{"globally corrected retrieval", func(of []float64) func(s, p float64) float64 { // rank; p decides between equal ones
		return func(s, p float64) float64 {
			i, _ := slices.BinarySearch(of, s)
			return p + float64(i)
		}
	}},
}

// less subtracts what a class gets from the reference samples.
func less(gets func(of []float64) float64) func(of []float64) func(s, p float64) float64 {
	return func(of []float64) func(s, p float64) float64 {
		e := gets(of)
		return func(s, _ float64) float64 { return s - e }
	}
}

// With the folder of the runs of compare --rotate in LAGO_HUBS, remedies for hubs are compared on the
// scores L of its models of LAGO, by what they take out: the scores of the stored detections of seen
// classes, or of the evaluated samples themselves.
func TestHubs(t *testing.T) {
	dir := os.Getenv("LAGO_HUBS")
	if dir == "" {
		t.Skip("only with LAGO_HUBS, see docs/evaluation-reference.md")
	}
	paths := testkit.Must(filepath.Glob(filepath.Join(dir, "splits", "*-test-*", train.ModelFile)))(t)
	var d *dataset.Dataset
	type cell struct{ remedy, column, class int }
	accuracies := map[cell][]float64{} // of each seed
	for _, path := range paths {
		m := testkit.Must(predictor.Open(path))(t)
		l, err := m.LAGO()
		if err != nil {
			continue
		}
		if d == nil {
			d = testkit.Must(catalog.Open(t.Context(), m.Dataset, catalog.Options{}))(t)
		}
		describe := func(classes []int) *model.Description {
			return testkit.Must(l.Config.Describe(testkit.Must(m.Imputed(d.Describe(classes)))(t), l.Semantic))(t)
		}
		classes, s := describe(m.Split.Test), train.Select(d, d.Features, m.Split.Test)
		a := testkit.Must(m.Detect(s.X, s.Rows))(t)
		for column, of := range []dataset.Matrix[float32]{m.Reference.Detections, a, m.Reference.Detections} {
			if column == 2 {
				classes.P = describe(m.Learned).P
			}
			f := testkit.Must(model.NewForward(l.Config, classes, l.Params))(t)
			scores, reference := testkit.Must(f.Scores(a))(t), testkit.Must(f.Scores(of))(t)
			for k, r := range remedies {
				corrected, by := dataset.NewMatrix[float32](scores.Rows, scores.Cols), make([]func(s, p float64) float64, scores.Cols)
				for z := range by {
					column := make([]float64, reference.Rows)
					for i := range column {
						column[i] = reference.Row(i)[z]
					}
					slices.Sort(column)
					by[z] = r.by(column)
				}
				for i := range scores.Rows {
					all := numeric.LogSumExp(scores.Row(i))
					for z, s := range scores.Row(i) {
						corrected.Row(i)[z] = float32(by[z](s, math.Exp(s-all)))
					}
				}
				for z, accuracy := range metrics.TopK(corrected, s.Labels, 1).Recall() {
					key := cell{k, column, m.Split.Test[z]}
					accuracies[key] = append(accuracies[key], accuracy)
				}
			}
		}
	}
	list := table.New("Per-class accuracy on unseen classes (95 % over classes)", "correction", "by stored detections", "by the evaluated samples", "by stored detections, p(a) of the train classes")
	for k, r := range remedies {
		row := []any{r.name}
		for column := range 3 {
			var perClass []float64
			for z := range d.Classes {
				if of := accuracies[cell{k, column, z}]; of != nil {
					perClass = append(perClass, stat.Mean(of, nil))
				}
			}
			row = append(row, format.Percent(stat.Mean(perClass, nil))+" ("+metrics.ClassInterval(perClass).String()+")")
		}
		list.Row(row...)
	}
	t.Log("\n" + list.Text(200, 0))
}
