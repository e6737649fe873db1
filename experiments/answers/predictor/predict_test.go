package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
)

// The ranked classes are the first of all classes sorted by score; their probabilities
// are a softmax over all classes.
func TestRankProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.OneOf(rapid.Float32Range(-50, 50), rapid.SampledFrom([]float32{0, 1})), 1, 9).Draw(t, "scores")
		r := &Predictions{
			Listing:     Listing{Top: rapid.IntRange(1, 10).Draw(t, "top")},
			Temperature: rapid.SampledFrom([]float64{0, 0.5, 1, 20}).Draw(t, "temperature"),
		}
		if r.Temperature > 0 {
			r.Confidence = rapid.Float64Range(0, 1).Draw(t, "confidence")
		}
		order := make([]int, len(scores))
		var sum float64
		for z, s := range scores {
			order[z] = z
			sum += math.Exp(float64(s) / r.Temperature)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		p := &Predictor{Temperature: r.Temperature}
		testkit.NoError(t, r.add(dataset.Matrix[float32]{Rows: 1, Cols: len(scores), Data: scores}, p.decided))
		s := r.Samples[0]
		var want []Value
		for _, z := range order[:min(r.Top, len(scores))] {
			p := float64(scores[z])
			if r.Temperature > 0 {
				p = math.Exp(p/r.Temperature) / sum
			}
			want = append(want, Value{z, p})
		}
		testkit.Equal(t, "ranked", s.Best, want, cmpopts.EquateApprox(0, 1e-9))
		if want := r.Confidence > 0 && s.Best[0].Value < r.Confidence; s.Abstained != want {
			t.Errorf("abstained is %v at %g, expected %v", s.Abstained, s.Best[0].Value, want)
		}
	})
}

// counting supplies n samples whose only feature is their index. It records the blocks
// that it is asked to fill.
type counting struct {
	n, next int
	asked   map[*float32]bool
	fail    int // the sample that cannot be read; 0 for none
}

func (c *counting) Cols() int { return 1 }

