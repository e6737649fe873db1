package studies

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Noise asks for accuracy with noisy descriptions.
type Noise struct {
	Variants  []config.Config `json:"variants"`
	Baselines []string        `json:"baselines"`
	// has the preprocessing, seeds and epochs of the baselines
	Like       config.Config `json:"like"`
	Keys       []string      `json:"keys,omitempty"` // of settings that were given
	Ratios     []float64     `json:"ratios"`         // shares of entries that are replaced
	NoiseSeeds int           `json:"noise_seeds"`    // number of seeds of the noise

	names []string // of Variants and Baselines
}

func (c *Noise) Settings(r *config.Request) setting.List {
	r.Methods = &c.names
	standard := []string{string(model.SemanticHard), string(model.Singletons), "eszsl"}
	return slices.Concat(r.VariantSettings(), r.RotationSettings(), setting.List{
		setting.Choices("methods", &c.names, standard, methods.Labels()...).In(setting.Methods),
		setting.Numbers("ratios", &c.Ratios, 0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5).
			In(setting.Classes),
		setting.Whole("noise_seeds", &c.NoiseSeeds, 5, setting.Between(1, 1000)).In(setting.Classes),
	}.Common())
}

func (c *Noise) Check(r *config.Request) error {
	if len(r.Presets) == 1 {
		for _, key := range r.Keys() {
			if !slices.Contains(append(config.CommonKeys(), methods.CorrectionKeys...), key) {
				return invalid.Expected(key, "only baselines", "a variant of LAGO among --methods")
			}
		}
	}
	for _, x := range c.Ratios {
		if !(x >= 0 && x <= 1) {
			return &invalid.Error{Field: "ratios", Want: "fractions from 0 to 1", Got: fmt.Sprint(x)}
		}
	}
	return nil
}

var noiseEntry = Entry{"noise", func() results.Study { return new(Noise) }, []results.Kind{{
	Name: "noise", Title: "Noisy descriptions", Command: "noise",
	Text: "Test accuracy when entries of the class descriptions are replaced by 0 or 1 at random: about " +
		"half of these are right by chance. " +
		"Relative accuracy is that divided by the accuracy of the same model without noise.",
	New: func() results.Result { return new(results.Accuracies) },
}}}

// Plan has the methods by the full protocol.
func (c *Noise) Plan(r *config.Request, l *lab.Lab) (lab.Plan, error) {
	c.Variants, c.Baselines, c.Keys = nil, nil, r.Keys()
	configs := r.Configs()
	for _, name := range c.names {
		i := slices.IndexFunc(configs, func(v config.Config) bool { return v.Method.Label() == name })
		if i < 0 {
			c.Baselines = append(c.Baselines, name)
		} else {
			c.Variants = append(c.Variants, configs[i])
		}
	}
	c.Like = config.ForBaselines(c.Variants, r.Presets[0].Config)
	return lab.FullPlan(c.Variants, c.Baselines, c.Like, c.Keys)
}

// Summarise evaluates the models on the test classes with noisy descriptions, figure A.1 of the paper.
func (c *Noise) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	a := results.NewAccuracies(l, "noise", "with noisy descriptions", c.Like, "test")
	a.Columns, a.X = []string{"method", "noise"}, "share of entries replaced by 0 or 1 (%)"
	a.Minus, a.Method, a.Missing = "minus that without noise", "", done.Missing
	var corrections []string
	ratios := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(c.Ratios), 0))))
	for _, m := range results.Methods(done) {
		corrections = append(corrections, fmt.Sprintf("%s %s", m.Title, m.Correction()))
		a.Classes = m.Test.Classes
		rows, err := noiseRows(m, ratios, c.NoiseSeeds)
		if err != nil {
			return nil, err
		}
		a.Rows = append(a.Rows, rows...)
	}
	a.Notes = []string{"correction: " + strings.Join(corrections, ", ")}
	if c.Baselines != nil {
		a.Notes = append(a.Notes, "the settings of baselines were searched, those of variants were not")
	}
	return a, nil
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

// noiseRows evaluates the models of a method, one per seed and part, on the test classes, with each ratio of
// noise, of which the first is 0.
func noiseRows(method results.Method, ratios []float64, draws int) (list []results.Row, err error) {
	models, err := testedModels(method)
	if err != nil {
		return nil, err
	}
	var clean *results.Measured
	for _, ratio := range ratios {
		var all []lab.Run
		byDraw, relative := make([]float64, draws), make([]float64, draws)
		for draw := range draws {
			runs := make([]lab.Run, len(models))
			for i, m := range models {
				if runs[i], err = m.noisy(ratio, uint64(draw)); err != nil {
					return nil, err
				}
			}
			all = append(all, runs...)
			m := results.Measure(runs)
			if clean == nil {
				clean = m
			}
			byDraw[draw] = m.PerClass.Mean
			for j, accuracy := range m.PerClass.Values {
				relative[draw] += accuracy / clean.PerClass.Values[j] / float64(len(m.PerClass.Values))
			}
		}
		if slices.Contains(clean.PerClass.Values, 0) {
			return nil, fmt.Errorf("%s: the test accuracy with the given descriptions is 0, so that no "+
				"accuracy relative to it exists", method.Name)
		}
		m, drawn, relatively := results.Measure(all), lab.Summarise(byDraw), lab.Summarise(relative)
		row := results.Row{
			Labels: []string{method.Name, format.Percent(ratio)}, Number: 100 * ratio, Draws: draws,
			Accuracy: m.PerClass, Interval: m.Interval, ByClass: m.ByClass,
			ByDraw: &drawn, Relative: &relatively,
		}
		if ratio > 0 {
			d := metrics.PairedDifference(m.ByClass, clean.ByClass)
			row.Difference = &d
		}
		list = append(list, row)
	}
	return list, nil
}

type testedModel struct {
	lab.Run
	*model.Pipeline
	detections   dataset.Matrix[float32]
	labels       []int
	descriptions dataset.Matrix[float64]
}

func testedModels(method results.Method) (list []testedModel, err error) {
	for _, o := range method.Outcomes {
		d := o.Part.Data
		samples, u := train.Select(d, d.Split.Test), d.Describe(d.Split.Test)
		for _, run := range o.Test {
			saved, err := train.Load(lab.ModelFiles([]lab.Run{run})[0])
			if err != nil {
				return nil, err
			}
			detections, err := saved.Pipeline.Detect(samples.X, samples.Rows)
			if err != nil {
				return nil, err
			}
			list = append(list, testedModel{run, saved.Pipeline, detections, samples.Labels, u})
		}
	}
	return list, nil
}

func (m testedModel) noisy(ratio float64, draw uint64) (lab.Run, error) {
	scores, err := model.Classify(m.Pipeline, m.detections, saltAndPepper(m.descriptions, ratio, draw))
	if err != nil {
		return m.Run, err
	}
	confusion, err := metrics.Confuse(scores, m.labels)
	m.Run.Evaluation = &train.Evaluation{Confusion: confusion}
	return m.Run, err
}
