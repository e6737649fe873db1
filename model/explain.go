package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Explainer takes the choice between classes apart: which group speaks for which
// class, and which attribute carries it. It runs the same machines as Score, in
// float64, so that the parts add up to the whole.
type Explainer struct {
	Classes *Description // the classes at hand, as the model takes them

	judge *Judge[float64]
}

// judgedNumbers is about how many scores of groups are held at a time, of at most
// explainBatch samples.
const (
	judgedNumbers = 1 << 19 // K x batch x Z
	explainBatch  = 64
)

// NewExplainer makes an explainer of the grouping of params for the classes at
// hand. The batch of p does not count.
func NewExplainer(p Problem, params *Parameters[float64]) (*Explainer, error) {
	p.Batch = min(max(judgedNumbers/max(params.V.Cols*p.Classes.U.Rows, 1), 1), explainBatch)
	judge, err := NewJudge(p, params)
	if err != nil {
		return nil, err
	}
	return &Explainer{Classes: p.Classes, judge: judge}, nil
}

// Explainer explains what Judge scores by the descriptions u.
func (l *LAGO) Explainer(u dataset.Matrix[float64]) (*Explainer, error) {
	classes, err := l.describe(u)
	if err != nil {
		return nil, err
	}
	// The grouping alone: a judge reads no detectors.
	return NewExplainer(Problem{Config: l.Config, Classes: classes, Semantic: l.Semantic}, &Parameters[float64]{V: widen(l.Params.V)})
}

// DetectOne returns p(a_m|x) of one row of the features x, in float64 from the
// preprocessed features on.
func (l *LAGO) DetectOne(x dataset.Matrix[float32], row int) ([]float64, error) {
	if x.Cols != l.Params.W.Rows {
		return nil, &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as many as the model was trained on", l.Params.W.Rows), Got: fmt.Sprint(x.Cols)}
	}
	if row < 0 || row >= x.Rows {
		return nil, &invalid.Error{Field: "row of the features", Want: fmt.Sprintf("0 to %d", x.Rows-1), Got: fmt.Sprint(row)}
	}
	preprocessed, err := l.Transform.Apply(x, []int{row})
	if err != nil {
		return nil, err
	}
	b := widen(dataset.Matrix[float32]{Rows: 1, Cols: len(l.Params.B), Data: l.Params.B}).Data
	d, err := NewDetector(&Parameters[float64]{W: widen(l.Params.W), B: b}, 1)
	if err != nil {
		return nil, err
	}
	copy(d.X.Data, widen(preprocessed).Data)
	_, a, err := d.Run()
	return a, err
}

// Gamma is the soft group of each attribute, M x K.
func (e *Explainer) Gamma() dataset.Matrix[float64] { return e.judge.frozen.gamma }

// LogP returns log p(z|x) of samples with the detections a, n x M, as n x Z.
func (e *Explainer) LogP(a dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	l := dataset.NewMatrix[float64](a.Rows, e.Classes.U.Rows)
	if a.Cols != e.judge.A.Cols {
		return l, &invalid.Error{Field: "detections", Want: fmt.Sprintf("%d, one for each attribute of the model", e.judge.A.Cols), Got: fmt.Sprint(a.Cols)}
	}
	for i, p := range a.Data {
		if !(p >= 0 && p <= 1) {
			return l, &invalid.Error{Field: "detections", Want: "probabilities", Got: fmt.Sprint(at(p, i, a.Cols))}
		}
	}
	for start := 0; start < a.Rows; start += e.judge.A.Rows {
		end := min(start+e.judge.A.Rows, a.Rows)
		copy(e.judge.A.Data, a.Data[start*a.Cols:end*a.Cols])
		logits, err := e.judge.Run()
		if err != nil {
			return l, err
		}
		copy(l.Data[start*l.Cols:end*l.Cols], logits)
	}
	LogNormalise(l.Data, l.Cols)
	return l, nil
}

// Evidence is why a sample is rather of one class than of another.
type Evidence struct {
	Class, Against int     // of the classes at hand
	LogOdds        float64 // log p(class|x) - log p(against|x)
	Groups         []GroupEvidence
}

// GroupEvidence is what one group has to say, of the K of a model.
type GroupEvidence struct {
	Contribution float64 // log G[k,class] - log G[k,against]; over the groups they sum to the log odds
	None         float64 // Ac, p(none of the group|x): 1 where the complement is constant, 0 where there is none
	Class        GroupScore
	Against      GroupScore
}

// GroupScore is the soft OR of a group for one class (Eq. 4 of the paper), and what
// it is the sum of.
type GroupScore struct {
	Score      float64   // G[k,z]
	Terms      []float64 // M, Gamma[m,k] (U[z,m]/p[m]) A[m]
	Complement float64   // (Uc[z,k]/pc[k]) Ac[k]
}

// Log is the logarithm of the score that the soft AND adds up (Eq. 5).
func (s GroupScore) Log() float64 { return math.Log(min(max(s.Score, leastScore), mostScore)) }

// Explain compares two of the classes at hand for a sample with the detections a,
// p(a_m|x) of M attributes.
func (e *Explainer) Explain(a []float64, class, against int) (*Evidence, error) {
	if err := e.checkPair(class, against); err != nil {
		return nil, err
	}
	l, err := e.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(a), Data: a})
	if err != nil {
		return nil, err
	}
	f := e.judge.frozen
	x := &Evidence{
		Class: class, Against: against, LogOdds: l.Data[class] - l.Data[against],
		Groups: make([]GroupEvidence, f.k),
	}
	none := e.none(a)
	for k := range x.Groups {
		g := GroupEvidence{None: none[k], Class: e.score(a, none[k], k, class), Against: e.score(a, none[k], k, against)}
		g.Contribution = g.Class.Log() - g.Against.Log()
		x.Groups[k] = g
	}
	return x, nil
}

// checkPair returns an error where two classes can't be compared.
func (e *Explainer) checkPair(class, against int) error {
	for _, z := range []int{class, against} {
		if z < 0 || z >= e.Classes.U.Rows {
			return &invalid.Error{Field: "class", Want: fmt.Sprintf("one of the classes at hand, 0 to %d", e.Classes.U.Rows-1), Got: fmt.Sprint(z)}
		}
	}
	if class == against {
		return &invalid.Error{Field: "classes", Want: "two that differ", Got: fmt.Sprint(class)}
	}
	return nil
}

// none is Ac, p(none of the group|x) of each group.
func (e *Explainer) none(a []float64) []float64 {
	f := e.judge.frozen
	none := make([]float64, f.k) // as it stays without a complement
	switch f.kind {
	case DeMorgan:
		noneOfRows(none, dataset.Matrix[float64]{Rows: 1, Cols: f.m, Data: a}, f.gamma)
	case Const:
		for k := range none {
			none[k] = 1
		}
	}
	return none
}

// score takes the score of the last run, of the one sample in its first row, apart.
func (e *Explainer) score(a []float64, none float64, k, z int) GroupScore {
	f := e.judge.frozen
	s := GroupScore{
		Score:      e.judge.GroupScores()[k*e.judge.A.Rows*f.z+z],
		Terms:      make([]float64, f.m),
		Complement: f.complement[k*f.z+z] * none,
	}
	for m := range s.Terms {
		s.Terms[m] = f.gamma.Row(m)[k] * f.ratio.Row(m)[z] * a[m]
	}
	return s
}

// widen copies what was trained into the precision of an explanation.
func widen(m dataset.Matrix[float32]) dataset.Matrix[float64] {
	w := dataset.NewMatrix[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		w.Data[i] = float64(v)
	}
	return w
}
