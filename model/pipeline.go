package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Classifier is a trained method: it scores samples for the classes of any descriptions,
// seen or unseen. Its first stage, detection, does not depend on the descriptions.
// Detections can therefore be classified by many descriptions.
type Classifier interface {
	// Detect returns the detections of the given rows of the features x, one row each: M
	// detected attributes, or what else Classify takes.
	Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error)
	// Prepare returns the scores of the classes that u describes (classes x M, NaN for missing entries), of
	// which the highest is that of the predicted class.
	Prepare(u dataset.Matrix[float64]) (Scorer[float32], error)
}

// Scorer computes scores for classes that were described once.
type Scorer[T Float] struct {
	// Each scores samples with the detections a, in blocks, on several cores. use gets the index of the
	// first sample of each block and its scores, samples x Classes, which it may change.
	Each    func(a dataset.Matrix[T], use func(row int, scores []float64)) error
	Classes int
	Logs    bool // scores are log p(z|x) up to a constant of each sample, which is then taken out

	own, full *adjustment // of the scores, and of the fit: see BestFit; nil for none
}

func (s Scorer[T]) scores(a dataset.Matrix[T]) (dataset.Matrix[float64], error) {
	all := dataset.NewMatrix[float64](a.Rows, s.Classes)
	return all, s.Each(a, func(row int, scores []float64) { copy(all.Data[row*s.Classes:], scores) })
}

// write writes the scores of samples with the detections a into to, corrected, and into fit, unless it is
// nil, the highest score of each sample, corrected in full.
func (s Scorer[T]) write(a, to dataset.Matrix[T], fit []float64) error {
	if to.Rows != a.Rows || to.Cols != s.Classes {
		return expected("scores", fmt.Sprintf("%d and %d", to.Rows, to.Cols), "%d samples and %d classes",
			a.Rows, s.Classes)
	}
	return s.Each(a, func(row int, scores []float64) {
		for i := 0; fit != nil && i < len(scores)/s.Classes; i++ {
			fit[row+i] = s.full.best(scores[i*s.Classes : (i+1)*s.Classes])
		}
		for i, v := range scores {
			scores[i] = s.own.corrected(i%s.Classes, v)
		}
		if s.Logs {
			LogNormalise(scores, s.Classes)
		}
		for i, v := range scores {
			to.Data[row*s.Classes+i] = T(v)
		}
	})
}

// Classify returns the scores of samples with the detections a, one column for each class that u describes.
func Classify(c Classifier, a dataset.Matrix[float32], u dataset.Matrix[float64]) (
	dataset.Matrix[float32], error,
) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	s, err := c.Prepare(u)
	if err != nil {
		return scores, err
	}
	return scores, s.write(a, scores, nil)
}

// Score returns the scores of the given rows of x by both stages.
func Score(c Classifier, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (
	dataset.Matrix[float32], error,
) {
	a, err := c.Detect(x, rows)
	if err != nil {
		return a, err
	}
	return Classify(c, a, u)
}

// Pipeline is a trained model: a classifier with the preprocessing and the imputation that it was trained
// with. It is a Classifier that takes features and descriptions as they are in the data set.
type Pipeline struct {
	Transform  *preprocess.Transform // of the features; nil for none
	Impute     *impute.Imputer       // of missing entries; nil leaves them to the classifier
	Classifier Classifier            // for preprocessed features and imputed descriptions
	Reference  Reference             // what corrections need
	Decision   Decision              // how scores are corrected
}

// detectBlock is the number of samples that are preprocessed and detected at a time.
const detectBlock = 256

func (p *Pipeline) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	var a dataset.Matrix[float32]
	for start := 0; start == 0 || start < len(rows); start += detectBlock {
		part := rows[start:min(start+detectBlock, len(rows))]
		preprocessed, err := p.Transform.Apply(x, part)
		if err != nil {
			return a, err
		}
		detected, err := p.Classifier.Detect(preprocessed, preprocessed.AllRows())
		if err != nil {
			return a, err
		}
		if start == 0 {
			a = dataset.NewMatrix[float32](len(rows), detected.Cols)
		}
		copy(a.Data[start*a.Cols:], detected.Data)
	}
	return a, nil
}

