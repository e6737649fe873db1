package comparison

import (
	"context"
	"maps"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model/adapt"
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

// adaptedPart is a method adapted to the test classes of one part.
type adaptedPart struct {
	settings adapt.Settings
	accuracy map[string]float64 // by class, mean over seeds
}

// adaptMethods adapts the models of each method.
func adaptMethods(ctx context.Context, methods []Method, onAdapt func(method string)) error {
	done := map[string]*adaptedPart{} // by folder of a run: the row of LAGO has the models of a variant
	for i, m := range methods {
		if onAdapt != nil {
			onAdapt(m.Name)
		}
		a, accuracy := &Adapted{}, map[string]float64{}
		for _, o := range m.Outcomes {
			if err := ctx.Err(); err != nil {
				return err
			}
			first := o.Test[0].Dir
			if done[first] == nil {
				p, err := adaptPart(ctx, o)
				if err != nil {
					return err
				}
				done[first] = p
			}
			a.Settings = append(a.Settings, done[first].settings)
			maps.Copy(accuracy, done[first].accuracy)
		}
		inductive := m.Test.ByClass
		after := make([]float64, len(inductive))
		for j, c := range inductive {
			after[j] = accuracy[c.Class]
			a.Test += after[j] / float64(len(inductive))
		}
		a.Interval, a.Difference = metrics.ClassInterval(after), metrics.PairedDifference(after, lab.Accuracies(inductive))
		methods[i].Adapted = a
	}
	return nil
}

// adaptPart chooses the settings over the folds of a part, on the dev runs, and adapts the
// models of the test stage.
func adaptPart(ctx context.Context, o *engine.Outcome) (*adaptedPart, error) {
	chosen, err := o.ChooseAdaptation(ctx)
	if err != nil {
		return nil, err
	}
	p := &adaptedPart{chosen.Settings, map[string]float64{}}
	data := o.Part.Data
	for _, path := range engine.ModelFiles(o.Test) {
		accuracies, err := adaptation.ClassAccuracy(path, data, data.Split.Test)
		if err != nil {
			return nil, err
		}
		for i, a := range accuracies {
			p.accuracy[data.Classes[data.Split.Test[i]]] += a / float64(len(o.Test))
		}
	}
	return p, nil
}
