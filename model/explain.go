package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
)

// Explainer says how much each group and attribute contributes to the choice between two classes. It runs the
// forward computation of Score in float64, so that the parts add up to the whole.
type Explainer struct {
	Classes *Description            // the candidate classes, as the model uses them
	Prior   []float64               // M, p(a_m) as the scores use it
	Gamma   dataset.Matrix[float64] // M x K, the soft group of each attribute

	forward      *Forward[float64]
	adjust, full *adjustment // of the scores, and of BestFit
}

func newExplainer(c Config, classes *Description, v dataset.Matrix[float64], p *Pipeline) (
	*Explainer, error,
) {
	f, err := NewForward(c, classes, &Parameters[float64]{V: v})
	if err != nil {
		return nil, err
	}
	adjust, full, err := adjustments(p, f.scorer(), f.classes.U.Cols, p.Reference.Detections.Rows > 0)
	if err != nil {
		return nil, err
	}
	e := &Explainer{
		Classes: classes, Prior: make([]float64, len(classes.P)),
		Gamma:   dataset.NewMatrix[float64](v.Rows, v.Cols),
		forward: f, adjust: adjust, full: full,
	}
	restored(f.gamma, e.Gamma, classes.Described, classes.grouped(v.Cols))
	for i, m := range classes.Described {
		e.Prior[m] = f.p[i]
	}
	return e, nil
}

// LogP returns log p(z|x) of samples with the detections a, n x M, as n x Z.
func (e *Explainer) LogP(a dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	l := dataset.NewMatrix[float64](a.Rows, e.Classes.U.Rows)
	if i := slices.IndexFunc(a.Data, func(p float64) bool { return !(p >= 0 && p <= 1) }); i >= 0 {
		return l, expected("detections", fmt.Sprintf(
			"%g at row %d, column %d", a.Data[i], i/a.Cols, i%a.Cols), "probabilities")
	}
	return l, e.forward.scorer().write(a, l, nil, e.adjust, nil)
}

// BestFit returns how well the best class of a sample with the detections a fits at all: see
// Pipeline.BestFit. Without reference detections nothing is corrected.
func (e *Explainer) BestFit(a []float64) (float64, error) {
	fit := make([]float64, 1)
	scores := dataset.NewMatrix[float64](1, e.Classes.U.Rows)
	err := e.forward.scorer().write(matrix.Of(a, len(a)), scores, fit, e.adjust, e.full)
	return fit[0], err
}

// Contributions lists how much each group favours one class over another for a sample.
type Contributions struct {
	Class, Against int     // candidate classes
	LogOdds        float64 // log p(class|x) - log p(against|x)
	Correction     float64 // the part of the correction of the scores in the log odds
	Groups         []GroupContribution
}

// GroupContribution is the part of one of the K groups in the log odds.
type GroupContribution struct {
	// Contribution is log G[k,class] - log G[k,against], each scaled if the Correction is
	// Standardise; over the groups it sums to the log odds less Correction.
	Contribution float64
	None         float64 // Ac, p(none of the group|x)
	Class        GroupScore
	Against      GroupScore
}

// GroupScore is the soft OR of a group for one class (Eq. 5), and the terms of its sum.
type GroupScore struct {
	Score float64   // G[k,z]
	Terms []float64 // M, Gamma[m,k] (U[z,m]/p[m]) A[m]
	None  float64   // the none-of-group term, (Uc[z,k]/pc[k]) Ac[k]
}

// Log is the logarithm of the score that the soft AND sums (Eq. 4).
func (s GroupScore) Log() float64 { return math.Log(min(max(s.Score, leastScore), mostScore)) }

// Explain compares two candidate classes for a sample with the detections a, p(a_m|x) of M attributes.
func (e *Explainer) Explain(a []float64, class, against int) (*Contributions, error) {
	for _, z := range []int{class, against} {
		if z < 0 || z >= e.Classes.U.Rows {
			return nil, expected("class", z, "a candidate class, 0 to %d", e.Classes.U.Rows-1)
		}
	}
	if class == against {
		return nil, expected("classes", fmt.Sprintf("%d twice", class), "two different classes")
	}
	l, err := e.LogP(matrix.Of(a, len(a)))
	if err != nil {
		return nil, err
	}
	f := e.forward
	x := &Contributions{
		Class: class, Against: against, LogOdds: l.Data[class] - l.Data[against],
		Groups: make([]GroupContribution, e.Gamma.Cols),
	}
	x.Correction = e.adjust.at(class, 0) - e.adjust.at(against, 0)
	nothing := 1.0 // Ac of a group without described attributes, and its score
	if f.complement == NoComplement {
		nothing = 0
	}
	for k := range x.Groups {
		none := GroupScore{Score: nothing, Terms: make([]float64, len(a)), None: nothing}
		x.Groups[k] = GroupContribution{None: nothing, Class: none, Against: none}
	}
	detected := described(matrix.Of(a, len(a)), []int{0}, f.classes.Described)
	ac, scores := slices.Repeat([]float64{nothing}, f.gamma.Cols), f.groupScores(a)
	f.writeNoneOfDetections(ac, detected)
	for i, k := range f.classes.grouped(e.Gamma.Cols) {
		split := func(z int) GroupScore { // into the terms of the score
			s := GroupScore{
				Score: scores.Row(i)[z], Terms: make([]float64, len(a)),
				None: f.groups.noneRatio.Row(i)[z] * ac[i],
			}
			for j, m := range f.classes.Described {
				s.Terms[m] = f.gamma.Row(j)[i] * f.groups.ratio.Row(j)[z] * a[m]
			}
			return s
		}
		g := GroupContribution{None: ac[i], Class: split(class), Against: split(against)}
		g.Contribution = e.term(class, g.Class) - e.term(against, g.Against)
		x.Groups[k] = g
	}
	return x, nil
}

// term is what a group adds to the corrected L of a class.
func (e *Explainer) term(z int, s GroupScore) float64 {
	if e.adjust == nil {
		return s.Log()
	}
	return s.Log() * e.adjust.factor[z]
}
