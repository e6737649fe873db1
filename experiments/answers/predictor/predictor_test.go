package predictor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
)

func pets() (*Model, *dataset.Dataset) {
	m := &Model{Saved: &train.Saved{
		Dataset: "pets", Attributes: []string{"legs::four", "legs::two", "flies"}, Groups: []string{"legs", "flies"}, Semantic: []int{0, 0, 1},
		Classes:      []string{"cat", "dog", "owl", "emu", "eel"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{1, 0, 0, 1, 0, 0.1, 0, 1, 1, 0, 0.9, 0, 0, 0, 0}},
		Split:        dataset.Split{Train: []int{0}, Val: []int{1}, Test: []int{2, 3}},
		Learned:      []int{0, 1},
	}}
	return m, m.TrainingData()
}

func TestSelections(t *testing.T) {
	m, d := pets()
	for want, selections := range map[string][]Selection{
		"val classes [dog]": {Val}, "all classes [cat dog owl emu eel]": {All},
		"unseen classes [owl emu eel]": {Unseen}, "test and train and seen classes [owl emu cat dog]": {Test, Train, Seen},
	} {
		found := m.SelectedCandidates(d, selections...)
		testkit.Equal(t, "selected", fmt.Sprint(found.What, " ", found.Names), want)
		testkit.Equal(t, "descriptions of "+found.What, found.U.Row(0), d.Descriptions.Row(slices.Index(d.Classes, found.Names[0])))
	}
}

func TestNewCandidates(t *testing.T) {
	m, d := pets()
	path := testkit.Write(t, t.TempDir(), "classes.csv", "class,legs: two,flies\nbat,yes,yes\nrobot,,no\n")
	both := testkit.Must(m.NewCandidates(t.Context(), d, []Selection{Test, Selection(path)}, Val, ""))(t)
	nan := math.NaN()
	want := Candidates{
		What: "test classes and classes of " + path, Names: []string{"owl", "emu", "bat", "robot"},
		U: dataset.Matrix[float64]{Rows: 4, Cols: 3, Data: []float64{0, 1, 1, 0, 0.9, 0, nan, 1, 1, nan, nan, 0}},
	}
	testkit.Equal(t, "both", both, want, cmpopts.EquateNaNs())
	alone := testkit.Must(m.NewCandidates(t.Context(), d, []Selection{Selection(path)}, Val, ""))(t)
	testkit.Equal(t, "the file alone", alone.Names, []string{"bat", "robot"})
	names := Selection(testkit.Write(t, t.TempDir(), "names.txt", d.Classes[1]+"\n"+d.Classes[0]+"\n"))
	named := testkit.Must(m.NewCandidates(t.Context(), d, []Selection{names, Selection(d.Classes[2])}, Val, ""))(t)
	testkit.Equal(t, "names", named.Names, []string{d.Classes[2], d.Classes[1], d.Classes[0]})
	_, err := m.NewCandidates(t.Context(), d, []Selection{"tset"}, Val, "")
	testkit.WantError(t, err, "candidates: expected unseen, test, ", "Did you mean test?")
	testkit.Equal(t, "neither", testkit.Must(m.NewCandidates(t.Context(), d, nil, Val, ""))(t).What, "val classes")
	_, err = both.join(m.SelectedCandidates(d, All))
	testkit.WantError(t, err, `found "owl"`)
}

// Descriptions may change and classes without samples may be added; other labels are other data, and of
// another split the model has its own.
func TestChanged(t *testing.T) {
	d := tiny.Small()
	m := &Model{&train.Saved{
		Trial:   &train.Trial{Fingerprint: d.Fingerprint()},
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
	testkit.Equal(t, "test classes of the view", m.View(&rotated).Split.Test, d.Split.Test)
}

// Where seen and unseen classes are candidates together, omega and the temperature are those chosen for that; without
// such a choice omega is that of the settings, and no temperature was fitted.
func TestMixedCandidates(t *testing.T) {
	m, d := pets()
	alone, mixed := &model.Calibration{Temperature: 2}, &model.Calibration{Temperature: 3}
	m.Pipeline = &model.Pipeline{Decision: model.Decision{
		Kind: model.Subtract, Scoring: model.Scoring{Omega: 0.25, Calibration: alone}, Mixed: &model.Scoring{Omega: 1, Calibration: mixed},
	}}
	for _, c := range []struct {
		Selection
		mixed bool
	}{{All, true}, {Unseen, false}, {Seen, false}} {
		p := testkit.Must(m.Predictor(m.SelectedCandidates(d, c.Selection), Options{}))(t)
		testkit.Equal(t, string(c.Selection), []bool{p.Mixed, p.Decision.Omega == 1, p.Temperature == 3}, []bool{c.mixed, c.mixed, c.mixed})
	}
	m.Decision.Mixed = nil
	p := testkit.Must(m.Predictor(m.SelectedCandidates(d, All), Options{}))(t)
	testkit.Equal(t, "without held-out samples", p.Decision.Scoring, model.Scoring{Omega: 0.25})
	table := descriptions.TableOf(d)
	table.AddClasses("fly", "undescribed")
	table.Set(len(table.Classes)-2, 2, "1")
	today, ok := m.Described(table)
	testkit.Equal(t, "a table with every attribute", ok, true)
	testkit.Equal(t, "unseen today", m.SelectedCandidates(today, Unseen).Names, []string{"owl", "emu", "eel", "fly"})
	m.Attributes[0] = "swims"
	_, ok = m.Described(table)
	testkit.Equal(t, "a table without an attribute of the model", ok, false)
}

// Where most of the classes seem to be absent, predictions are those without adaptation.
func TestDeclines(t *testing.T) {
	d := &dataset.Dataset{Features: dataset.NewMatrix[float32](40, 3), Labels: make([]int, 40), Classes: []string{"a", "b", "c"}}
	for i := range d.Features.Rows {
		copy(d.Features.Row(i), []float32{8, float32(i%2) / 8, 0})
	}
	adaptation := &model.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 10}}
	m := &Model{Saved: &train.Saved{Pipeline: &model.Pipeline{Decision: model.Decision{Adaptation: adaptation}}}}
	predict := func(o Options) *Predictions {
		p := testkit.Must(m.Predictor(Candidates{Names: d.Classes}, o))(t)
		return testkit.Must(p.predict(t.Context(), &Samples{Data: d, Rows: d.Features.AllRows()}, features, Listing{Top: 3}))(t)
	}
	alone, declined := predict(Options{Temperature: 2}), predict(Options{Temperature: 2, Adapt: true})
	testkit.Equal(t, "predictions", declined.Samples, alone.Samples)
	testkit.Equal(t, "declined and changed", []any{declined.Adapted.Declined, declined.Adapted.Changed}, []any{true, 0})
}
