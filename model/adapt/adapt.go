// Package adapt refines the predictions for a batch of unlabelled samples by fitting clusters
// to them (transductive prediction). Only scores and features are needed, so it works on the
// scores of any classifier.
//
// The samples x_n, preprocessed, centred and of length 1 (see Normalise), are modelled as a
// mixture of one spherical Gaussian per candidate class z, with mean mu_z and precision tau:
//
//	p(x_n, z) ~ share_z exp(s_nz / T) exp(-tau/2 |x_n - mu_z|^2)
//
// s_nz is the classifier's score of the sample, log p0(z|x_n) for LAGO. A mean has the prior
// N(0, 1/(Shrinkage tau)), worth Shrinkage samples at the mean of the batch: a class with
// little mass cannot form a cluster from single samples. The shares have a Dirichlet prior,
// worth one sample per class. Fit finds the maximum a posteriori by EM. It maximises
//
//	sum_n log sum_z share_z exp(s_nz/T + tau (x_n mu_z - |mu_z|^2/2))
//	  + sum_z log share_z - Shrinkage tau/2 sum_z |mu_z|^2
//
// in alternating steps, starting from equal shares and mu = 0:
//
//	P[n,z]  = softmax over z of s_nz/T + tau (x_n mu_z - |mu_z|^2/2) + log share_z
//	share_z = (sum_n P[n,z] + 1) / (N + Z)
//	mu_z    = sum_n P[n,z] x_n / (sum_n P[n,z] + Shrinkage)
//
// P is the posterior given the parameters and the other two lines are the exact maximum of
// its lower bound, so no round lowers the objective (Dempster, Laird and Rubin 1977).
// With unit means and no shrinkage these are the updates of a von Mises-Fisher mixture; the
// shrinkage is what keeps absent classes from dividing the classes that are present.
// TransCLIP (Zanella et al., NeurIPS 2024) is a relative with text embeddings as prior.
package adapt

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
)

// Shrinkage is the weight of the prior of a mean, in samples.
const Shrinkage = 8

const (
	maxRounds = 30
	tolerance = 1e-3 // share of the predictions whose changes no longer count
	blockRows = 1024 // samples at a time
)

// Settings are chosen on validation classes.
type Settings struct {
	Temperature float64 `json:"temperature"` // T of the scores
	Tau         float64 `json:"tau"`         // weight of the features; 0 is off
}

// Check returns an *invalid.Error for the first setting that is out of range.
func (s Settings) Check() error {
	return setting.List{
		setting.Number("temperature", &s.Temperature, 1, setting.Positive),
		setting.Number("tau", &s.Tau, 0, setting.NotNegative),
	}.Check()
}

// Block is a part of the samples of a batch.
type Block struct {
	X      dataset.Matrix[float32] // n x D, see Normalise
	Scores dataset.Matrix[float32] // n x Z
}

// Mixture is what was fitted to a batch.
type Mixture struct {
	P      dataset.Matrix[float32] // N x Z, the posterior of each sample of all blocks
	Shares []float64               // Z, the estimated share of each class in the batch; they sum to 1
	// Objective is the value after each round, the first before the features were used.
	Objective []float64
	// Present is about how many classes have samples, the perplexity of what P expects of each; 0 where
	// nothing was adapted. Declined is whether P is that of the scores since too few seem to be present, see
	// Fit.
	Present  float64
	Declined bool
}

// Normalise subtracts the mean over all samples of the batch and scales each sample to
// length 1, in place. A sample at the mean becomes 0: its features favour no class.
func Normalise(blocks []Block) {
	if len(blocks) == 0 {
		return
	}
	mean, n := make([]float64, blocks[0].X.Cols), 0
	for _, b := range blocks {
		n += b.X.Rows
		for i := range b.X.Rows {
			for d, v := range b.X.Row(i) {
				mean[d] += float64(v)
			}
		}
	}
	for d := range mean {
		mean[d] /= float64(n)
	}
	for _, b := range blocks {
		parallel.For(b.X.Rows, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				x := b.X.Row(i)
				var length, before, scale float64
				for d, v := range x {
					c := float64(v) - mean[d]
					length += c * c
					before += float64(v) * float64(v)
				}
				if length > 1e-12*before { // else rounding is all that the centred sample has
					scale = 1 / math.Sqrt(length)
				}
				for d, v := range x {
					x[d] = float32((float64(v) - mean[d]) * scale)
				}
			}
		})
	}
}

// Fit fits the mixture to a batch of normalised samples. With Tau 0, and for a batch of fewer than two
// samples or classes, P is softmax(s/T). It is so, too, where fewer than half of the classes seem to be
// present: clusters would divide these. The features are not copied: the memory of a fit is that of P. The
// error is an *invalid.Error where scores or features are not finite, or there are none.
func Fit(blocks []Block, s Settings) (*Mixture, error) {
	r, err := expectationMaximisation(blocks, s)
	if err != nil || r.Present == 0 || 2*r.Present >= float64(len(r.Shares)) {
		return r, err
	}
	s.Tau = 0
	alone, err := expectationMaximisation(blocks, s)
	if err == nil {
		r.P, r.Declined = alone.P, true
	}
	return r, err
}

