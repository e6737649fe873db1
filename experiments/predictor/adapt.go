package predictor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Adapted is the predictions for a batch, adapted to it.
type Adapted struct {
	*adapt.Result
	Blocks  []adapt.Block // the batch: normalised features, and scores
	Changed int           // number of predictions that differ from those of the scores
}

// Adapt normalises a batch in place and adapts the predictions to it.
func Adapt(blocks []adapt.Block, s adapt.Settings) (*Adapted, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	a, row := &Adapted{Result: r, Blocks: blocks}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				a.Changed++
			}
			row++
		}
	}
	return a, nil
}

const adaptRows = 1024 // samples of a block

// adaptAll predicts all samples of a source together or, if they are too few, each by itself.
func (p *Predictor) adaptAll(ctx context.Context, src Source, scorer model.Scorer, r *Predictions) error {
	var blocks []adapt.Block
	samples := 0
	err := eachBlock(ctx, src, adaptRows, func(x dataset.Matrix[float32]) (err error) {
		b := adapt.Block{Scores: dataset.NewMatrix[float32](x.Rows, len(p.Candidates.Names))}
		if err = scorer(x, b.Scores); err == nil {
			b.X, err = p.AdaptedFeatures().Apply(x, x.AllRows())
		}
		blocks, samples = append(blocks, b), samples+x.Rows
		return err
	})
	if err == nil && samples == 0 {
		err = &invalid.Error{Field: "adapt", Want: "at least one sample", Got: "none"}
	}
	if err != nil {
		return err
	}
	if !p.AdaptsTo(samples) {
		if err := p.checkConfidence(r.Listing, false); err != nil {
			return err
		}
		for _, b := range blocks {
			if err := r.add(b.Scores); err != nil {
				return err
			}
		}
		return nil
	}
	if r.Adapted, err = Adapt(blocks, p.Adaptation.Settings); err != nil {
		return err
	}
	r.Temperature = 1 // of log P
	for row := range r.Adapted.P.Rows {
		logs := r.Adapted.P.Gather([]int{row})
		for i, v := range logs.Data {
			logs.Data[i] = float32(math.Log(float64(v)))
		}
		if err := r.add(logs); err != nil {
			return err
		}
	}
	return nil
}

// AdaptationWarning says why adaptation to a batch may not help, "" if it should.
func AdaptationWarning(a *train.Adaptation, samples int) string {
	switch {
	case a.Tau == 0:
		return "adaptation is off for this model: on its validation classes no setting had a gain that is above chance and holds with absent and imbalanced classes"
	case samples < a.Smallest:
		return fmt.Sprintf("the batch of %s is too small: on the validation classes the 10th percentile of the change is not below zero from %d samples",
			format.Count(samples, "sample"), a.Smallest)
	}
	return ""
}

// Table lists the estimated share of each class, the largest first, and the classes that are not
// predicted and of which no sample is expected.
func (a *Adapted) Table(classes []string) *table.Table {
	n := a.P.Rows
	title := fmt.Sprintf("adapted to %s: %s changed", format.Count(n, "sample"), format.Count(a.Changed, "prediction"))
	t := table.New(title, "class", "estimated share", "expected samples").Right(2, 3)
	order, predicted := make([]int, len(classes)), make([]bool, len(classes))
	for i := range n {
		predicted[metrics.Argmax(a.P.Row(i))] = true
	}
	for z := range order {
		order[z] = z
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a.Shares[y], a.Shares[x]) })
	var absent []string
	for _, z := range order {
		// The share of a class without samples is that of the prior, one sample.
		samples := max(a.Shares[z]*float64(n+len(order))-1, 0)
		if samples < 0.5 && !predicted[z] {
			absent = append(absent, classes[z])
			continue
		}
		t.Row(classes[z], format.Percent(samples/float64(n)), fmt.Sprintf("%.1f", samples))
	}
	t.Note("candidate classes that seem to be absent: %s", cmp.Or(strings.Join(absent, ", "), "none"))
	if 2*len(absent) > len(order) {
		t.Note("warning: more than half of the candidate classes seem to be absent, and adaptation can then lower accuracy; restrict the candidates with --classes")
	}
	return t
}
