package model

import (
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"gonum.org/v1/gonum/stat"
)

// Classifier is a trained method: it scores samples for the classes of any descriptions,
// seen or unseen. Its first stage, detection, does not depend on the descriptions.
// Detections can therefore be classified by many descriptions.
type Classifier interface {
	// Detect returns the detections of the given rows of the features x, one row each: M
	// detected attributes, or what else Classify takes.
	Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error)
	// Classify returns the scores of samples with the detections a, one column for each class
	// that u describes (classes x M, NaN for missing entries). The class with the highest
	// score of a row is the predicted class.
	Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error)
}

// Grouped is what a Classifier may implement whose scores are those of a LAGO. They can be
// explained, and part of their work is done once for all samples.
type Grouped interface{ AsLAGO() *LAGO }

// Score returns the scores of the given rows of x by both stages.
func Score(c Classifier, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	a, err := c.Detect(x, rows)
	if err != nil {
		return a, err
	}
	return c.Classify(a, u)
}

// Pipeline is a trained model: a classifier with the preprocessing and the imputation that it was trained
// with. It is a Classifier that takes features and descriptions as they are in the data set.
type Pipeline struct {
	Transform  *preprocess.Transform // of the features; nil for none
	Impute     *impute.Imputer       // of missing entries; nil leaves them to the classifier
	Classifier Classifier            // for preprocessed features and imputed descriptions
	Stored     Stored                // what corrections need
	Correction Correction            // of the scores
	// Stacking is subtracted from the corrected scores of the candidates, gamma of the seen ones and 0 of the
	// others: calibrated stacking. nil is none.
	Stacking []float64
}

// detectBlock is the number of samples that are preprocessed and detected at a time.
const detectBlock = 256

// Detect implements Classifier.
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

// Classify implements Classifier.
func (p *Pipeline) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	classify, err := p.classifierOf(u, false)
	if err != nil {
		return scores, err
	}
	return scores, classify(a, scores, nil)
}

// BestFit returns how well the best class of each sample with the detections a fits at all: its score,
// corrected in full. Samples of classes that u does not describe have lower ones.
func (p *Pipeline) BestFit(a dataset.Matrix[float32], u dataset.Matrix[float64]) ([]float64, error) {
	fit := make([]float64, a.Rows)
	classify, err := p.classifierOf(u, true)
	if err == nil {
		err = classify(a, dataset.NewMatrix[float32](a.Rows, u.Rows), fit)
	}
	return fit, err
}

// classifierOf returns Classify for the classes with the descriptions u and, if asked for, BestFit. LAGO
// does part of the work once for all samples.
func (p *Pipeline) classifierOf(u dataset.Matrix[float64], fits bool) (Scorer, error) {
	u, err := p.Imputed(u)
	if err != nil {
		return nil, err
	}
	if l, err := p.LAGO(); err == nil {
		f, err := l.forward(u)
		if err != nil {
			return nil, err
		}
		full, err := correct(f, p, fits)
		return func(a, scores dataset.Matrix[float32], fit []float64) error {
			return f.writeLogP(a, scores, fit, full)
		}, err
	}
	adjust, full, err := p.adjustments(u.Rows, 0, fits, func() (dataset.Matrix[float64], error) {
		of, err := p.Classifier.Classify(p.Stored.Detections, u)
		return dataset.Convert[float64](of), err
	})
	return func(a, scores dataset.Matrix[float32], fit []float64) error {
		got, err := p.Classifier.Classify(a, u)
		copy(scores.Data, got.Data)
		for i := range fit {
			fit[i] = full.best(dataset.Convert[float64](got.Slice(i, i+1)).Data, nil)
		}
		if adjust != nil {
			for i, s := range got.Data {
				scores.Data[i] = float32(adjust.at(i%u.Rows, float64(s)))
			}
		}
		return err
	}, err
}

