package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Forward computes log p(z|x) from detections, A -> G -> Z, while nothing trains. All
// evaluation, prediction and explanation go through it. It computes group after group
// for a block of samples, so that group scores stay in the processor's cache.
type Forward[T Float] struct {
	groups     *softOr[T]
	classes    *Description
	complement Complement
	gamma      matrix.Matrix[T] // M x K of described attributes
	p          []float64        // p(a_m) of described attributes
	z          int
	block      int // samples
}

// The size of a block: about blockNumbers samples x classes, at least leastBlock samples
// unless the classes are so many that maxBlockNumbers would be exceeded.
const (
	blockNumbers    = 4096
	leastBlock      = 16
	mostBlock       = 256
	maxBlockNumbers = 1 << 18
)

// NewForward returns the forward computation of the grouping of params for the candidate
// classes. It reads V of params alone.
func NewForward[T Float](c Config, classes *Description, params *Parameters[T]) (*Forward[T], error) {
	k, err := c.check(classes, params.V.Rows)
	if err != nil {
		return nil, err
	}
	z, all := classes.U.Rows, params.Groups(c.Zeta)
	u := described(classes.U, classes.U.AllRows(), classes.Described)
	f := &Forward[T]{groups: new(softOr[T]), classes: classes, complement: c.Complement, z: z}
	for _, m := range classes.Described {
		f.p = append(f.p, classes.P[m])
	}
	f.gamma = described(all, classes.Described, classes.grouped(k))
	if c.Prior == PerGroup {
		new(perGroupPrior[T]).write(f.p, described(all, classes.Described, allIndices(k)), slices.Clone(f.p))
	}
	ratio := matrix.New[T](u.Cols, z)
	writeRatio(ratio, u, f.p)
	var none *noneOfClasses[T]
	if c.Complement != NoComplement {
		withPrior := matrix.New[T](z+1, u.Cols)
		writeWithPrior(withPrior, u, f.p)
		none = &noneOfClasses[T]{Matrix: matrix.New[T](z+1, f.gamma.Cols)}
		none.write(withPrior, f.gamma)
	}
	f.groups.setFixed(f.gamma, ratio, none)
	f.block = min(max(blockNumbers/z, leastBlock), mostBlock, max(maxBlockNumbers/z, 1))
	return f, nil
}

// LogP writes log p(z|x) of samples with the detections a, n x M, into logP, n x Z.
func (f *Forward[T]) LogP(a, logP dataset.Matrix[T]) error { return f.scorer().write(a, logP, nil) }

func (f *Forward[T]) scorer() Scorer[T] { return Scorer[T]{Each: f.each, Classes: f.z, Logs: true} }

// each computes L of samples with the detections a, n x M, in blocks on several cores. use
// gets the index of the first sample of each block and its L, which it may change.
func (f *Forward[T]) each(a matrix.Matrix[T], use func(row int, l []float64)) error {
	if m := f.classes.U.Cols; a.Cols != m {
		return expected("detections", a.Cols, "%d, one per attribute of the model", m)
	}
	blocks := (a.Rows + f.block - 1) / f.block
	parallel.For(blocks, 1, func(lo, hi int) {
		s := f.newScratch()
		for b := lo; b < hi; b++ {
			from := b * f.block
			use(from, f.scores(s, a.Slice(from, min(from+f.block, a.Rows)), nil))
		}
	})
	return nil
}

// groupScores returns G of one sample with the detections a, K x Z. The scores of a group that was
// left out are those of the none-of-group term.
func (f *Forward[T]) groupScores(a []T) matrix.Matrix[T] {
	g := matrix.New[T](f.groups.groups(), f.z)
	f.scores(f.newScratch(), matrix.Of(a, len(a)), func(k int, scores []T) { copy(g.Row(k), scores) })
	return g
}

