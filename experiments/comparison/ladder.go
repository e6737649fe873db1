package comparison

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// steps are the arms of a ladder: semantic-hard as its authors published it, then with the general
// defaults of one setting after the other, and ESZSL, whose ridges are searched in each step, as far
// as the steps apply. Settings of CUB stand for those of data sets without published ones.
func (c Config) steps() (arms []engine.Arm, err error) {
	start := config.PresetFor(c.Common.Dataset, methods.Variant(model.SemanticHard))
	if len(start.Origins) == 0 {
		start = config.PresetFor("cub", methods.Variant(model.SemanticHard))
	}
	defaults := config.Defaults(methods.Variant(model.SemanticHard))
	now := c.Common.WithMethodOf(start.Config)
	now.Preprocess = start.Preprocess
	for _, step := range []struct {
		name, title string
		keys        []string
	}{
		{"published", "LAGO as published", nil},
		{"preprocess", "LAGO + preprocessing", []string{"preprocess"}},
		{"alpha", "LAGO + alpha", []string{"alpha"}},
		{"bias", "LAGO + bias factor", []string{"bias_factor"}},
		{"defaults", "LAGO + other defaults", defaults.Settings().Without(append(config.CommonKeys(), "variant", "correction", "omega")...).Keys()},
		{"correction", "LAGO + correction", []string{"correction", "omega"}},
	} {
		for _, s := range defaults.Settings() {
			if slices.Contains(step.keys, s.Key) {
				now = now.With(s.Key, s.Value())
			}
		}
		arms = append(arms, engine.Arm{Name: "lago-" + step.name, Title: step.title, Starts: []config.Config{now}})
	}
	for _, step := range []struct {
		name, title string
		with, fixed string
	}{
		{"published", "ESZSL, ridges searched", "none", "correction"},
		{"preprocess", "ESZSL + preprocessing", "auto", "correction"},
		{"correction", "ESZSL + correction", "auto", "ridge"},
	} {
		arm, err := engine.BaselineArm("eszsl", c.Common, max(c.Budget, engine.MinBudget))
		if err != nil {
			return nil, err
		}
		arm.Name, arm.Title, arm.Fixed = "eszsl-"+step.name, step.title, []string{"preprocess", "ridge", step.fixed}
		arm.Starts[0] = arm.Starts[0].With("preprocess", step.with).With("correction", model.NoCorrection)
		arms = append(arms, arm)
	}
	return arms, nil
}

// partition repeats the comparison with other partitions of the classes into as many parts. A method
// has in a part the settings that it chose in that part of the first.
func (r *Result) partition(ctx context.Context, l *lab.Lab, c Config, p engine.Plan) error {
	for i := range r.Methods {
		r.Methods[i].partitions, r.Methods[i].Partitions = [][]float64{r.Methods[i].Test.ByClass}, []float64{r.Methods[i].Test.PerClass.Mean}
	}
	r.PartitionSeeds = []uint64{c.RotateSeed}
	for n := 1; n < c.Partitions; n++ {
		seed := c.RotateSeed + uint64(n)
		parts, err := l.Rotations(r.Parts, seed)
		if err != nil {
			return err
		}
		l.Step("partition %d of %d", n+1, c.Partitions)
		outcomes := make([][]*engine.Outcome, len(r.Methods))
		for i, part := range parts {
			again := engine.Plan{Stage: p.Stage, Folds: p.Folds}
			for _, m := range r.Methods {
				again.Arms = append(again.Arms, engine.Arm{Name: m.Name, Title: m.Title, Starts: []config.Config{m.Outcomes[i].Chosen}})
			}
			done, err := engine.Run(ctx, l.On(part), again)
			if err != nil {
				return err
			}
			r.Missing = append(r.Missing, done.Missing...)
			if len(results.Methods(done)) < len(r.Methods) {
				return nil // Missing says why
			}
			for j := range outcomes {
				outcomes[j] = append(outcomes[j], done.Arms[j]...)
			}
		}
		r.PartitionSeeds = append(r.PartitionSeeds, seed)
		for j, m := range r.Methods {
			row := results.NewMethod(engine.Arm{Name: m.Name, Title: m.Title}, outcomes[j])
			at := map[string]float64{}
			for i, class := range row.Test.ClassNames {
				at[class] = row.Test.ByClass[i]
			}
			byClass := make([]float64, len(m.Test.ClassNames))
			for i, class := range m.Test.ClassNames {
				byClass[i] = at[class]
			}
			r.Methods[j].partitions = append(m.partitions, byClass)
			r.Methods[j].Partitions = append(m.Partitions, row.Test.PerClass.Mean)
		}
	}
	return nil
}
