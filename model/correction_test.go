package model_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// correctionCase is scores with and without the correction in float64, from an independent
// implementation made for this project.
type correctionCase struct {
	goldenCase
	Stored   [][]float64 `json:"stored_detections"`
	Evidence []float64   `json:"evidence"`
	Cases    []struct {
		Omega float64     `json:"omega"`
		LogP  [][]float64 `json:"log_p_class"`
	} `json:"cases"`
	Standardise struct {
		Mean   []float64   `json:"mean"`
		Scores [][]float64 `json:"scores"`
	} `json:"standardise"`
}

func TestGoldenCorrection(t *testing.T) {
	eachGolden(t, "golden-correction", "LAGO_GOLDEN_CORRECTION", correctionCase.check)
}

func (c correctionCase) check(t *testing.T) {
	config := c.config()
	classes := testkit.Must(config.Describe(matrix(c.U), c.Groups))(t)
	f := testkit.Must(model.NewForward(config, classes, &model.Parameters[float64]{V: matrix(c.V)}))(t)
	corrected := func(kind model.CorrectionKind, omega float64, logs bool) []float64 {
		return testkit.Must(f.Corrected(matrix(c.A), matrix(c.Stored), model.Correction{Kind: kind, Omega: omega}, logs))(t).Data
	}
	same(t, "e", testkit.Must(f.ClassCorrection(matrix(c.Stored)))(t), c.Evidence)
	for _, want := range c.Cases {
		same(t, "log p", corrected(model.Subtract, want.Omega, true), matrix(want.LogP).Data)
	}
	same(t, "standardised", corrected(model.Standardise, 1, false), matrix(c.Standardise.Scores).Data)
}

// The scores of a pipeline are corrected on all ways: by Classify, as a stream and explained;
// omega 0 changes no bit.
func TestPipelineCorrects(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 30, d: 5, m: 6, k: 3, z: 4}, 1))
	p, x, u := lago(tr), tr.x, tr.described
	rows := x.AllRows()
	plain := testkit.Must(model.Score(p, x, rows, u))(t)
	stored := testkit.Must(p.Detect(x, rows))(t)
	p.Decision, p.Reference = model.Decision{Kind: model.Subtract}, model.Reference{Detections: stored}
	testkit.Equal(t, "scores with omega 0", testkit.Must(model.Score(p, x, rows, u))(t).Data, plain.Data)
	p.Decision.Omega = 0.5
	for _, kind := range []model.CorrectionKind{model.Subtract, model.Standardise} {
		p.Decision.Kind = kind
		corrected := testkit.Must(model.Score(p, x, rows, u))(t)
		if slices.Equal(corrected.Data, plain.Data) {
			t.Errorf("%s with omega 0.5 changes no scores", kind)
		}
		streamed := dataset.NewMatrix[float32](x.Rows, u.Rows)
		testkit.NoError(t, testkit.Must(model.NewStream(p, u, false))(t)(x, streamed, nil))
		e := testkit.Must(p.Explainer(u))(t)
		explained := testkit.Must(e.LogP(dataset.Convert[float64](stored)))(t)
		testkit.NearAll(t, "streamed", streamed.Data, corrected.Data, 1e-4)
		testkit.NearAll(t, "explained", explained.Data, corrected.Data, 1e-4)
		evidence := testkit.Must(e.Explain(dataset.Convert[float64](stored).Row(0), 0, 1))(t)
		sum := evidence.Correction
		for _, g := range evidence.Groups {
			sum += g.Contribution
		}
		if math.Abs(sum-evidence.LogOdds) > 1e-9 || evidence.Correction == 0 {
			t.Errorf("the parts sum to %g, the log odds are %g; the correction is %g", sum, evidence.LogOdds, evidence.Correction)
		}
	}
	classes := testkit.Must(tr.Config.Describe(u, tr.Semantic))(t)
	f := testkit.Must(model.NewForward(tr.Config, classes, tr.params))(t)
	full := testkit.Must(f.Corrected(stored, stored, model.Correction{Kind: model.Subtract, Omega: 1}, false))(t)
	for _, omega := range []float64{0, 0.5} {
		p.Decision = model.Decision{Kind: model.Subtract, Scoring: model.Scoring{Omega: omega}}
		streamed, fit := dataset.NewMatrix[float32](x.Rows, u.Rows), make([]float64, x.Rows)
		testkit.NoError(t, testkit.Must(model.NewStream(p, u, true))(t)(x, streamed, fit))
		for i, want := range testkit.Must(p.BestFit(stored, u))(t) {
			if best := float64(slices.Max(full.Row(i))); math.Abs(want-best) > 1e-5 || math.Abs(fit[i]-want) > 1e-4 {
				t.Fatalf("omega %g, sample %d: fit %g, streamed %g, expected %g", omega, i, want, fit[i], best)
			}
		}
	}
	refused := func(c model.Correction) {
		t.Helper()
		p.Decision = model.Decision{Kind: c.Kind, Scoring: model.Scoring{Omega: c.Omega}}
		if _, err := model.Classify(p, stored, u); !errors.As(err, new(*invalid.Error)) {
			t.Errorf("%+v: %v, want an *invalid.Error", c, err)
		}
	}
	for _, bad := range []model.Correction{{Kind: model.Subtract, Omega: math.NaN()}, {Kind: model.Standardise, Omega: 1.1}, {Kind: "mean", Omega: 1}} {
		refused(bad)
	}
	p.Reference = model.Reference{}
	refused(model.Correction{Kind: model.Subtract, Omega: 1})
}
