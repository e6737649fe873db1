package experiments

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// ESZSLMethod is the name of ESZSL where variants are named.
const ESZSLMethod = "eszsl"

// NoiseConfig says which models are judged by which noisy descriptions.
type NoiseConfig struct {
	Variants []Config
	ESZSL    bool      // beside them
	Ratios   []float64 // of noise, each the chance that an entry of p(a|z) is replaced
	Seeds    int       // of the noise
}

// Check returns an error for the first field that nothing can be measured with.
func (n NoiseConfig) Check() error {
	if len(n.Variants) == 0 && !n.ESZSL {
		return fmt.Errorf("variants: expected at least one")
	}
	if len(n.Ratios) == 0 {
		return fmt.Errorf("ratios: expected at least one")
	}
	for _, r := range n.Ratios {
		if !(r >= 0 && r <= 1) {
			return fmt.Errorf("ratios: expected numbers from 0 to 1, found %g", r)
		}
	}
	if n.Seeds < 1 {
		return fmt.Errorf("noise_seeds: expected at least 1, found %d", n.Seeds)
	}
	return nil
}

// Robustness is figure A.1 of the paper for one data set: how accuracy on the test
// classes suffers from salt and pepper noise on their descriptions.
type Robustness struct {
	Dataset    string        `json:"dataset"`
	Ratios     []float64     `json:"ratios"`
	NoiseSeeds int           `json:"noise_seeds"`
	Methods    []NoiseMethod `json:"methods"`
	Missing    []Missing     `json:"missing"`
}

// NoiseMethod is what one method scored, per class, at each of the ratios. An
// accuracy has a value for each seed of the noise, the mean over the seeds of the
// method, so that its s.e.m. is what the noise makes of it.
type NoiseMethod struct {
	Method   string    `json:"method"`
	Start    Summary   `json:"start_accuracy"`    // without noise, a value for each seed of the method
	Accuracy []Summary `json:"accuracy"`          // a summary for each ratio
	Relative []Summary `json:"relative_accuracy"` // against the start of the same model
	Models   []string  `json:"models"`            // the files; none for ESZSL
}

// Noise trains what isn't yet by the full protocol, and judges the test classes by
// noisy descriptions. Every model meets the same noise, and what is noise at one
// ratio is noise at all above.
func Noise(ctx context.Context, l *lab.Lab, n NoiseConfig) (*Robustness, error) {
	outcomes, without, err := RunAll(ctx, l, n.Variants)
	if err != nil {
		return nil, err
	}
	r := &Robustness{Dataset: l.Data.Name, Ratios: n.Ratios, NoiseSeeds: n.Seeds, Methods: []NoiseMethod{}, Missing: missing(without)}
	for _, o := range outcomes {
		if o == nil {
			continue
		}
		paths := o.ModelPaths(l)
		models := make([]model.Detecting, len(paths))
		for i, path := range paths {
			saved, err := train.Load(path)
			if err != nil {
				return nil, err
			}
			models[i] = saved.Classifier
		}
		m, err := n.measure(o.Variant, models, l.Data)
		if err != nil {
			return nil, err
		}
		m.Models = paths
		r.Methods = append(r.Methods, m)
	}
	if n.ESZSL {
		peer, err := FitESZSL(l.Data)
		if err != nil {
			return nil, err
		}
		m, err := n.measure(ESZSLMethod, []model.Detecting{peer.Model}, l.Data)
		if err != nil {
			return nil, err
		}
		r.Methods = append(r.Methods, m)
	}
	return r, nil
}

// measure judges the test classes by the models of one method.
func (n NoiseConfig) measure(method string, models []model.Detecting, d *dataset.Dataset) (NoiseMethod, error) {
	m := NoiseMethod{Method: method, Models: []string{}}
	samples, u := train.Select(d, d.Features, d.Split.Test), d.Describe(d.Split.Test)
	var start []float64
	accuracy, relative := newGrid(len(n.Ratios), n.Seeds), newGrid(len(n.Ratios), n.Seeds)
	for _, c := range models {
		// What is detected in a sample depends on no description.
		a, err := c.Detect(samples.X, samples.Rows)
		if err != nil {
			return m, err
		}
		judge := func(u dataset.Matrix[float64]) (float64, error) {
			scores, err := c.Judge(a, u)
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
			return m, fmt.Errorf("noise: %s: expected an accuracy above 0 without noise, which the others are relative to, found 0", method)
		}
		start = append(start, clean)
		for i, ratio := range n.Ratios {
			for seed := range n.Seeds {
				noisy, err := judge(saltAndPepper(u, ratio, uint64(seed)))
				if err != nil {
					return m, err
				}
				accuracy[i][seed] += noisy / float64(len(models))
				relative[i][seed] += noisy / clean / float64(len(models))
			}
		}
	}
	m.Start = Summarise(start)
	for i := range n.Ratios {
		m.Accuracy = append(m.Accuracy, Summarise(accuracy[i]))
		m.Relative = append(m.Relative, Summarise(relative[i]))
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

// saltAndPepper returns descriptions of which each entry is replaced, with the
// probability of the ratio, by 0 or 1, either as likely. The draws are the same at
// every ratio.
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
