// Package robustness measures test accuracy when class descriptions are noisy (the paper's
// figure A.1) or partial.
package robustness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Models says which methods are evaluated.
type Models struct {
	Variants  []engine.Config `json:"variants"`
	Baselines []string        `json:"baselines"`
	Like      engine.Config   `json:"like"` // has the preprocessing, seeds and epochs of the baselines
}

func (m Models) check() error {
	var names []string
	for _, v := range m.Variants {
		names = append(names, v.Method.Label())
	}
	return engine.CheckArms(append(names, m.Baselines...))
}

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

// checkMethods returns an *invalid.Error if methods, as read from a file, are incomplete.
func checkMethods(named string, degrees []float64, methods []Method) error {
	if len(methods) == 0 || len(degrees) == 0 {
		return &invalid.Error{Field: "methods", Want: "methods and " + named, Got: fmt.Sprintf("%d and %d", len(methods), len(degrees))}
	}
	for _, m := range methods {
		if n := len(degrees); len(m.Accuracy) != n || len(m.Relative) != n || len(m.BySeed) != n {
			return &invalid.Error{
				Field: m.Method, Want: fmt.Sprintf("accuracies for each of the %d %s", n, named), Got: fmt.Sprintf("%d, %d and %d", len(m.Accuracy), len(m.Relative), len(m.BySeed)),
			}
		}
	}
	return nil
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
	models []*model.Pipeline
	paths  []string // of their files
}

