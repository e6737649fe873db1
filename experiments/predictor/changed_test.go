package predictor

import (
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Descriptions may change and classes without samples may be added; other labels are other data, and of
// another split the model has its own.
func TestChanged(t *testing.T) {
	d := tiny.Small()
	m := &Model{Trial: &train.Trial{Fingerprint: d.Fingerprint()}, Saved: &train.Saved{
		Dataset: d.Name, Classes: d.Classes, Descriptions: d.Descriptions, Split: d.Split, Learned: d.Split.Seen(),
	}}
	unseen, seen := d.Split.Test[0], d.Split.Train[0]
	for _, c := range []struct {
		change func(d *dataset.Dataset)
		want   string
		harms  bool
	}{
		{func(*dataset.Dataset) {}, "", false},
		{func(d *dataset.Dataset) { d.Descriptions.Row(unseen)[0] = 0.123 }, "descriptions of 1 class (" + d.Classes[unseen] + ") changed since training; predictions use the new ones", false},
		{func(d *dataset.Dataset) { clear(d.Descriptions.Row(seen)) }, "repeat the command that trained it", true},
		{func(d *dataset.Dataset) { // a class before all others
			d.Classes = append([]string{"added"}, d.Classes...)
			d.Descriptions = dataset.Matrix[float64]{Rows: d.Descriptions.Rows + 1, Cols: d.Descriptions.Cols, Data: append(make([]float64, d.Descriptions.Cols), d.Descriptions.Data...)}
			for _, list := range [][]int{d.Labels, d.Split.Train, d.Split.Val, d.Split.Test} {
				for i := range list {
					list[i]++
				}
			}
		}, "", false},
		{func(d *dataset.Dataset) {
			d.Labels[0], d.Labels[len(d.Labels)-1] = d.Labels[len(d.Labels)-1], d.Labels[0]
		}, "features, labels or split", true},
	} {
		changed := tiny.Small()
		c.change(changed)
		text, harms := m.Changed(changed)
		if testkit.WantText(t, text, c.want); harms != c.harms || c.want == "" && text != "" {
			t.Errorf("found %q, harms %v; expected %q, %v", text, harms, c.want, c.harms)
		}
	}
	rotated := *d
	rotated.Split = dataset.Split{Train: d.Split.Test, Val: d.Split.Val, Test: d.Split.Train}
	if v := m.View(&rotated); !slices.Equal(v.Split.Test, d.Split.Test) {
		t.Errorf("the view has the split %v", v.Split)
	}
}

// Where seen and unseen classes are candidates together, the scores have the remedy chosen for that.
func TestMixedCandidates(t *testing.T) {
	m, d := pets()
	m.Pipeline, m.Generalised = &model.Pipeline{}, &train.Remedy{Correction: model.Correction{Kind: model.Subtract, Omega: 1}, Gamma: 0.5}
	for _, c := range []struct {
		Selection
		mixed bool
	}{{All, true}, {Unseen, false}, {Seen, false}} {
		p := testkit.Must(m.Predictor(m.SelectedCandidates(d, c.Selection), Options{}))(t)
		if p.Mixed != c.mixed || p.Correction.On() != c.mixed || c.mixed != slices.Equal(p.Stacking, []float64{0.5, 0.5, 0, 0, 0}) {
			t.Errorf("%s: mixed %v, correction %v, stacking %g", c.Selection, p.Mixed, p.Correction, p.Stacking)
		}
	}
	table := descriptions.Of(d)
	table.AddClass("fly")
	table.AddClass("undescribed")
	table.Set(len(table.Classes)-2, 2, "1")
	today, ok := m.Described(table)
	if names := m.SelectedCandidates(today, Unseen).Names; !ok || !slices.Equal(names, []string{"owl", "emu", "eel", "fly"}) {
		t.Errorf("unseen today: %q", names)
	}
	m.Attributes[0] = "swims"
	if _, ok := m.Described(table); ok {
		t.Error("a table without an attribute of the model is taken")
	}
}
