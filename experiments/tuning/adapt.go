package tuning

import (
	"slices"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Adapted is the accuracy of a method that is adapted to the unlabelled samples of the
// evaluated classes (transductive), as fractions.
type Adapted struct {
	Val        float64            `json:"val_per_class_accuracy"`
	Test       float64            `json:"test_per_class_accuracy"`
	Interval   metrics.Interval   `json:"interval"`   // of Test, over classes
	Difference metrics.Difference `json:"difference"` // on the test classes, transductive minus inductive
	Settings   []adapt.Settings   `json:"settings"`   // of each part
}

// adapted chooses the settings of each part over its folds, on the dev runs, and adapts the
// models of the test stage. inductive are the accuracies on the test classes.
func adapted(parts []*contender, inductive []lab.ClassAccuracy) (*Adapted, error) {
	a := &Adapted{}
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, m := range parts {
		chosen, err := protocol.ChooseAdaptation(m.chosen.folds, slices.Concat(m.val, m.test))
		if err != nil {
			return nil, err
		}
		a.Val += chosen.After / float64(len(parts))
		a.Settings = append(a.Settings, chosen.Settings)
		data := m.part.Data
		for _, path := range protocol.ModelFiles(m.test) {
			saved, err := train.Load(path)
			if err != nil {
				return nil, err
			}
			b, err := adaptation.NewBatch(saved, data, data.Split.Test)
			if err != nil {
				return nil, err
			}
			r, err := adapt.Fit(b.Blocks(), chosen.Settings)
			if err != nil {
				return nil, err
			}
			for i, accuracy := range metrics.ClassAccuracy(r.P, b.Labels) {
				name := data.Classes[data.Split.Test[i]]
				sums[name] += accuracy
				counts[name]++
			}
		}
	}
	after := make([]float64, len(inductive))
	for i, c := range inductive {
		after[i] = sums[c.Class] / counts[c.Class]
		a.Test += after[i] / float64(len(inductive))
	}
	a.Interval, a.Difference = metrics.ClassInterval(after), metrics.PairedDifference(after, lab.Accuracies(inductive))
	return a, nil
}
