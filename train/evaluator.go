package train

import (
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// evaluate classifies samples by a trained method.
func evaluate(c model.Classifier, s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	scores, err := c.Score(s.X, s.Rows, classes)
	if err != nil {
		return nil, err
	}
	confusion := metrics.NewConfusion(classes.Rows)
	return confusion, confusion.Add(scores.Data, s.Labels)
}

// evaluator evaluates samples by a LAGO in training, in two steps: its detections are
// also what V trains on.
type evaluator struct {
	samples Samples
	classes int
	model   *model.LAGO
	forward *model.Forward[float32]

	a      dataset.Matrix[float32] // detections of the samples, in their order
	scores []float32               // of a block
}

func newEvaluator(l *model.LAGO, classes *model.Description, s Samples) (*evaluator, error) {
	f, err := model.NewForward(l.Config, classes, l.Params)
	return &evaluator{samples: s, classes: classes.U.Rows, model: l, forward: f}, err
}

// detect computes the detections of all samples. each, if not nil, gets the logits of
// every sample.
func (e *evaluator) detect(each func(place int, s []float32)) error {
	var err error
	if e.a, err = e.model.Logits(e.samples.X, e.samples.Rows); err != nil {
		return err
	}
	for i := 0; each != nil && i < e.a.Rows; i++ {
		each(i, e.a.Row(i))
	}
	model.Sigmoid(e.a.Data)
	return nil
}

// classify classifies the samples by the detections last computed.
func (e *evaluator) classify() (metrics.Confusion, error) {
	const block = 1024
	e.forward.Update()
	m, z := e.a.Cols, e.classes
	confusion := metrics.NewConfusion(z)
	e.scores = slices.Grow(e.scores[:0], min(block, e.a.Rows)*z)
	for from := 0; from < e.a.Rows; from += block {
		n := min(block, e.a.Rows-from)
		scores := dataset.Matrix[float32]{Rows: n, Cols: z, Data: e.scores[:n*z]}
		if err := e.forward.LogP(dataset.Matrix[float32]{Rows: n, Cols: m, Data: e.a.Data[from*m : (from+n)*m]}, scores); err != nil {
			return nil, err
		}
		if err := confusion.Add(scores.Data, e.samples.Labels[from:from+n]); err != nil {
			return nil, err
		}
	}
	return confusion, nil
}
