package train

import (
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// The sizes of the batches that are judged: large enough for the products to be
// fast, small enough for the scores of groups to stay near the processor.
const (
	detectBatch   = 256
	judgedNumbers = 1 << 20 // K x batch x Z
)

// evaluator judges samples with the parameters as they are.
type evaluator struct {
	samples  Samples
	classes  int
	detector *model.Detector[float32]
	judging  *model.Judge[float32]

	a dataset.Matrix[float32] // detections of the samples, in their order
}

func newEvaluator(p model.Problem, params *model.Parameters[float32], s Samples) (*evaluator, error) {
	e := &evaluator{samples: s, classes: p.Classes.U.Rows, a: dataset.NewMatrix[float32](s.Len(), params.W.Cols)}
	var err error
	if e.detector, err = model.NewDetector(params, min(detectBatch, s.Len())); err != nil {
		return nil, err
	}
	p.Batch = min(max(judgedNumbers/(params.V.Cols*p.Classes.U.Rows), 8), detectBatch, s.Len())
	e.judging, err = model.NewJudge(p, params)
	return e, err
}

// detect makes the detections of all samples. each, where it is not nil, is given
// the logits of every sample.
func (e *evaluator) detect(each func(place int, s []float32)) error {
	m := e.a.Cols
	return batches(inOrder(e.samples.Len()), e.detector.X.Rows, func(part []int) error {
		e.samples.gather(e.detector.X, part)
		s, a, err := e.detector.Run()
		if err != nil {
			return err
		}
		copy(e.a.Data[part[0]*m:], a[:len(part)*m])
		if each != nil {
			for i, p := range part {
				each(p, s[i*m:(i+1)*m])
			}
		}
		return nil
	})
}

// judge scores the samples by the detections last made.
func (e *evaluator) judge() (metrics.Confusion, error) {
	e.judging.Begin()
	c := metrics.NewConfusion(e.classes)
	err := batches(inOrder(e.samples.Len()), e.judging.A.Rows, func(part []int) error {
		m := e.a.Cols
		copy(e.judging.A.Data, e.a.Data[part[0]*m:(part[0]+len(part))*m])
		l, err := e.judging.Run()
		if err != nil {
			return err
		}
		c.Add(l, e.samples.labels(part))
		return nil
	})
	return c, err
}
