package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Decision is what is chosen after training, on validation classes: how scores become predictions. No weight
// depends on it.
type Decision struct {
	// evidence or standardise: of the scores, and of the fit in full
	Kind    CorrectionKind `json:"correction"`
	Scoring                // where all candidates are seen, or all are unseen
	// where seen and unseen classes are candidates together, chosen on held-out samples; nil without such
	// samples
	Mixed *Scoring `json:"mixed,omitempty"`
	// chosen with Mixed; evaluations have it, predictions do not
	Stacking   *Stacking   `json:"stacking,omitempty"`
	Fit        *Fit        `json:"fit,omitempty"`        // nil if it was not measured
	Adaptation *Adaptation `json:"adaptation,omitempty"` // nil if it was not chosen
}

// Scoring is how scores are corrected and become probabilities.
type Scoring struct {
	Omega float64 `json:"omega"` // of the correction, from 0, none, to 1
	// nil if it was not chosen, or if no temperature fits
	Calibration *Calibration `json:"calibration,omitempty"`
}

// Stacking is calibrated stacking of corrected scores (Chao et al. 2016), with omega and gamma that were
// chosen together.
type Stacking struct {
	Omega        float64 `json:"omega"`
	Gamma        float64 `json:"gamma"`         // subtracted from the corrected scores of seen classes
	HarmonicMean float64 `json:"harmonic_mean"` // of the accuracies that chose it, a fraction
}

// Correction returns the correction where all candidates are unseen.
func (d Decision) Correction() Correction { return Correction{d.Kind, d.Omega}.Canonical() }

// ForMixed returns the decision where seen and unseen classes are candidates together. Without held-out
// samples it has the correction of d, and no temperature, which would be fitted for other candidates.
func (d Decision) ForMixed() Decision {
	if d.Scoring.Calibration = nil; d.Mixed != nil {
		d.Scoring = *d.Mixed
	}
	return d
}

// Calibration is what makes probabilities of the scores s, softmax(s/T), as chosen on validation classes.
type Calibration struct {
	Temperature float64 `json:"temperature"` // T
	// expected calibration error on the validation classes with T = 1; null for baselines
	ErrorBefore *float64 `json:"error_before"`
	// the same with T, which was fitted on other samples of these classes
	ErrorAfter float64 `json:"error_after"`
	Samples    int     `json:"samples"`
	Classes    int     `json:"classes"`
}

// Adaptation is how predictions are adapted to a batch of unlabelled samples, as chosen on
// validation classes. Accuracies are those on these, as fractions.
type Adaptation struct {
	adapt.Settings // with Tau 0 adaptation is off
	// of the features that are adapted to, if not that of the model
	Preprocess preprocess.Chain      `json:"preprocess,omitempty"`
	Transform  *preprocess.Transform `json:"-"`
	Before     float64               `json:"before"` // validation accuracy without adaptation
	After      float64               `json:"after"`  // validation accuracy with it
	// of the change, over classes; null if adaptation is off
	Interval *Interval `json:"interval"`
	Samples  int       `json:"samples"`
	Classes  int       `json:"classes"`
}

// Interval is a 95 % confidence interval by percentile bootstrap over classes. It describes how much an
// accuracy depends on which classes happen to be evaluated; with twelve classes or fewer it is somewhat too
// short. Its bounds are NaN for fewer than two classes; JSON then has null.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// String returns the bounds in percent, "55.9 to 69.0", or "-" for fewer than two classes, and for
// classes that are all alike, of which a bootstrap shows no spread.
func (i Interval) String() string {
	if math.IsNaN(i.Low) || i.Low == i.High {
		return "-"
	}
	return format.Tenths(i.Low) + " to " + format.Tenths(i.High)
}

// MarshalJSON writes null for fewer than two classes.
func (i Interval) MarshalJSON() ([]byte, error) {
	if math.IsNaN(i.Low) {
		return []byte("null"), nil
	}
	type bounds Interval
	return json.Marshal(bounds(i))
}

// UnmarshalJSON reads null as NaN.
func (i *Interval) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*i = Interval{math.NaN(), math.NaN()}
		return nil
	}
	type bounds Interval
	return json.Unmarshal(data, (*bounds)(i))
}

// Fit is how well samples of validation classes fit their best class among numbers of candidates, theirs
// among them: quantiles of Pipeline.BestFit, evenly spaced from the lowest to the highest.
type Fit struct {
	Candidates []int       `json:"candidates"` // the numbers, ascending
	Quantiles  [][]float64 `json:"quantiles"`  // of each number
	Samples    int         `json:"samples"`
	Classes    int         `json:"classes"`
}

const (
	fitQuantiles = 101 // per cent
	mostFit      = 1e18
)

