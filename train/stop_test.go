package train

import (
	"math"
	"testing"
)

func TestBestIsTheFirstOfEquals(t *testing.T) {
	var b bestEpoch
	for i, c := range []struct {
		accuracy float64
		better   bool
	}{
		{0, true}, // the first is better than none
		{0, false},
		{0.3, true},
		{math.Nextafter(0.3, 1), false}, // equal but for rounding
		{0.29, false},
		{0.31, true},
		{0.3, false},
	} {
		if got := b.improve(i+1, c.accuracy); got != c.better {
			t.Errorf("epoch %d with %g: better %v, expected %v", i+1, c.accuracy, got, c.better)
		}
	}
	if want := (bestEpoch{6, 0.31}); b != want {
		t.Errorf("best %+v, expected %+v", b, want)
	}
}
