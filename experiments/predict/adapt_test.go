package predict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// The first two samples are alike, with almost equal scores of different classes.
func TestRunAdapted(t *testing.T) {
	src := three()
	copy(src.d.Features.Data[3:], []float32{5, 4.5, 0, 5, 5.2, 0, 0.1, 0, 3})
	m := &train.Saved{
		Transform:  &preprocess.Transform{Chain: preprocess.None},
		Adaptation: &train.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 100}},
	}
	var out bytes.Buffer
	count, a, err := RunAdapted(t.Context(), src, m, asFeatures{}, awkward, Options{Top: 1, Format: CSV}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if count.Samples != 3 || a.Samples != 3 || a.Changed != 1 || len(a.Shares) != 3 {
		t.Errorf("%+v, %+v", count, a)
	}
	if !strings.HasPrefix(out.String(), "sample,true_class,prediction,class_1,probability_1\n") {
		t.Errorf("%s", &out)
	}
	var text strings.Builder
	if err := a.WriteText(&text); err != nil || !strings.Contains(text.String(), "adapted to 3 samples: 1 prediction changed") {
		t.Errorf("%v\n%s", err, &text)
	}
	src.next = len(src.rows)
	if _, _, err := RunAdapted(t.Context(), src, m, asFeatures{}, awkward, Options{Top: 1}, &out); err == nil {
		t.Error("an empty batch was accepted")
	}
}

func TestMostCandidatesAbsentIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		warned bool
	}{
		{[]float64{0.98, 0.01, 0.01}, true},
		{[]float64{0.5, 0.49, 0.01}, false},
	} {
		var text strings.Builder
		a := Adapted{Samples: 97, Classes: []string{"a", "b", "c"}, Shares: c.shares}
		if err := a.WriteText(&text); err != nil || strings.Contains(text.String(), "warning: more than half of the candidate classes") != c.warned {
			t.Errorf("%v: %v\n%s", c.shares, err, &text)
		}
	}
}