func (p *Pipeline) Prepare(u dataset.Matrix[float64]) (Scorer[float32], error) {
	return p.prepare(u, false)
}

// BestFit returns how well the best class of each sample with the detections a fits at all: its score,
// corrected in full. Samples of classes that u does not describe have lower ones.
func (p *Pipeline) BestFit(a dataset.Matrix[float32], u dataset.Matrix[float64]) ([]float64, error) {
	fit := make([]float64, a.Rows)
	s, err := p.prepare(u, true)
	if err == nil {
		err = s.write(a, dataset.NewMatrix[float32](a.Rows, u.Rows), fit)
	}
	return fit, err
}

// prepare is Prepare; fits says whether BestFit is asked for.
func (p *Pipeline) prepare(u dataset.Matrix[float64], fits bool) (s Scorer[float32], err error) {
	if u, err = p.Imputed(u); err != nil {
		return s, err
	}
	if s, err = p.Classifier.Prepare(u); err != nil {
		return s, err
	}
	return s, adjust(&s, p, 0, fits)
}

// Refer sets the reference of the seen classes, whose imputed descriptions are u. Its Centre becomes
// the mean score of the detections.
func (p *Pipeline) Refer(r Reference, u dataset.Matrix[float64]) error {
	scorer, err := p.Classifier.Prepare(u)
	if err != nil {
		return err
	}
	scores, err := scorer.scores(r.Detections)
	if err != nil {
		return err
	}
	r.Centre = float32(stat.Mean(scores.Data, nil))
	p.Reference = r
	return nil
}

// Imputed returns the descriptions u with missing entries imputed: u itself if nothing is missing.
func (p *Pipeline) Imputed(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	if p.Impute == nil || !slices.ContainsFunc(u.Data, math.IsNaN) {
		return u, nil
	}
	return p.Impute.Impute(u)
}

// LAGO returns the classifier if it is a LAGO, whose scores can be explained. Otherwise the error is an
// *invalid.Error.
func (p *Pipeline) LAGO() (*LAGO, error) {
	if l, ok := p.Classifier.(interface{ lago() *LAGO }); ok {
		return l.lago(), nil
	}
	return nil, expected("model", "another method", "a LAGO model")
}

// Explainer explains the scores of the model, a LAGO, for the classes with the descriptions u.
func (p *Pipeline) Explainer(u dataset.Matrix[float64]) (*Explainer, error) {
	l, err := p.LAGO()
	if err != nil {
		return nil, err
	}
	full, err := p.Imputed(u)
	if err != nil {
		return nil, err
	}
	classes, err := l.Config.describe(full, l.Semantic, l.Prior)
	if err != nil {
		return nil, err
	}
	return newExplainer(l.Config, classes, dataset.Convert[float64](l.Params.V), p)
}

// DetectOne returns p(a_m|x) of one row of the features x, computed in float64 from the
// preprocessed features on. The model must be a LAGO.
func (p *Pipeline) DetectOne(x dataset.Matrix[float32], row int) ([]float64, error) {
	l, err := p.LAGO()
	if err != nil {
		return nil, err
	}
	if row < 0 || row >= x.Rows {
		return nil, expected("row of the features", row, "0 to %d", x.Rows-1)
	}
	if x, err = p.Transform.Apply(x, []int{row}); err == nil {
		err = l.checkFeatures(x)
	}
	if err != nil {
		return nil, err
	}
	params := &Parameters[float64]{
		W: dataset.Convert[float64](l.Params.W), B: dataset.Convert[float64](matrix.Of(l.Params.B, 1)).Data,
	}
	a := dataset.NewMatrix[float64](1, len(params.B))
	params.Logits(dataset.Convert[float64](x), a)
	Sigmoid(a.Data, a.Data)
	return a.Data, nil
}

