package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/methods"
)

// Options say how samples are predicted.
type Options struct {
	Temperature float64 // T of the probabilities softmax(s/T); 0 is that of the model
	Adapt       bool    // adapt the predictions to all samples together
}

// Predictor predicts samples as one of some classes. It is not for concurrent use.
type Predictor struct {
	*Model
	Options
	Candidates Candidates
	// T of the probabilities: that of the options, otherwise the calibrated one, otherwise 1 for
	// LAGO. 0: the scores are no probabilities.
	Temperature float64
	Mixed       bool // seen and unseen classes are candidates together, see model.Decision

	explainer *model.Explainer // nil until it is used
}

// Predictor returns the predictor of the model for the candidates.
func (m *Model) Predictor(c Candidates, o Options) (*Predictor, error) {
	p := &Predictor{Model: m, Options: o, Candidates: c, Temperature: o.Temperature}
	if unseen := p.Unseen(); unseen > 0 && unseen < len(c.Names) {
		pipeline := *m.Pipeline
		pipeline.Decision, p.Mixed = m.Decision.ForMixed(), true
		p.Model = m.With(&pipeline)
	}
	switch {
	case o.Temperature > 0:
	case p.Decision.Calibration != nil:
		p.Temperature = p.Decision.Calibration.Temperature
	case m.Method.Name == methods.LAGO:
		p.Temperature = 1 // of log p(z|x)
	}
	if o.Adapt {
		if _, err := m.AdaptationSettings(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Adapts reports whether predictions are adapted.
func (p *Predictor) Adapts() bool { return p.Adapt && p.Decision.Adaptation.Tau > 0 }

// Unseen counts the candidates that the model was not trained on.
func (p *Predictor) Unseen() (n int) {
	learned := p.LearnedClasses()
	for _, name := range p.Candidates.Names {
		if !learned[name] {
			n++
		}
	}
	return n
}

// AdaptationSettings are those that are stored with the model. The error says how to choose them
// where it has none.
func (m *Model) AdaptationSettings() (*model.Adaptation, error) {
	if a := m.Decision.Adaptation; a != nil {
		return a, nil
	}
	return nil, &invalid.Error{
		Where: m.Path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes",
		Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full: finished runs are " +
			"reused, and their models get them.",
	}
}

// Batch returns rows of x as what predictions are adapted to: preprocessed features, and scores for
// the classes that u describes; and their detections.
func (m *Model) Batch(x dataset.Matrix[float32], rows []int,
	u dataset.Matrix[float64],
) (b adapt.Block, detected dataset.Matrix[float32], err error) {
	if detected, err = m.Detect(x, rows); err == nil {
		b.Scores, err = m.Classify(detected, u)
	}
	if err == nil {
		b.X, err = m.AdaptedFeatures().Apply(x, rows)
	}
	return b, detected, err
}

// AdaptationWarning says why predictions are not adapted, "" if they are.
func AdaptationWarning(a *model.Adaptation) string {
	if a.Tau > 0 {
		return ""
	}
	return fmt.Sprintf("adaptation is not recommended for this model (no reliable gain on %s)",
		format.Count(a.Classes, "validation class"))
}

// Blocks are large enough to be scored fast, and bounded for any number of classes.
const (
	blockNumbers = 1 << 20 // n x D and n x Z
	leastSamples = 64      // unless n x Z would be exceeded
	mostSamples  = 1024
	adaptRows    = 1024 // of a batch to adapt to
)

func blockRows(dims, classes int) int {
	return min(max(blockNumbers/max(dims, 1), leastSamples), mostSamples, max(blockNumbers/classes, 1))
}

// eachBlock calls do with blocks of up to so many samples, and reads the next one meanwhile. A block
// is valid until do returns. It ends when src is no longer read.
func eachBlock(ctx context.Context, src Source, rows int,
	do func(x dataset.Matrix[float32]) error,
) (err error) {
	type block struct {
		all, read dataset.Matrix[float32]
		err       error
	}
	ctx, cancel := context.WithCancel(ctx)
	free, filled := make(chan dataset.Matrix[float32], 2), make(chan block)
	for range cap(free) {
		free <- dataset.NewMatrix[float32](rows, src.Cols())
	}
	go func() {
		defer close(filled)
		for ctx.Err() == nil {
			x := <-free
			n, err := src.Read(x)
			if n == 0 && errors.Is(err, io.EOF) {
				return
			}
			filled <- block{x, x.Slice(0, n), err}
		}
	}()
	defer cancel()
	for b := range filled {
		if err = cmp.Or(err, b.err, ctx.Err()); err == nil {
			err = do(b.read)
		}
		if err != nil {
			cancel()
		}
		free <- b.all
	}
	return cmp.Or(err, ctx.Err())
}

// Source supplies samples. A *features.Reader is one.
type Source interface {
	Cols() int // D
	// Read fills the first rows of a block of D columns and returns their number, which
	// is smaller than the block only at the end. After the last sample the error is io.EOF.
	Read(block dataset.Matrix[float32]) (int, error)
}

// Identified is a Source that knows ids or true classes of its samples.
type Identified interface {
	Source
	// Sample returns the index, id and true class of the i-th sample, "" if they are not known.
	Sample(i int) (index int, id, class string)
}

// Samples is a Source of samples of a data set. Their true classes are known.
type Samples struct {
	Data *dataset.Dataset
	Rows []int
	next int
}

// Cols implements Source.
func (s *Samples) Cols() int { return s.Data.Features.Cols }

// Read implements Source.
func (s *Samples) Read(block dataset.Matrix[float32]) (int, error) {
	if s.next == len(s.Rows) {
		return 0, io.EOF
	}
	n := min(block.Rows, len(s.Rows)-s.next)
	block.CopyRows(s.Data.Features, s.Rows[s.next:s.next+n])
	s.next += n
	return n, nil
}

// Sample implements Identified. The index is the row in the data set.
func (s *Samples) Sample(i int) (index int, id, class string) {
	index = s.Rows[i]
	if s.Data.IDs != nil {
		id = s.Data.IDs[index]
	}
	return index, id, s.Data.Classes[s.Data.Labels[index]]
}
