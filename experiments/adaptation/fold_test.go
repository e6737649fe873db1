package adaptation_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// The preprocessing is fitted on the samples that a model was trained on, without those
// held out.
func TestStore(t *testing.T) {
	l := testlab.Simulated(t)
	o, err := protocol.Run(t.Context(), l, testlab.Config(l, protocol.DevThenTest))
	if err != nil {
		t.Fatal(err)
	}
	a := &train.Adaptation{Preprocess: "standardize,whiten"}
	a.Temperature, a.Tau = 1, 30
	if err := adaptation.Store(l.Data, o.Models, a); err != nil {
		t.Fatal(err)
	}
	m, err := train.Load(o.Models[1])
	if err != nil {
		t.Fatal(err)
	}
	rows := slices.DeleteFunc(l.Data.SamplesOf(l.Data.Split.Seen()), func(row int) bool { return slices.Contains(l.Data.TestSeen, row) })
	want, err := preprocess.Fit(a.Preprocess, 0, l.Data.Features, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(want, m.Adaptation.Transform) {
		t.Error("fitted on other samples")
	}
	b, err := adaptation.NewBatch(m, l.Data, l.Data.Split.Test)
	if err != nil {
		t.Fatal(err)
	}
	x, err := want.Apply(l.Data.Features, l.Data.SamplesOf(l.Data.Split.Test))
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(x, b.X) {
		t.Error("the batch has other features")
	}
}
