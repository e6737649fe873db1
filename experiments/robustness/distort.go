package robustness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Method is the per-class accuracy of one method on the test classes when their
// descriptions are distorted, for each degree of distortion.
type Method struct {
	Method   string        `json:"method"`
	Start    lab.Summary   `json:"start_accuracy"`    // with the given descriptions, over the seeds of the method
	Accuracy []lab.Summary `json:"accuracy"`          // over the seeds of the distortion, each value a mean over the method's
	BySeed   []lab.Summary `json:"accuracy_by_seed"`  // over the seeds of the method, each value a mean over the distortion's
	Relative []lab.Summary `json:"relative_accuracy"` // as Accuracy, divided by the start of the same model
	Models   []string      `json:"models"`            // files
}

// Models says which methods are evaluated.
type Models struct {
	Variants  []protocol.Config `json:"variants"`
	Baselines []string          `json:"baselines"`
	Like      protocol.Config   `json:"like"` // has the preprocessing, seeds and epochs of the baselines
}

func (m Models) check() error {
	names := slices.Clone(m.Baselines)
	for _, v := range m.Variants {
		names = append(names, string(v.Variant))
	}
	return tuning.CheckMethods(names)
}

// distortion makes descriptions worse, by degrees, in the same way for every model.
type distortion struct {
	name    string // in errors
	degrees []float64
	seeds   int
	apply   func(u dataset.Matrix[float64], degree float64, seed uint64) dataset.Matrix[float64]
}

// subject is the trained models of one method, one per seed.
type subject struct {
	method string
	models []model.Classifier
	paths  []string // of their files
}

// subjects trains the methods by the full protocol.
func (m Models) subjects(ctx context.Context, l *lab.Lab) ([]subject, []lab.Missing, error) {
	outcomes, failed, err := protocol.RunAll(ctx, l, m.Variants)
	if err != nil {
		return nil, nil, err
	}
	baselines, err := tuning.Baselines(ctx, l, m.Baselines, m.Like)
	if err != nil {
		return nil, nil, err
	}
	var list []subject
	for _, o := range outcomes {
		if o != nil {
			list = append(list, subject{method: o.Variant, paths: o.Models})
		}
	}
	for _, r := range baselines.Rows {
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
	return list, append(lab.MissingOf(failed), baselines.Missing...), nil
}

// measure evaluates the models of each subject on the test classes.
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
	accuracy, relative, bySeed := newGrid(len(x.degrees), x.seeds), newGrid(len(x.degrees), x.seeds), newGrid(len(x.degrees), len(s.models))
	for j, c := range s.models {
		// The detected attributes do not depend on descriptions.
		a, err := c.Detect(samples.X, samples.Rows)
		if err != nil {
			return m, err
		}
		score := func(u dataset.Matrix[float64]) (float64, error) {
			scores, err := c.Classify(a, u)
			if err != nil {
				return 0, err
			}
			a, err := accuracyBy(scores, samples.Labels)
			return a.PerClass, err
		}
		clean, err := score(u)
		if err != nil {
			return m, err
		}
		if clean == 0 {
			return m, fmt.Errorf("%s: the test accuracy without %s is 0, so that no relative accuracy exists", s.method, x.name)
		}
		start = append(start, clean)
		for i, degree := range x.degrees {
			for seed := range x.seeds {
				worse, err := score(x.apply(u, degree, uint64(seed)))
				if err != nil {
					return m, err
				}
				accuracy[i][seed] += worse / float64(len(s.models))
				bySeed[i][j] += worse / float64(x.seeds)
				relative[i][seed] += worse / clean / float64(len(s.models))
			}
		}
	}
	m.Start = lab.Summarise(start)
	for i := range x.degrees {
		m.Accuracy = append(m.Accuracy, lab.Summarise(accuracy[i]))
		m.BySeed = append(m.BySeed, lab.Summarise(bySeed[i]))
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

// accuracyBy returns the accuracy of predicting the class with the highest score.
func accuracyBy(scores dataset.Matrix[float32], labels []int) (metrics.Accuracy, error) {
	confusion := metrics.NewConfusion(scores.Cols)
	err := confusion.Add(scores.Data, labels)
	return confusion.Accuracy(), err
}

// table has a row for each degree of distortion and a column for each method.
func table(degree string, degrees []float64, methods []Method, cell func(m Method, i int) string) *format.Table {
	header := []any{degree}
	for _, m := range methods {
		header = append(header, m.Method)
	}
	t := format.NewTable(header...)
	for i, d := range degrees {
		row := []any{format.Percent(d)}
		for _, m := range methods {
			row = append(row, cell(m, i))
		}
		t.Row(row...)
	}
	return t
}

// accuracyCell is the mean with its s.e.m. over distortions and over seeds.
func accuracyCell(m Method, i int) string {
	return fmt.Sprintf("%s ± %s / %s", m.Accuracy[i].MeanText(), bare(m.Accuracy[i]), bare(m.BySeed[i]))
}

// startRow is the accuracy with the given descriptions.
func startRow(name string, methods []Method) []any {
	row := []any{name}
	for _, m := range methods {
		row = append(row, fmt.Sprintf("%s ± - / %s", m.Start.MeanText(), bare(m.Start)))
	}
	return row
}

// bare is the s.e.m. in percent without the sign.
func bare(s lab.Summary) string { return strings.TrimSuffix(s.SEMText(), " %") }

// checkShares returns an error unless every number is in the range.
func checkShares(field string, list []float64, valid func(float64) bool, want string) error {
	if len(list) == 0 {
		return &invalid.Error{Field: field, Want: "at least one", Got: "none"}
	}
	for _, x := range list {
		if !valid(x) {
			return &invalid.Error{Field: field, Want: want, Got: fmt.Sprint(x)}
		}
	}
	return nil
}