// Add adds the fits of samples among more candidates than before.
func (f *Fit) Add(candidates int, fits []float64) {
	sorted, quantiles := slices.Sorted(slices.Values(fits)), make([]float64, fitQuantiles)
	for i := range quantiles {
		quantiles[i] = stat.Quantile(float64(i)/(fitQuantiles-1), stat.LinInterp, sorted, nil)
		quantiles[i] = max(quantiles[i], quantiles[max(i-1, 0)]) // rounding of interpolated ones
	}
	f.Candidates, f.Quantiles = append(f.Candidates, candidates), append(f.Quantiles, quantiles)
}

// Share returns the share of the samples that fit less well than one among so many candidates. Between the
// numbers of Candidates it is interpolated.
func (f *Fit) Share(fit float64, candidates int) float64 {
	above, found := slices.BinarySearch(f.Candidates, candidates)
	switch last := len(f.Candidates) - 1; {
	case found || above == 0:
		return shareBelow(f.Quantiles[above], fit)
	case above > last:
		return shareBelow(f.Quantiles[last], fit)
	}
	log := func(n int) float64 { return math.Log(float64(n)) }
	few, many := f.Candidates[above-1], f.Candidates[above]
	weight := (log(candidates) - log(few)) / (log(many) - log(few))
	return (1-weight)*shareBelow(f.Quantiles[above-1], fit) + weight*shareBelow(f.Quantiles[above], fit)
}

func shareBelow(quantiles []float64, fit float64) float64 {
	last := len(quantiles) - 1
	i := sort.SearchFloat64s(quantiles, fit) // quantiles[i-1] < fit <= quantiles[i]
	switch {
	case i == 0:
		return 0
	case i > last:
		return 1
	}
	return (float64(i-1) + (fit-quantiles[i-1])/(quantiles[i]-quantiles[i-1])) / float64(last)
}

// Check returns an *invalid.Error for the first value that no choice can have.
func (d Decision) Check() error {
	if d.Kind != Subtract && d.Kind != Standardise {
		return expected("correction", d.Kind, "%s or %s", Subtract, Standardise)
	}
	if err := d.Scoring.check(); err != nil {
		return err
	}
	if d.Mixed != nil {
		if err := d.Mixed.check(); err != nil {
			return invalid.At("mixed", err)
		}
	}
	if s := d.Stacking; s != nil {
		if err := (Scoring{Omega: s.Omega}).check(); err != nil {
			return invalid.At("stacking", err)
		}
		if matrix.NotFinite([]float64{s.Gamma, s.HarmonicMean}) >= 0 {
			return expected("stacking", "others", "a finite gamma and harmonic mean")
		}
	}
	if f := d.Fit; f != nil {
		ascending := slices.IsSorted(f.Candidates) && len(f.Candidates) == len(f.Quantiles) &&
			len(f.Candidates) > 0
		for _, q := range f.Quantiles { // differences of bounded ones stay finite
			ascending = ascending && len(q) == fitQuantiles && slices.IsSorted(q) &&
				q[0] >= -mostFit && q[fitQuantiles-1] <= mostFit
		}
		if !ascending || f.Candidates[0] < 1 {
			return expected("fit", "others", "numbers of candidates, the lowest first, and %d quantiles of "+
				"each, which ascend from %g to %g at most", fitQuantiles, -mostFit, mostFit)
		}
		if err := checkCounts("fit", f.Samples, f.Classes); err != nil {
			return err
		}
	}
	if a := d.Adaptation; a != nil {
		evidence := []float64{a.Before, a.After}
		if i := a.Interval; i != nil {
			evidence = append(evidence, i.Low, i.High)
		}
		if err := a.Settings.Check(); err != nil {
			return invalid.At("adaptation", err)
		}
		if err := checkCounts("adaptation", a.Samples, a.Classes); err != nil {
			return err
		}
		if matrix.NotFinite(evidence) >= 0 || (a.Interval == nil) != (a.Tau == 0) {
			return expected("adaptation", "others", "finite accuracies, and their interval unless tau is 0")
		}
	}
	return nil
}

func checkCounts(field string, samples, classes int) error {
	if samples < 0 || classes < 0 {
		return expected(field, fmt.Sprintf("%d and %d", samples, classes),
			"numbers of samples and classes, 0 or above")
	}
	return nil
}

func (s Scoring) check() error {
	const leastTemperature, mostTemperature = 1e-18, 1e18 // quotients of scores stay finite
	if !(s.Omega >= 0 && s.Omega <= 1) {
		return expected("omega", s.Omega, "a number from 0 to 1")
	}
	c := s.Calibration
	if c == nil {
		return nil
	}
	if !(c.Temperature >= leastTemperature && c.Temperature <= mostTemperature) {
		return expected("calibration: temperature", c.Temperature, "a number from %g to %g", leastTemperature,
			mostTemperature)
	}
	if !matrix.Finite(c.ErrorAfter) || c.ErrorBefore != nil && !matrix.Finite(*c.ErrorBefore) {
		return expected("calibration", "others", "finite errors")
	}
	return checkCounts("calibration", c.Samples, c.Classes)
}

