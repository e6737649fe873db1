package predictor

import (
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
)

// Where most of the classes seem to be absent, predictions are those without adaptation, unless it is
// forced; the table says so.
func TestDeclines(t *testing.T) {
	d := &dataset.Dataset{Features: dataset.NewMatrix[float32](40, 3), Labels: make([]int, 40), Classes: []string{"a", "b", "c"}}
	for i := range d.Features.Rows {
		copy(d.Features.Row(i), []float32{8, float32(i%2) / 8, 0})
	}
	m := &Model{Saved: &train.Saved{Pipeline: new(model.Pipeline), Adaptation: &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 10}}}}
	predict := func(o Options) *Predictions {
		p := testkit.Must(m.Predictor(Candidates{Names: d.Classes}, o))(t)
		scores := func(x, scores dataset.Matrix[float32], _ []float64) error {
			copy(scores.Data, x.Data)
			return nil
		}
		return testkit.Must(p.predict(t.Context(), &Samples{Data: d, Rows: d.Features.AllRows()}, scores, Listing{Top: 3}))(t)
	}
	alone, declined, forced := predict(Options{Temperature: 2}), predict(Options{Temperature: 2, Adapt: true}), predict(Options{Adapt: true, ForceAdapt: true})
	for i, s := range declined.Samples {
		if !slices.Equal(s.Best, alone.Samples[i].Best) {
			t.Fatalf("sample %d: %v, expected %v", i, s.Best, alone.Samples[i].Best)
		}
	}
	if !declined.Adapted.Declined || declined.Adapted.Changed != 0 || forced.Adapted.Declined {
		t.Errorf("declined %+v, forced %+v", declined.Adapted, forced.Adapted)
	}
	const absent = "candidate classes that seem to be absent: b, c"
	testkit.WantText(t, declined.Adapted.Table(d.Classes).Text(1000, 0), "not adapted to 40 samples: only about 1 of the 3 candidate classes seem to be present", absent)
	testkit.WantText(t, forced.Adapted.Table(d.Classes).Text(1000, 0), "adapted to 40 samples: 0 predictions changed", absent)
}
