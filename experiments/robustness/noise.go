package robustness

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
)

// NoiseConfig says which models are judged by which noisy descriptions.
type NoiseConfig struct {
	Variants  []protocol.Config
	Baselines []string  // beside them
	Ratios    []float64 // of noise, each the chance that an entry of p(a|z) is replaced
	Seeds     int       // of the noise
}

// Check returns an error for the first field that nothing can be measured with.
func (n NoiseConfig) Check() error {
	if len(n.Variants)+len(n.Baselines) == 0 {
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
type NoiseResult struct {
	Dataset    string        `json:"dataset"`
	Ratios     []float64     `json:"ratios"`
	NoiseSeeds int           `json:"noise_seeds"`
	Methods    []Method      `json:"methods"`
	Missing    []lab.Missing `json:"missing"`
}

// Noise trains what isn't yet by the full protocol, and judges the test classes by
// noisy descriptions. Every model meets the same noise, and what is noise at one
// ratio is noise at all above.
func RunNoise(ctx context.Context, l *lab.Lab, n NoiseConfig) (*NoiseResult, error) {
	subjects, without, err := subjectsOf(ctx, l, n.Variants, n.Baselines)
	if err != nil {
		return nil, err
	}
	r := &NoiseResult{Dataset: l.Data.Name, Ratios: n.Ratios, NoiseSeeds: n.Seeds, Missing: without}
	r.Methods, err = distortion{"noise", n.Ratios, n.Seeds, saltAndPepper}.measure(subjects, l.Data)
	return r, err
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
