package baselinetest

import (
	"errors"
	"math"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Near checks that numbers are as many as expected, and near: within the tolerance,
// times the number where it is above 1. NaN is near to nothing.
func Near(t rapid.TB, name string, tolerance float64, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", name, len(got), len(want))
	}
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s[%d] is %g, expected %g", name, i, v, want[i])
		}
	}
}

// Names checks that an error is a *invalid.Error of a field.
func Names(t rapid.TB, field string, err error) {
	t.Helper()
	var wrong *invalid.Error
	if !errors.As(err, &wrong) || wrong.Field != field {
		t.Errorf("%v, expected an error of %s", err, field)
	}
}
