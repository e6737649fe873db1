package tuning

import (
	"context"
	"maps"
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
	Test       float64            `json:"test_per_class_accuracy"`
	Interval   metrics.Interval   `json:"interval"`   // of Test, over classes
	Difference metrics.Difference `json:"difference"` // on the test classes, transductive minus inductive
	Settings   []adapt.Settings   `json:"settings"`   // of each part
}

// adaptRows adapts the models of each row; parts are the contenders of each.
func adaptRows(ctx context.Context, rows []Method, parts [][]*contender, onAdapt func(method string)) error {
	done := map[*searcher]*adaptedPart{} // the row of LAGO has the models of a variant
	for i := range rows {
		if onAdapt != nil {
			onAdapt(rows[i].Name)
		}
		var adapted []*adaptedPart
		for _, m := range parts[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if done[m.chosen] == nil {
				p, err := adaptPart(ctx, m)
				if err != nil {
					return err
				}
				done[m.chosen] = p
			}
			adapted = append(adapted, done[m.chosen])
		}
		rows[i].Adapted = summarise(adapted, rows[i].Test.ByClass)
	}
	return nil
}

// adaptedPart is a method adapted to the test classes of one part.
type adaptedPart struct {
	*train.Adaptation
	accuracy map[string]float64 // by class, mean over seeds
}

// adaptPart chooses the settings over the folds of a part, on the dev runs, and adapts the
// models of the test stage.
func adaptPart(ctx context.Context, m *contender) (*adaptedPart, error) {
	chosen, err := protocol.ChooseAdaptation(ctx, m.chosen.folds, slices.Concat(m.val, m.test))
	if err != nil {
		return nil, err
	}
	p := &adaptedPart{chosen, map[string]float64{}}
	data := m.part.Data
	for _, path := range protocol.ModelFiles(m.test) {
		list, err := adaptation.ClassAccuracy(path, data, data.Split.Test)
		if err != nil {
			return nil, err
		}
		for i, accuracy := range list {
			p.accuracy[data.Classes[data.Split.Test[i]]] += accuracy / float64(len(m.test))
		}
	}
	return p, nil
}

// summarise joins the parts of a method; inductive are its accuracies without adaptation.
func summarise(parts []*adaptedPart, inductive []lab.ClassAccuracy) *Adapted {
	a := &Adapted{}
	accuracy := map[string]float64{}
	for _, p := range parts {
		a.Settings = append(a.Settings, p.Settings)
		maps.Copy(accuracy, p.accuracy)
	}
	after := make([]float64, len(inductive))
	for i, c := range inductive {
		after[i] = accuracy[c.Class]
		a.Test += after[i] / float64(len(inductive))
	}
	a.Interval, a.Difference = metrics.ClassInterval(after), metrics.PairedDifference(after, lab.Accuracies(inductive))
	return a
}
