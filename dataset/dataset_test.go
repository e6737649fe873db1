package dataset_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

func TestFingerprintSeesEveryPart(t *testing.T) {
	seen := map[string]string{tiny.Sound().Fingerprint(): "nothing"}
	for _, tt := range []struct {
		name   string
		change func(d *dataset.Dataset)
	}{
		{"a feature", func(d *dataset.Dataset) { d.Features.Data[4] += 1e-6 }},
		{"the shape of the features", func(d *dataset.Dataset) { d.Features.Rows, d.Features.Cols = 3, 8 }},
		{"a label", func(d *dataset.Dataset) { d.Labels[0] = 1 }},
		{"a class name", func(d *dataset.Dataset) { d.Classes[0] = "ape" }},
		{"where a class name ends", func(d *dataset.Dataset) { d.Classes[0], d.Classes[1] = "antb", "ee" }},
		{"an attribute name", func(d *dataset.Dataset) { d.Attributes[2].Name = "flew" }},
		{"the group of an attribute", func(d *dataset.Dataset) { d.Attributes[2].Group = 0 }},
		{"a group name", func(d *dataset.Dataset) { d.Groups[0] = "arms" }},
		{"a description", func(d *dataset.Dataset) { d.Descriptions.Data[3] = 0.125 }},
		{"a description left out", func(d *dataset.Dataset) { d.Descriptions.Data[3] = math.NaN() }},
		{"the samples held out", func(d *dataset.Dataset) { d.TestSeen = []int{0} }},
		{"the part of a class", func(d *dataset.Dataset) { d.Split.Train, d.Split.Val = []int{0}, []int{1, 2} }},
	} {
		d := tiny.Sound()
		tt.change(d)
		sum := d.Fingerprint()
		if other, taken := seen[sum]; taken {
			t.Errorf("changing %s gives the fingerprint of changing %s", tt.name, other)
		}
		seen[sum] = tt.name
	}
}

func TestFingerprintIgnoresWhatChangesNothing(t *testing.T) {
	a, b := tiny.Sound(), tiny.Sound()
	b.Name, b.Source = "other", "elsewhere"
	b.FeaturesSum = dataset.SumFeatures(b.Features)
	a.Descriptions.Data[0] = math.NaN()
	b.Descriptions.Data[0] = math.Float64frombits(math.Float64bits(math.NaN()) ^ 1)
	testkit.Equal(t, "fingerprint", a.Fingerprint(), b.Fingerprint())
}

// Of each class every second held-out sample is evaluated, from the first, and the others choose.
func TestHeldOut(t *testing.T) {
	d := &dataset.Dataset{Classes: []string{"ant", "bee", "cat"}, Labels: []int{0, 1, 0, 1, 0, 2, 1}, TestSeen: []int{0, 1, 2, 4, 5, 6}}
	choosing, evaluated := d.HeldOut()
	testkit.Equal(t, "choosing", choosing, []int{2, 6})
	testkit.Equal(t, "evaluated", evaluated, []int{0, 1, 4, 5})
}

// The means over the seen classes are in the place of missing features.
func TestSetAbsent(t *testing.T) {
	d := &dataset.Dataset{
		Features: dataset.Matrix[float32]{Rows: 5, Cols: 1, Data: []float32{1, -9, 3, 50, float32(math.NaN())}}, Labels: []int{0, 0, 0, 1, 1},
		Classes: []string{"ant", "bee"}, Split: dataset.Split{Train: []int{0}, Test: []int{1}},
	}
	codes := []dataset.Code{-9, dataset.Code(math.NaN()), dataset.Code(math.Inf(-1))}
	d.SetAbsent(codes)
	testkit.Equal(t, "features", d.Features.Data, []float32{1, 2, 3, 50, 2})
	text := testkit.Must(json.Marshal(codes))(t)
	testkit.Equal(t, "JSON", string(text), `[-9,"NaN","-Inf"]`)
	var read []dataset.Code
	testkit.NoError(t, json.Unmarshal(text, &read))
	testkit.Equal(t, "read", fmt.Sprint(read), fmt.Sprint(codes))
}