// subjects trains the methods by the full protocol. It returns what is missing, too.
func (m Models) subjects(ctx context.Context, l *lab.Lab) ([]subject, []lab.Missing, error) {
	plan, err := engine.FullPlan(m.Variants, m.Baselines, m.Like)
	if err != nil {
		return nil, nil, err
	}
	done, err := engine.Run(ctx, l, plan)
	if err != nil {
		return nil, nil, err
	}
	rows, missing := done.Rows(plan, l.Data.Name)
	for _, o := range done.LeftOut {
		missing = append(missing, lab.Missing{Dir: string(o.Variant), Why: o.Why})
	}
	var list []subject
	for _, r := range rows {
		s := subject{method: r.Name, paths: r.Models}
		for _, path := range r.Models {
			saved, err := train.Load(path)
			if err != nil {
				return nil, nil, err
			}
			s.models = append(s.models, saved.Pipeline)
		}
		list = append(list, s)
	}
	return list, missing, nil
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
	accuracy, relative, bySeed := grid(len(x.degrees), x.seeds), grid(len(x.degrees), x.seeds), grid(len(x.degrees), len(s.models))
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
			confusion := metrics.NewConfusion(scores.Cols)
			err = confusion.Add(scores.Data, samples.Labels)
			return confusion.Accuracy().PerClass, err
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

func grid(rows, cols int) [][]float64 {
	g := make([][]float64, rows)
	for i := range g {
		g[i] = make([]float64, cols)
	}
	return g
}

// degreeTable has a row for each degree of distortion and a column for each method.
func degreeTable(title, degree string, degrees []float64, methods []Method, cell func(m Method, i int) string) *table.Table {
	t := table.New(title, degree)
	for _, m := range methods {
		t.Header = append(t.Header, m.Method)
	}
	for i, d := range degrees {
		row := []any{format.Percent(d)}
		for _, m := range methods {
			row = append(row, cell(m, i))
		}
		t.Row(row...)
	}
	return t
}

// accuracyTable has the mean with its s.e.m. over distortions and over seeds, and, below a
// line, that with the given descriptions.
func accuracyTable(title, degree string, degrees []float64, methods []Method, given string) *table.Table {
	t := degreeTable(title, degree, degrees, methods, func(m Method, i int) string {
		return fmt.Sprintf("%s ± %s / %s", m.Accuracy[i].MeanText(), errorText(m.Accuracy[i]), errorText(m.BySeed[i]))
	}).Line()
	row := []any{given}
	for _, m := range methods {
		row = append(row, fmt.Sprintf("%s ± - / %s", m.Start.MeanText(), errorText(m.Start)))
	}
	return t.Row(row...)
}

// errorText is the s.e.m. in percent without the sign.
func errorText(s lab.Summary) string { return strings.TrimSuffix(s.SEMText(), " %") }

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

// NoiseConfig says which models are evaluated with which noisy descriptions.
type NoiseConfig struct {
	Models
	Ratios []float64 `json:"ratios"` // probabilities that an entry of p(a|z) is replaced
	Seeds  int       `json:"noise_seeds"`
}

// Check returns an *invalid.Error for the first field that is wrong.
func (c NoiseConfig) Check() error {
	if err := c.check(); err != nil {
		return err
	}
	if err := checkShares("ratios", c.Ratios, func(r float64) bool { return r >= 0 && r <= 1 }, "fractions from 0 to 1"); err != nil {
		return err
	}
	if c.Seeds < 1 {
		return &invalid.Error{Field: "noise_seeds", Want: "at least 1", Got: strconv.Itoa(c.Seeds)}
	}
	return nil
}

// NoiseKind is the first word of the names of stored results.
const NoiseKind = "noise"

// NoiseResult is figure A.1 of the paper for one data set: accuracy on the test classes
// with salt and pepper noise in their descriptions.
type NoiseResult struct {
	Dataset    string        `json:"dataset"`
	Classes    int           `json:"classes"` // test classes
	Ratios     []float64     `json:"ratios"`
	NoiseSeeds int           `json:"noise_seeds"`
	Methods    []Method      `json:"methods"`
	Missing    []lab.Missing `json:"missing"`
}

// RunNoise trains the methods by the full protocol, evaluates them on the test classes with
// noisy descriptions, and stores the result. The noise is the same for every model, and the
// entries that are noisy at one ratio are noisy at all higher ones.
func RunNoise(ctx context.Context, l *lab.Lab, c NoiseConfig) (*NoiseResult, error) {
	subjects, missing, err := c.subjects(ctx, l)
	if err != nil {
		return nil, err
	}
	r := &NoiseResult{Dataset: l.Data.Name, Classes: len(l.Data.Split.Test), Ratios: c.Ratios, NoiseSeeds: c.Seeds, Missing: missing}
	r.Methods, err = distortion{"noise", c.Ratios, c.Seeds, saltAndPepper}.measure(subjects, l.Data)
	if err != nil {
		return nil, err
	}
	return r, l.Store(NoiseKind, c, r)
}

// saltAndPepper returns descriptions of which each entry is replaced by 0 or 1, with equal
// probability, with the probability of the ratio. The draws are the same at every ratio.
func saltAndPepper(u dataset.Matrix[float64], ratio float64, seed uint64) dataset.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 0x5a17))
	noisy := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		chance, salt := rng.Float64(), rng.IntN(2)
		if chance < ratio {
			p = float64(salt)
		}
		noisy.Data[i] = p
	}
	return noisy
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (r *NoiseResult) Check() error { return checkMethods("ratios", r.Ratios, r.Methods) }

// Tables have one row per ratio: relative accuracy, and accuracy.
func (r *NoiseResult) Tables() []*table.Table {
	return []*table.Table{
		table.New(fmt.Sprintf("%s: test accuracy with salt and pepper noise in the descriptions, over %s of the noise", r.Dataset, format.Count(r.NoiseSeeds, "seed"))),
		degreeTable("relative to the same model without noise: mean ± s.e.m. over noise seeds", "noise", r.Ratios, r.Methods, func(m Method, i int) string {
			return fmt.Sprintf("%s ± %s", m.Relative[i].MeanText(), errorText(m.Relative[i]))
		}),
		accuracyTable("per-class accuracy: mean ± s.e.m. over noise seeds / over training seeds", "noise", r.Ratios, r.Methods, "no noise"),
		lab.MissingTable(r.Missing),
	}
}
