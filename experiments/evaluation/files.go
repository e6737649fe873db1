package evaluation

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreFiles are scores that any program wrote.
type ScoreFiles struct {
	Scores string    // samples x classes, in a format of package features
	Labels string    // the column of each sample's true class, from 0
	Unseen []int     // columns of unseen classes; none: all are unseen
	Kind   ScoreKind // "" to recognise it
}

// EvaluateScores evaluates the scores of a file. validation, if not nil, chooses gamma
// and the temperature; its scores are of the same kind.
func (c Config) EvaluateScores(ctx context.Context, f ScoreFiles, validation *ScoreFiles) (*Result, error) {
	s, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	var v *scored
	if validation != nil {
		same := *validation
		same.Kind = s.kind
		if v, err = same.read(ctx); err != nil {
			return nil, err
		}
		if (v.sides == nil) != (s.sides == nil) {
			return nil, &invalid.Error{Field: "val-unseen", Want: "unseen classes for both " + f.Scores + " and " + validation.Scores + ", or for neither"}
		}
	}
	r := c.evaluate(s, v)
	r.Source = Source{Scores: f.Scores, Labels: f.Labels}
	if v != nil {
		r.Validation.Of = []string{validation.Scores}
	} else {
		r.note("neither gamma nor a temperature is chosen: there are no validation scores")
	}
	return r, nil
}

// read reads and checks the files.
func (f ScoreFiles) read(ctx context.Context) (*scored, error) {
	s := &scored{kind: f.Kind}
	var err error
	if s.scores, err = features.ReadAll(ctx, f.Scores); err != nil {
		return nil, err
	}
	if s.labels, err = npy.ReadIntegers(ctx, f.Labels); err != nil {
		return nil, err
	}
	if len(f.Unseen) > 0 {
		if s.sides, err = metrics.NewSides(s.scores.Cols, f.Unseen); err != nil {
			return nil, invalid.At(f.Scores, err)
		}
	}
	if err := s.check(f.Scores, f.Labels); err != nil {
		return nil, err
	}
	kind := kindOf(s.scores)
	switch {
	case s.kind == "":
		s.kind = kind
	case s.kind == Probabilities && kind != Probabilities:
		return nil, &invalid.Error{Where: f.Scores, Want: "probabilities, rows of which sum to 1", Got: string(kind)}
	}
	return s, nil
}

// kindOf recognises probabilities, or their logs, by rows that sum to 1. Other scores
// are bare.
func kindOf(scores dataset.Matrix[float32]) ScoreKind {
	const tolerance = 1e-3 // programs round what they write
	p, log := true, true
	for i := range scores.Rows {
		var sum, exp float64
		for _, v := range scores.Row(i) {
			p = p && v >= 0
			sum += float64(v)
			exp += math.Exp(float64(v))
		}
		p, log = p && math.Abs(sum-1) < tolerance, log && math.Abs(exp-1) < tolerance
	}
	switch {
	case p:
		return Probabilities
	case log:
		return Logits
	}
	return BareScores
}

// WriteCSV writes the numbers behind the tables and figures into a folder, which it
// creates if necessary:
//
//	confusion.csv     samples of the row's class that were predicted as the column's
//	samples.csv       per sample: row in the data set, true and predicted class, confidence, id if known
//	classes.csv       accuracy of each class
//	reliability.csv   the bins, without and with the temperature
//	coverage.csv      accuracy of the most confident samples, by their number
//	seen-unseen.csv   accuracies between one gamma and the next
//
// Files without numbers are not written.
func (r *Result) WriteCSV(dir string) error {
	classes := table.New("classes", "class", "unseen", "samples", "accuracy")
	for _, c := range r.ByClass {
		classes.Row(c.Class, c.Unseen, c.Samples, c.Accuracy)
	}
	reliability := table.New("reliability", "probabilities", "low", "high", "samples", "confidence", "accuracy")
	coverage := table.New("coverage", "probabilities", "samples", "coverage", "accuracy")
	for _, c := range r.calibrations() {
		for _, b := range c.Reliability {
			reliability.Row(c.label, b.Low, b.High, b.Samples, b.Confidence, b.Accuracy)
		}
		for _, p := range c.curve {
			coverage.Row(c.label, p.Samples, p.Coverage, p.Accuracy)
		}
	}
	curve := table.New("seen-unseen", "gamma from", "seen", "unseen")
	for _, p := range r.curve {
		curve.Row(p.Gamma, p.Seen, p.Unseen)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return invalid.File(dir, err)
	}
	for _, t := range []*table.Table{r.confusionTable(), r.sampleTable(), classes, reliability, coverage, curve} {
		if len(t.Rows) == 0 {
			continue
		}
		path := filepath.Join(dir, t.Title+".csv")
		if err := atomicfile.Write(path, func(w io.Writer) error { return table.WriteCSV(w, t) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) confusionTable() *table.Table {
	t := table.New("confusion", append([]string{"true class"}, r.names...)...)
	for z, counts := range r.confusion {
		row := []any{r.names[z]}
		for _, n := range counts {
			row = append(row, n)
		}
		t.Row(row...)
	}
	return t
}

func (r *Result) sampleTable() *table.Table {
	t := table.New("samples", "row", "label", "true class", "predicted")
	for _, c := range r.calibrations() {
		t.Header = append(t.Header, "confidence "+c.label)
	}
	if r.scored.ids != nil {
		t.Header = append(t.Header, "id")
	}
	for i, label := range r.scored.labels {
		index := i
		if r.scored.rows != nil {
			index = r.scored.rows[i]
		}
		row := []any{index, label, r.names[label], r.names[metrics.Argmax(r.scored.scores.Row(i))]}
		for _, c := range r.calibrations() {
			row = append(row, c.confidence[i])
		}
		if r.scored.ids != nil {
			row = append(row, r.scored.ids[index])
		}
		t.Row(row...)
	}
	return t
}