func expectationMaximisation(blocks []Block, s Settings) (*Mixture, error) {
	n, err := check(blocks, s)
	if err != nil {
		return nil, err
	}
	f := newFit(blocks, n, s)
	f.expect()
	if s.Tau == 0 || n < 2 || len(f.Shares) < 2 {
		f.maximise()
		return &f.Mixture, nil
	}
	for range maxRounds {
		f.maximise()
		if changed := f.expect(); float64(changed) <= tolerance*float64(n) {
			break
		}
	}
	for z := range f.mass {
		f.mass[z] /= float64(n)
	}
	f.Present = math.Exp(stat.Entropy(f.mass))
	return &f.Mixture, nil
}

func check(blocks []Block, s Settings) (n int, err error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	for _, b := range blocks {
		for k, m := range []dataset.Matrix[float32]{b.Scores, b.X} {
			if i := matrix.NotFinite(m.Data); i >= 0 {
				return 0, invalid.Expected([]string{"scores", "features"}[k],
					fmt.Sprintf("%v for sample %d", m.Data[i], n+i/m.Cols), "finite numbers")
			}
		}
		n += b.X.Rows
	}
	if n == 0 || blocks[0].Scores.Cols == 0 {
		return 0, invalid.Expected("batch", "none", "at least one sample and one class")
	}
	return n, nil
}

type fit struct {
	Mixture
	Settings
	parts  []Block                 // the samples, at most blockRows in each
	mean   dataset.Matrix[float32] // Z x D
	sum    dataset.Matrix[float32] // Z x D, of P[n,z] x_n
	mass   []float64               // Z, of P[n,z]
	square []float64               // Z, |mu_z|^2
	best   []int                   // the predicted class of each sample
}

func newFit(blocks []Block, n int, s Settings) *fit {
	dims, classes := blocks[0].X.Cols, blocks[0].Scores.Cols
	f := &fit{
		Settings: s, mean: dataset.NewMatrix[float32](classes, dims),
		sum:  dataset.NewMatrix[float32](classes, dims),
		mass: make([]float64, classes), square: make([]float64, classes), best: make([]int, n),
	}
	f.P, f.Shares = dataset.NewMatrix[float32](n, classes), make([]float64, classes)
	for z := range f.Shares {
		f.Shares[z] = 1 / float64(classes)
	}
	for _, b := range blocks {
		for lo := 0; lo < b.X.Rows; lo += blockRows {
			hi := min(lo+blockRows, b.X.Rows)
			f.parts = append(f.parts, Block{b.X.Slice(lo, hi), b.Scores.Slice(lo, hi)})
		}
	}
	return f
}

func (f *fit) maximise() {
	total := float64(len(f.best) + len(f.mass))
	for z, m := range f.mass {
		f.Shares[z] = (m + 1) / total
		f.square[z] = 0
		mean := f.mean.Row(z)
		for d, v := range f.sum.Row(z) {
			mean[d] = float32(float64(v) / (m + Shrinkage))
			f.square[z] += float64(mean[d]) * float64(mean[d])
		}
	}
}

// expect sets P, mass and sum in one pass over the samples, and appends the objective of
// the parameters. It returns how many predictions changed.
func (f *fit) expect() (changed int) {
	offset := make([]float64, len(f.Shares)) // of the logits of each class
	var objective float64
	for z, share := range f.Shares {
		offset[z] = math.Log(share) - f.Tau*f.square[z]/2
		objective += math.Log(share) - Shrinkage*f.Tau*f.square[z]/2
		f.mass[z] = 0
	}
	clear(f.sum.Data)
	first := 0 // sample of the part
	for _, b := range f.parts {
		similarity, p := matrix.Product(b.X, f.mean.T()), f.P.Slice(first, first+b.X.Rows)
		logP, moved := make([]float64, b.X.Rows), make([]bool, b.X.Rows)
		parallel.For(b.X.Rows, 64, func(lo, hi int) {
			logits := make([]float64, len(offset))
			for i := lo; i < hi; i++ {
				s := b.Scores.Row(i)
				for z, x := range similarity.Row(i) {
					logits[z] = float64(s[z])/f.Temperature + f.Tau*float64(x) + offset[z]
				}
				logSum, best, p := matrix.LogSumExp(logits), 0, p.Row(i)
				for z, v := range logits {
					p[z] = float32(math.Exp(v - logSum))
					if v > logits[best] {
						best = z
					}
				}
				logP[i], moved[i] = logSum, best != f.best[first+i]
				f.best[first+i] = best
			}
		})
		for i := range b.X.Rows {
			objective += logP[i]
			if moved[i] {
				changed++
			}
			for z, v := range p.Row(i) {
				f.mass[z] += float64(v)
			}
		}
		matrix.AddMul(f.sum, p.T(), b.X)
		first += b.X.Rows
	}
	f.Objective = append(f.Objective, objective)
	return changed
}