func (c *counting) Read(block dataset.Matrix[float32]) (int, error) {
	if c.asked == nil {
		c.asked = map[*float32]bool{}
	}
	c.asked[&block.Data[0]] = true
	n := min(block.Rows, c.n-c.next)
	for i := range n {
		block.Row(i)[0] = float32(c.next)
		if c.next++; c.fail > 0 && c.next > c.fail {
			return i, fmt.Errorf("a bad sample: %w", io.EOF)
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// modulo scores class -i mod Z of sample i highest.
type modulo struct{ fail, nan float32 } // the samples from which on it fails or scores NaN; 0 for none

func (m modulo) Score(x, scores dataset.Matrix[float32], _ []float64) error {
	for i := range x.Rows {
		if m.fail > 0 && x.Row(i)[0] >= m.fail {
			return errors.New("a bad block")
		}
		for z := range scores.Cols {
			scores.Row(i)[z] = -float32((int(x.Row(i)[0]) + z) % scores.Cols)
		}
		if m.nan > 0 && x.Row(i)[0] >= m.nan {
			scores.Row(i)[1] = float32(math.NaN())
		}
	}
	return nil
}

// ofThree predicts one of three classes by scores without a model.
func ofThree(ctx context.Context, src Source, score model.Stream, l Listing) (*Predictions, error) {
	m := &Model{Saved: &train.Saved{Pipeline: new(model.Pipeline)}}
	p, err := m.Predictor(Candidates{Names: []string{"a", "b", "c"}}, Options{})
	if err != nil {
		return nil, err
	}
	return p.predict(ctx, src, score, l)
}

// Many samples are predicted in their order, with the memory of a few blocks.
func TestPredictStreams(t *testing.T) {
	src := &counting{n: 100*mostSamples + 17}
	r := testkit.Must(ofThree(t.Context(), src, modulo{}.Score, Listing{Top: 1}))(t)
	testkit.Equal(t, "predictions, and more than two blocks in use", []any{len(r.Samples), len(src.asked) > 2}, []any{src.n, false})
	for i, s := range r.Samples {
		if s.Index != i || s.Best[0].Class != (3-i%3)%3 {
			t.Fatalf("sample %d: %+v", i, s)
		}
	}
}

// The memory of the blocks is bounded for any number of features and classes.
func TestBlocksAreBounded(t *testing.T) {
	for _, c := range []struct{ dims, classes, samples int }{{2048, 50, 512}, {1, 1, 1024}, {1 << 20, 3, 64}, {300, 1 << 16, 16}, {300, 1 << 21, 1}} {
		testkit.Equal(t, fmt.Sprintf("%d features and %d classes", c.dims, c.classes), blockRows(c.dims, c.classes), c.samples)
	}
}

// The error of whatever fails is returned, and no further samples are read.
func TestPredictReturnsTheFirstError(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		src    *counting
		scorer modulo
		want   string
	}{
		{"a sample", t.Context(), &counting{n: 1e6, fail: 5000}, modulo{}, "a bad sample"},
		{"scores", t.Context(), &counting{n: 1e6}, modulo{fail: 5000}, "a bad block"},
		{"NaN", t.Context(), &counting{n: 1e6}, modulo{nan: 5000}, "sample 5000: expected finite scores, found NaN"},
		{"Ctrl-C", ended, &counting{n: 1e6}, modulo{}, "context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ofThree(c.ctx, c.src, c.scorer.Score, Listing{Top: 2})
			testkit.WantError(t, err, c.want)
			if c.src.next == c.src.n {
				t.Error("all samples were read")
			}
		})
	}
}

// Predictions of samples of a data set have their ids and true classes, and a reason where it is asked for.
func TestPredictSamples(t *testing.T) {
	m := testlab.Birds(testlab.HardBirds)
	d := &dataset.Dataset{
		Features: testlab.BirdFeatures(testlab.Cuckoo), Labels: []int{1, 0}, IDs: []string{"a.jpg", "b.jpg"}, Classes: append(slices.Clone(m.Classes), "other"),
	}
	p := testkit.Must((&Model{Saved: m}).Predictor(Candidates{Names: m.Classes, U: m.Descriptions}, Options{}))(t)
	reason := func(c *Comparison) string { return c.Class + " rather than " + c.Against }
	r := testkit.Must(p.Predict(t.Context(), &Samples{Data: d, Rows: []int{1, 0}}, Listing{Top: 1, Reason: reason}))(t)
	s, owl := r.Samples[0], m.Classes[0]
	testkit.Equal(t, "sample", []any{s.Index, s.ID, s.Class, s.Best[0].Class, s.Reason}, []any{1, "b.jpg", owl, 0, owl + " rather than " + m.Classes[1]})
	d.Labels[0] = 3
	r = testkit.Must(p.Predict(t.Context(), &Samples{Data: d, Rows: []int{0, 1}}, Listing{Top: 1, Confidence: 0.99}))(t)
	testkit.Equal(t, "count", r.Count(), Count{Samples: 2, Abstained: 2, Known: 2, Outside: 1})
	p.Temperature = 0
	_, err := p.Predict(t.Context(), &Samples{Data: d}, Listing{Top: 1, Confidence: 0.5})
	testkit.WantError(t, err, "min_confidence: expected a model of LAGO, whose scores are probabilities, or a temperature")
}

// features are the scores, without a model.
func features(x, scores dataset.Matrix[float32], _ []float64) error {
	copy(scores.Data, x.Data)
	return nil
}

// The first two samples are alike, with almost equal scores of different classes. A smaller batch
// than the smallest is not adapted to, unless that is forced.
func TestPredictAdapted(t *testing.T) {
	d := &dataset.Dataset{
		Features: dataset.Matrix[float32]{Rows: 3, Cols: 3, Data: []float32{5, 4.5, 0, 5, 5.2, 0, 0.1, 0, 3}},
		Labels:   []int{0, 2, 1}, Classes: []string{"a", "b", "c"},
	}
	m := &Model{&train.Saved{Pipeline: new(model.Pipeline), Path: "m"}}
	_, err := m.Predictor(Candidates{Names: d.Classes}, Options{Adapt: true})
	testkit.WantError(t, err, "m: adaptation: expected a temperature and tau")
	m.Decision.Adaptation = &model.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 100}}
	predict := func(o Options, rows ...int) (*Predictions, error) {
		p := testkit.Must(m.Predictor(Candidates{Names: d.Classes}, o))(t)
		return p.predict(t.Context(), &Samples{Data: d, Rows: rows}, features, Listing{Top: 3})
	}
	r := testkit.Must(predict(Options{Adapt: true}, 0, 1, 2))(t)
	testkit.Equal(t, "samples, changed, shares", []int{len(r.Samples), r.Adapted.Changed, len(r.Adapted.Shares)}, []int{3, 1, 3})
	for i, s := range r.Samples {
		testkit.Near(t, "probability", s.Best[0].Value, float64(r.Adapted.P.Row(i)[s.Best[0].Class]), 1e-6)
	}
	_, err = predict(Options{Adapt: true})
	testkit.WantError(t, err, "adapt: expected at least one sample")
}

// Far more samples with a low fit than expected are warned of, and samples whose features are all 0 are named.
func TestWarnings(t *testing.T) {
	r := &Predictions{Fits: new(model.Fit), zero: []int{3}}
	for i := range 48 {
		fit := 0.5
		if i < 3 {
			fit = 0.01
		}
		r.Samples = append(r.Samples, Prediction{Index: i, ID: fmt.Sprintf("bird%d", i), Fit: fit})
	}
	testkit.WantText(t, strings.Join(r.Warnings(), "\n"), "the features of 1 sample are all 0, among them bird3: ")
	testkit.Equal(t, "3 of 48 with a low fit are no surprise", len(r.Warnings()), 1)
	for i := range 9 {
		r.Samples[i].Fit = 0.01
	}
	testkit.WantText(t, r.Warnings()[0], "9 of 48 samples fit their best class less well than 95 %", "where 2 were expected")
}
