package robustness

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

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
	Ratios     []float64     `json:"ratios"`
	NoiseSeeds int           `json:"noise_seeds"`
	Methods    []Method      `json:"methods"`
	Missing    []lab.Missing `json:"missing"`
}

// RunNoise trains the methods by the full protocol and evaluates them on the test classes
// with noisy descriptions. The noise is the same for every model, and the entries that are
// noisy at one ratio are noisy at all higher ones.
func RunNoise(ctx context.Context, l *lab.Lab, c NoiseConfig) (*NoiseResult, error) {
	subjects, without, err := c.subjects(ctx, l)
	if err != nil {
		return nil, err
	}
	r := &NoiseResult{Dataset: l.Data.Name, Ratios: c.Ratios, NoiseSeeds: c.Seeds, Missing: without}
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

// WriteText writes the curves of the figure as two tables with one row per ratio: relative
// accuracy, and accuracy.
func (r *NoiseResult) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: test accuracy with salt and pepper noise in the descriptions, over %s of the noise\n\n",
		r.Dataset, format.Count(r.NoiseSeeds, "seed"))
	fmt.Fprintln(&b, "relative to the same model without noise: mean ± s.e.m. over noise seeds")
	b.WriteString(table("noise", r.Ratios, r.Methods, func(m Method, i int) string {
		return fmt.Sprintf("%s ± %s", m.Relative[i].MeanText(), bare(m.Relative[i]))
	}).String())
	fmt.Fprintln(&b, "\nper-class accuracy: mean ± s.e.m. over noise seeds / over training seeds")
	t := table("noise", r.Ratios, r.Methods, accuracyCell)
	t.Line()
	t.Row(startRow("no noise", r.Methods)...)
	b.WriteString(t.String())
	b.WriteString(lab.MissingText(r.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}