// Stream writes the scores of the samples x, n x D as in the data set, into scores, n x Z, for
// classes that were described once, and into fit, unless it is nil, how well the best class of each
// fits: see Pipeline.BestFit. Blocks of some hundred samples are shared between cores. The error is an
// *invalid.Error where sizes do not fit.
type Stream func(x, scores dataset.Matrix[float32], fit []float64) error

// NewStream returns the stream of a model for the classes that u describes, classes x M, NaN for missing
// entries; fits says whether it is asked for fit.
func NewStream(p *Pipeline, u dataset.Matrix[float64], fits bool) (Stream, error) {
	if u.Rows < 1 {
		return nil, expected("descriptions", u.Rows, "at least one class")
	}
	s, err := p.prepare(u, fits)
	if err != nil {
		return nil, err
	}
	classifier, transform := p.Classifier, p.Transform
	if l, notLAGO := p.LAGO(); notLAGO == nil {
		if classifier, transform, err = l.fold(transform); err != nil {
			return nil, err
		}
	}
	return func(x, scores dataset.Matrix[float32], fit []float64) (err error) {
		rows := x.AllRows()
		if !transform.Identity() {
			if x, err = transform.Apply(x, rows); err != nil {
				return err
			}
		}
		a, err := classifier.Detect(x, rows)
		if err != nil {
			return err
		}
		return s.write(a, scores, fit)
	}, nil
}

// LAGO is a trained LAGO, for preprocessed features and imputed descriptions. Its scores are log p(z|x).
type LAGO struct {
	Config   Config
	Params   *Parameters[float32]
	Semantic []int     // the group of each attribute, nil where the data set has none
	Prior    []float32 // M, p(a_m) over the train classes; nil takes it over the candidates
}

// lago is also that of a type that embeds LAGO.
func (l *LAGO) lago() *LAGO { return l }

// Logits returns S = X W + b of the given rows of x.
func (l *LAGO) Logits(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	s := dataset.NewMatrix[float32](len(rows), l.Params.W.Cols)
	if err := l.checkFeatures(x); err != nil {
		return s, err
	}
	block, done := dataset.NewMatrix[float32](min(detectBlock, len(rows)), x.Cols), 0
	for part := range slices.Chunk(rows, detectBlock) {
		block.CopyRows(x, part)
		l.Params.Logits(block.Slice(0, len(part)), s.Slice(done, done+len(part)))
		done += len(part)
	}
	return s, nil
}

// Detect returns A, p(a_m|x), of the given rows of x.
func (l *LAGO) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	a, err := l.Logits(x, rows)
	Sigmoid(a.Data, a.Data)
	return a, err
}

func (l *LAGO) checkFeatures(x dataset.Matrix[float32]) error {
	if d := l.Params.W.Rows; x.Cols != d {
		return expected("features", x.Cols, "%d dimensions, as the model was trained on", d)
	}
	return nil
}

// Prepare implements Classifier: the scores are L.
func (l *LAGO) Prepare(u dataset.Matrix[float64]) (Scorer[float32], error) {
	classes, err := l.Config.describe(u, l.Semantic, l.Prior)
	if err != nil {
		return Scorer[float32]{}, err
	}
	f, err := NewForward(l.Config, classes, l.Params)
	if err != nil {
		return Scorer[float32]{}, err
	}
	return f.scorer(), nil
}

// fold takes the affine steps that end the preprocessing into the detectors. It returns that classifier and
// the steps before these.
func (l *LAGO) fold(t *preprocess.Transform) (Classifier, *preprocess.Transform, error) {
	params := &Parameters[float32]{V: l.Params.V}
	var err error
	params.W, params.B, t, err = t.Fold(l.Params.W, l.Params.B)
	return &LAGO{Config: l.Config, Params: params, Semantic: l.Semantic, Prior: l.Prior}, t, err
}