// Store sets what is stored of the seen classes, whose imputed descriptions are u. Its Centre becomes
// the mean score of the detections.
func (p *Pipeline) Store(s Stored, u dataset.Matrix[float64]) error {
	var scores dataset.Matrix[float64]
	if l, err := p.LAGO(); err == nil {
		f, err := l.forward(u)
		if err != nil {
			return err
		}
		if scores, err = f.Scores(s.Detections); err != nil {
			return err
		}
	} else {
		of, err := p.Classifier.Classify(s.Detections, u)
		if err != nil {
			return err
		}
		scores = dataset.Convert[float64](of)
	}
	s.Centre = float64(float32(stat.Mean(scores.Data, nil))) // as in files
	p.Stored = s
	return nil
}

// Imputed returns the descriptions u with missing entries imputed.
func (p *Pipeline) Imputed(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	return p.Impute.Impute(u)
}

// LAGO returns the classifier if it is Grouped. Otherwise the error is an *invalid.Error.
func (p *Pipeline) LAGO() (*LAGO, error) {
	if c, ok := p.Classifier.(Grouped); ok {
		return c.AsLAGO(), nil
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
	b := dataset.Matrix[float32]{Rows: 1, Cols: len(l.Params.B), Data: l.Params.B}
	params := &Parameters[float64]{W: dataset.Convert[float64](l.Params.W), B: dataset.Convert[float64](b).Data}
	a := dataset.NewMatrix[float64](1, len(params.B))
	params.Logits(dataset.Convert[float64](x), a)
	Sigmoid(a.Data, a.Data)
	return a.Data, nil
}

// Scorer writes the scores of the samples x, n x D as in the data set, into scores, n x Z, for
// classes that were described once, and into fit, unless it is nil, how well the best class of each
// fits: see Pipeline.BestFit. Blocks of some hundred samples are shared between cores. The error is an
// *invalid.Error where sizes do not fit.
type Scorer func(x, scores dataset.Matrix[float32], fit []float64) error

// NewScorer returns the scorer of a model for the classes that u describes, classes x M, NaN for missing
// entries; fits says whether it is asked for fit. LAGO does part of the work once for all samples.
func NewScorer(p *Pipeline, u dataset.Matrix[float64], fits bool) (Scorer, error) {
	if u.Rows < 1 {
		return nil, expected("descriptions", u.Rows, "at least one class")
	}
	classify, err := p.classifierOf(u, fits)
	if err != nil {
		return nil, err
	}
	classifier, transform := p.Classifier, p.Transform
	if l, err := p.LAGO(); err == nil { // the affine steps that end the preprocessing are folded into W and b
		folded := &Parameters[float32]{V: l.Params.V}
		if folded.W, folded.B, transform, err = transform.Fold(l.Params.W, l.Params.B); err != nil {
			return nil, err
		}
		classifier = &LAGO{Config: l.Config, Params: folded, Semantic: l.Semantic, Prior: l.Prior}
	}
	return func(x, scores dataset.Matrix[float32], fit []float64) (err error) {
		if err := checkScores(scores, x.Rows, u.Rows); err != nil {
			return err
		}
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
		return classify(a, scores, fit)
	}, nil
}

// LAGO is a trained LAGO, for preprocessed features and imputed descriptions. Its scores are log p(z|x).
type LAGO struct {
	Config   Config
	Params   *Parameters[float32]
	Semantic []int     // the group of each attribute, nil where the data set has none
	Prior    []float32 // M, p(a_m) over the train classes; nil takes it over the candidates
}

// AsLAGO implements Grouped, also for a type that embeds LAGO.
func (l *LAGO) AsLAGO() *LAGO { return l }

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

// Classify returns log p(z|x) of samples with the detections a, n x M, for the classes
// with the descriptions u.
func (l *LAGO) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	logP := dataset.NewMatrix[float32](a.Rows, u.Rows)
	f, err := l.forward(u)
	if err != nil {
		return logP, err
	}
	return logP, f.LogP(a, logP)
}

func (l *LAGO) forward(u dataset.Matrix[float64]) (*Forward[float32], error) {
	classes, err := l.Config.describe(u, l.Semantic, l.Prior)
	if err != nil {
		return nil, err
	}
	return NewForward(l.Config, classes, l.Params)
}