type forwardScratch[T Float] struct {
	a             matrix.Matrix[T] // n x M, of described attributes
	packed        []T              // n x members, detections group after group
	background, g matrix.Matrix[T] // n x Z
	ac            []T              // n x K
	product       *logProduct
}

func (f *Forward[T]) newScratch() *forwardScratch[T] {
	return &forwardScratch[T]{
		a:          matrix.New[T](f.block, f.gamma.Rows),
		background: matrix.New[T](f.block, f.z), g: matrix.New[T](f.block, f.z),
		ac: make([]T, f.block*f.gamma.Cols), product: newLogProduct(f.block * f.z),
	}
}

// writeNoneOfDetections writes the scaled Ac, n x K. It reports false for Ac that needs no memory: 1 or 0.
func (f *Forward[T]) writeNoneOfDetections(ac []T, a matrix.Matrix[T]) bool {
	if f.complement != DeMorgan {
		return false
	}
	writeNoneOf(ac, a, f.gamma, f.groups.detection)
	return true
}

// scores returns L of a block of at most f.block samples in memory of s. each, if not nil, gets the
// scores of each group, n x Z.
func (f *Forward[T]) scores(s *forwardScratch[T], a matrix.Matrix[T],
	each func(k int, scores []T),
) []float64 {
	if t := s.a.Slice(0, a.Rows); t.Cols < a.Cols {
		writeDescribed(t, a, allIndices(a.Rows), f.classes.Described)
		a = t
	}
	t := f.groups
	size := a.Rows * f.z
	var ac []T
	if f.writeNoneOfDetections(s.ac, a) {
		ac = s.ac
	}
	background, g := s.background.Slice(0, a.Rows), s.g.Slice(0, a.Rows)
	t.writeBackground(background, a)
	packed := t.pack(s.packed, a)
	s.packed = packed.Data
	p := &logProduct{product: s.product.product[:size], exponent: s.product.exponent[:size]}
	p.reset()
	for k := range t.groups() {
		t.startGroup(g, ac, background, k)
		t.addMembers(g, a, packed, k)
		multiply(p, g.Data)
		if each != nil {
			each(k, g.Data)
		}
	}
	for i := range p.product {
		p.product[i] = p.log(i)
	}
	return p.product
}

// Explainer says how much each group and attribute contributes to the choice between two classes. It runs the
// forward computation of Score in float64, so that the parts add up to the whole.
type Explainer struct {
	Classes *Description            // the candidate classes, as the model uses them
	Prior   []float64               // M, p(a_m) as the scores use it
	Gamma   dataset.Matrix[float64] // M x K, the soft group of each attribute

	forward *Forward[float64]
	scorer  Scorer[float64]
}

func newExplainer(c Config, classes *Description, v dataset.Matrix[float64], p *Pipeline) (
	*Explainer, error,
) {
	f, err := NewForward(c, classes, &Parameters[float64]{V: v})
	if err != nil {
		return nil, err
	}
	scorer := f.scorer()
	if err := adjust(&scorer, p, f.classes.U.Cols, p.Reference.Detections.Rows > 0); err != nil {
		return nil, err
	}
	e := &Explainer{
		Classes: classes, Prior: make([]float64, len(classes.P)),
		Gamma:   dataset.NewMatrix[float64](v.Rows, v.Cols),
		forward: f, scorer: scorer,
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
	return l, e.scorer.write(a, l, nil)
}

// BestFit returns how well the best class of a sample with the detections a fits at all: see
// Pipeline.BestFit. Without reference detections nothing is corrected.
func (e *Explainer) BestFit(a []float64) (float64, error) {
	fit := make([]float64, 1)
	scores := dataset.NewMatrix[float64](1, e.Classes.U.Rows)
	err := e.scorer.write(matrix.Of(a, len(a)), scores, fit)
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
	x.Correction = e.scorer.own.corrected(class, 0) - e.scorer.own.corrected(against, 0)
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
	if e.scorer.own == nil {
		return s.Log()
	}
	return s.Log() * e.scorer.own.factor[z]
}
