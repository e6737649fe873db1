package engine

import "testing"

// A value is shown for each part only where the parts differ.
func TestChosen(t *testing.T) {
	for want, parts := range map[string][]Part{
		"epochs 3; k-soft; defaults": {{Variant: "k-soft", Epochs: 3}, {Variant: "k-soft", Epochs: 3}},
		"epochs 3, 4; k-soft; alpha 0, default; lr 0.1": {
			{Variant: "k-soft", Epochs: 3, Changed: map[string]any{"lr": 0.1, "alpha": 0}}, {Variant: "k-soft", Epochs: 4, Changed: map[string]any{"lr": 0.1}},
		},
	} {
		if got := (Row{Name: LAGOMethod, Parts: parts}).Chosen(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
