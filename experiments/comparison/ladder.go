package comparison

import (
	"slices"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
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
