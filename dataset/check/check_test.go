package check

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

func TestErrors(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name  string
		spoil func(d *dataset.Dataset)
		want  string // how the error begins
	}{
		{"nothing", func(d *dataset.Dataset) { d.TestSeen, d.Descriptions.Data[1] = []int{0, 1, 5}, nan }, "<nil>"},
		{"features without dimensions", func(d *dataset.Dataset) { d.Features.Cols = 0 }, "sound: features: expected at least one dimension, found none"},
		{"a NaN feature", func(d *dataset.Dataset) { d.Features.Row(5)[1] = float32(nan) }, "sound: feature 1 of sample 5: expected a finite number, found NaN"},
		{"a held out sample of an unseen class", func(d *dataset.Dataset) { d.TestSeen = []int{1, 3} }, `sound: test_seen, entry 1: expected a sample of a train or val class, found sample 3, of class "dog"`},
		{"a class that is held out", func(d *dataset.Dataset) { d.TestSeen = []int{0, 1, 7} }, `sound: class "ant": expected at least one sample to train on, found all 2 held out (test_seen)`},
		{"no validation classes", func(d *dataset.Dataset) { d.Split.Val = nil }, "<nil>"},
		{"a class without samples", func(d *dataset.Dataset) { d.Labels[3], d.Labels[4] = 0, 0 }, `sound: test class "dog": expected at least one sample, found none`},
		{"a class without description", func(d *dataset.Dataset) { copy(d.Descriptions.Row(1), []float64{nan, nan, nan}) }, `sound: description of val class "bee": expected at least one described attribute, found none`},
		{"ids that count up", func(d *dataset.Dataset) { fill(d, 1, func(i, z int) float32 { return float32(i + 17) }) }, "sound: features, column 2: expected a feature, found whole numbers that count up, from 17 to 24. Ids or labels of the samples? Take the column out of the features: labels.csv has classes and ids."},
		{"labels", func(d *dataset.Dataset) { fill(d, 2, func(i, z int) float32 { return float32(9 - z) }) }, "sound: features, column 3: expected a feature, found one whole number for each class. Ids or"},
		{"counts", func(d *dataset.Dataset) { fill(d, 2, func(i, z int) float32 { return float32(300 + i/2) }) }, "<nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tiny.Sound()
			tt.spoil(d)
			err := Errors(d)
			if !strings.HasPrefix(fmt.Sprint(err), tt.want) || err != nil && !errors.As(err, new(*invalid.Error)) {
				t.Errorf("%v\nwant:\n%s", err, tt.want)
			}
		})
	}
}

// fill sets a column of the features to values of the sample and its class.
func fill(d *dataset.Dataset, column int, value func(i, z int) float32) {
	for i, z := range d.Labels {
		d.Features.Row(i)[column] = value(i, z)
	}
}
