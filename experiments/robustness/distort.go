package robustness

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// DistortedMethod is what one method scored on the test classes, per class, by
// descriptions that are made worse by degrees: by noise, or by leaving attributes
// out. An accuracy has a value for each seed of the distortion, the mean over the
// seeds of the method, so that its s.e.m. is what the distortion makes of it.
type Method struct {
	Method   string        `json:"method"`
	Start    lab.Summary   `json:"start_accuracy"`    // by the descriptions as they are, a value for each seed of the method
	Accuracy []lab.Summary `json:"accuracy"`          // a summary for each degree
	Relative []lab.Summary `json:"relative_accuracy"` // against the start of the same model
	Models   []string      `json:"models"`            // the files
}

// distortion makes descriptions worse, by degrees. Every model meets the same.
type distortion struct {
	name    string // in errors
	degrees []float64
	seeds   int
	apply   func(u dataset.Matrix[float64], degree float64, seed uint64) dataset.Matrix[float64]
}

// subject is the trained models of one method, a seed each.
type subject struct {
	method string
	models []model.TwoStage
	paths  []string // of their files
}

// subjectsOf trains what isn't yet by the full protocol.
func subjectsOf(ctx context.Context, l *lab.Lab, variants []protocol.Config, baselines []string) ([]subject, []lab.Missing, error) {
	outcomes, failed, err := protocol.RunAll(ctx, l, variants)
	if err != nil {
		return nil, nil, err
	}
	rows, without, err := tuning.Baselines(ctx, l, baselines, variants)
	if err != nil {
		return nil, nil, err
	}
	without = append(lab.MissingOf(failed), without...)
	var list []subject
	for _, o := range outcomes {
		if o == nil {
			continue
		}
		list = append(list, subject{method: o.Variant, paths: o.ModelPaths(l)})
	}
	for _, r := range rows {
		list = append(list, subject{method: r.Name, paths: r.Models})
	}
	for i, s := range list {
		for _, path := range s.paths {
			saved, err := train.Load(path)
			if err != nil {
				return nil, nil, err
			}
			list[i].models = append(list[i].models, saved.Classifier)
		}
	}
	return list, without, nil
}

// measure judges the test classes by the models of each subject.
func (x distortion) measure(subjects []subject, d *dataset.Dataset) ([]Method, error) {
	methods := []Method{}
	for _, s := range subjects {
		m, err := x.measureOne(s, d)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	return methods, nil
}

func (x distortion) measureOne(s subject, d *dataset.Dataset) (Method, error) {
	m := Method{Method: s.method, Models: s.paths}
	samples, u := train.Select(d, d.Features, d.Split.Test), d.Describe(d.Split.Test)
	var start []float64
	accuracy, relative := newGrid(len(x.degrees), x.seeds), newGrid(len(x.degrees), x.seeds)
	for _, c := range s.models {
		// What is detected in a sample depends on no description.
		a, err := c.Detect(samples.X, samples.Rows)
		if err != nil {
			return m, err
		}
		judge := func(u dataset.Matrix[float64]) (float64, error) {
			scores, err := c.Classify(a, u)
			if err != nil {
				return 0, err
			}
			return accuracyBy(scores, samples.Labels).PerClass, nil
		}
		clean, err := judge(u)
		if err != nil {
			return m, err
		}
		if clean == 0 {
			return m, fmt.Errorf("%s: %s: expected an accuracy above 0 without it, which the others are relative to, found 0", x.name, s.method)
		}
		start = append(start, clean)
		for i, degree := range x.degrees {
			for seed := range x.seeds {
				worse, err := judge(x.apply(u, degree, uint64(seed)))
				if err != nil {
					return m, err
				}
				accuracy[i][seed] += worse / float64(len(s.models))
				relative[i][seed] += worse / clean / float64(len(s.models))
			}
		}
	}
	m.Start = lab.Summarise(start)
	for i := range x.degrees {
		m.Accuracy = append(m.Accuracy, lab.Summarise(accuracy[i]))
		m.Relative = append(m.Relative, lab.Summarise(relative[i]))
	}
	return m, nil
}

func newGrid(rows, cols int) [][]float64 {
	g := make([][]float64, rows)
	for i := range g {
		g[i] = make([]float64, cols)
	}
	return g
}

// accuracyBy counts how often the highest score of a row is at its label.
func accuracyBy(scores dataset.Matrix[float32], labels []int) metrics.Accuracy {
	named := metrics.NewConfusion(scores.Cols)
	named.Add(scores.Data, labels)
	return named.Accuracy()
}