// CorrectionKind says how scores are corrected.
type CorrectionKind string

const (
	NoCorrection CorrectionKind = "none"
	Subtract     CorrectionKind = "evidence"    // of logarithms of probabilities
	Standardise  CorrectionKind = "standardise" // of any scores
)

// Correction takes out of the scores of each class what the class gets from samples of seen classes, whatever
// these show: the descriptions of some classes, hubs, score high with everything. It is an empirical
// correction, no part of the paper and no consequence of the model. If exp L(x,z), L = sum_k log G[k,z],
// estimated p(z|x) / p(z), its mean over x would be 1 for every class. It is far from that, because groups
// are not independent and the prior p(a) is coarse, and differs between classes:
//
//	e[z]   = log of the mean over reference detections x' of exp L(x',z)
//	L(x,z) = L(x,z) - Omega e[z]
//
// With Omega 1 the mean over the reference detections is 1 for every class. Where the samples of
// a class itself are missing among them, as those of unseen classes are, about one half is best.
//
// This is Subtract, for scores that are logarithms of probabilities. Standardise is for any
// scores s, by their mean and standard deviation over x':
//
//	s(x,z) = (s(x,z) - c - Omega (mean[z] - c)) / deviation[z]^Omega
//
// with the mean c of the scores of all seen classes, which keeps an offset that all scores have
// from being scaled differently for each class.
type Correction struct {
	Kind  CorrectionKind `json:"correction"` // none, evidence or standardise
	Omega float64        `json:"omega"`      // from 0, no correction, to 1
}

// On reports whether c changes scores.
func (c Correction) On() bool { return c.Omega != 0 && c.Kind != NoCorrection && c.Kind != "" }

// Canonical returns the one form of all corrections that change no scores, or c.
func (c Correction) Canonical() Correction {
	if c.On() {
		return c
	}
	return Correction{Kind: NoCorrection}
}

// Reference is what corrections, fits and explanations need of the samples of seen classes.
type Reference struct {
	Detections dataset.Matrix[float32] // n x M; the means over the samples of each seen class
	// 9 x M, of the detections of the samples; empty for other methods than LAGO
	Deciles dataset.Matrix[float32]
	Centre  float32 // c, see Correction and Pipeline.Refer
}

// adjustment of a score s of class z is (s - shift[z]) factor[z].
type adjustment struct{ shift, factor []float64 }

// adjustment returns that of c, from the scores of the reference detections, n x Z, and their centre.
func (c Correction) adjustment(scores dataset.Matrix[float64], centre float64) *adjustment {
	a := &adjustment{make([]float64, scores.Cols), make([]float64, scores.Cols)}
	for z := range scores.Cols {
		column := make([]float64, scores.Rows)
		for i := range column {
			column[i] = scores.Row(i)[z]
		}
		a.shift[z], a.factor[z] = c.Omega*(matrix.LogSumExp(column)-math.Log(float64(len(column)))), 1
		if c.Kind == Standardise {
			mean, variance := stat.PopMeanVariance(column, nil)
			a.shift[z] = centre + c.Omega*(mean-centre)
			if variance > 0 { // else the class has the same score everywhere
				a.factor[z] = math.Pow(variance, -c.Omega/2)
			}
		}
	}
	return a
}

func (a *adjustment) best(scores []float64) float64 {
	best := math.Inf(-1)
	for z, s := range scores {
		best = max(best, a.corrected(z, s))
	}
	return best
}

func (a *adjustment) corrected(z int, score float64) float64 {
	if a == nil {
		return score
	}
	return (score - a.shift[z]) * a.factor[z]
}

// adjust sets what the decision does to the scores of a scorer, and if asked for the correction in full, see
// BestFit. The reference detections have so many columns, 0 for any.
func adjust[T Float](s *Scorer[T], p *Pipeline, columns int, fits bool) error {
	c, r := p.Decision.Correction(), p.Reference
	if !c.On() && !fits {
		return nil
	}
	if err := p.Decision.Check(); err != nil {
		return err
	}
	if r.Detections.Rows < 1 || columns > 0 && r.Detections.Cols != columns {
		got := fmt.Sprintf("%d x %d", r.Detections.Rows, r.Detections.Cols)
		return expected("reference detections", got,
			"at least one row, as wide as the detections of the model")
	}
	reference, err := s.scores(dataset.Convert[T](r.Detections))
	if err != nil {
		return err
	}
	if c.On() {
		s.own = c.adjustment(reference, float64(r.Centre))
	}
	s.full = Correction{p.Decision.Kind, 1}.adjustment(reference, float64(r.Centre))
	return nil
}
