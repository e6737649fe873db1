package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Explainer says how much each group and attribute contributes to the choice between two
// classes. It runs the forward computation of Score in float64, so that the parts add up
// to the whole.
type Explainer struct {
	Classes *Description // the candidate classes, as the model uses them

	forward *Forward[float64]
}

func newExplainer(c Config, classes *Description, v dataset.Matrix[float64]) (*Explainer, error) {
	f, err := NewForward(c, classes, &Parameters[float64]{V: v})
	return &Explainer{Classes: classes, forward: f}, err
}

// Prior returns p(a_m), M, as the scores use it.
func (e *Explainer) Prior() []float64 {
	if p := e.forward.groups.prior; p != nil {
		return p.p
	}
	return e.Classes.P
}

// Gamma returns the soft group of each attribute, M x K.
func (e *Explainer) Gamma() dataset.Matrix[float64] { return e.forward.groups.gamma }

// LogP returns log p(z|x) of samples with the detections a, n x M, as n x Z.
func (e *Explainer) LogP(a dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	l := dataset.NewMatrix[float64](a.Rows, e.Classes.U.Rows)
	for i, p := range a.Data {
		if !(p >= 0 && p <= 1) {
			return l, &invalid.Error{
				Field: "detections", Want: "probabilities", Got: fmt.Sprintf("%g at row %d, column %d", p, i/a.Cols, i%a.Cols),
			}
		}
	}
	return l, e.forward.LogP(a, l)
}

// Evidence lists how much each group favours one class over another for a sample.
type Evidence struct {
	Class, Against int     // candidate classes
	LogOdds        float64 // log p(class|x) - log p(against|x)
	Groups         []GroupEvidence
}

// GroupEvidence is the part of one of the K groups in the log odds.
type GroupEvidence struct {
	Contribution float64 // log G[k,class] - log G[k,against]; over the groups they sum to the log odds
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

// Explain compares two candidate classes for a sample with the detections a, p(a_m|x) of
// M attributes.
func (e *Explainer) Explain(a []float64, class, against int) (*Evidence, error) {
	logP, err := e.logPOf(a, class, against)
	if err != nil {
		return nil, err
	}
	scores, _ := e.forward.groupScores(a)
	x := &Evidence{
		Class: class, Against: against, LogOdds: logP[class] - logP[against],
		Groups: make([]GroupEvidence, scores.Rows),
	}
	none := e.noneOfDetections(a)
	for k := range x.Groups {
		score := func(z int) GroupScore { return e.score(a, scores.Row(k)[z], none[k], k, z) }
		g := GroupEvidence{None: none[k], Class: score(class), Against: score(against)}
		g.Contribution = g.Class.Log() - g.Against.Log()
		x.Groups[k] = g
	}
	return x, nil
}

// logPOf returns log p(z|x) of one sample, after checking two classes to be compared.
func (e *Explainer) logPOf(a []float64, class, against int) ([]float64, error) {
	for _, z := range []int{class, against} {
		if z < 0 || z >= e.Classes.U.Rows {
			return nil, &invalid.Error{Field: "class", Want: fmt.Sprintf("a candidate class, 0 to %d", e.Classes.U.Rows-1), Got: fmt.Sprint(z)}
		}
	}
	if class == against {
		return nil, &invalid.Error{Field: "classes", Want: "two different classes", Got: fmt.Sprintf("%d twice", class)}
	}
	l, err := e.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(a), Data: a})
	return l.Data, err
}

// noneOfDetections returns Ac of each group.
func (e *Explainer) noneOfDetections(a []float64) []float64 {
	ac := make([]float64, e.forward.groups.k)
	if !e.forward.groups.writeNoneOfDetections(ac, a) && e.forward.groups.complement == Const {
		for k := range ac {
			ac[k] = 1
		}
	}
	return ac
}

// score splits a group score into its terms.
func (e *Explainer) score(a []float64, score, none float64, k, z int) GroupScore {
	f := e.forward.groups
	s := GroupScore{Score: score, Terms: make([]float64, f.m), None: f.noneRatio[k*f.z+z] * none}
	for m := range s.Terms {
		s.Terms[m] = f.gamma.Row(m)[k] * f.ratio.Row(m)[z] * a[m]
	}
	return s
}
