package train

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

func TestTrainingIsReproducible(t *testing.T) {
	d := tiny(t)
	for _, v := range model.Variants {
		t.Run(string(v), func(t *testing.T) {
			trial := trialOn(d, v, Dev)
			trial.Training.Epochs = 2
			first, second := trained(t, d, trial, Epochs), trained(t, d, trial, Epochs)
			if !cmp.Equal(bits(first.model.Params), bits(second.model.Params)) {
				t.Error("equal trials gave different weights")
			}
			if diff := cmp.Diff(first.curve, second.curve, butSeconds); diff != "" {
				t.Errorf("equal trials gave different curves:\n%s", diff)
			}
			trial.Training.Seed++
			other := trained(t, d, trial, Epochs)
			if cmp.Equal(bits(first.model.Params), bits(other.model.Params)) {
				t.Error("another seed gave the same weights")
			}
		})
	}
}

// Each seed, epoch and phase has a different order of samples.
func TestShuffled(t *testing.T) {
	orders := make(map[string]string)
	for seed := range uint64(3) {
		for epoch := 1; epoch <= 300; epoch += 23 {
			for phase := range 2 {
				name := fmt.Sprintf("seed %d, epoch %d, phase %d", seed, epoch, phase)
				p := shuffled(40, seed, epoch, phase)
				seen := make([]bool, 40)
				for _, i := range p {
					seen[i] = true
				}
				for i, s := range seen {
					if !s {
						t.Errorf("%s: %d is missing", name, i)
					}
				}
				order := fmt.Sprint(p)
				if other, ok := orders[order]; ok {
					t.Errorf("%s and %s have the same order", name, other)
				}
				orders[order] = name
			}
		}
	}
}

// The 768 x 64 weights are enough to be split among several workers.
func TestResultsDoNotDependOnWorkers(t *testing.T) {
	defer parallel.Limit(0)
	d, err := simulate.Make(simulate.Spec{
		Samples: 140, Dims: 768, Attributes: 64, Groups: 8, TrainClasses: 20, ValClasses: 4, TestClasses: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range model.Variants {
		t.Run(string(v), func(t *testing.T) {
			trial := trialOn(d, v, Dev)
			trial.Model.Alpha, trial.Model.Complement = 0.1, model.DeMorgan
			trial.Training.Epochs, trial.Training.Batch = 1, 64
			var want *lagoTrainer
			for _, workers := range []int{1, 2, 3} {
				parallel.Limit(workers)
				got := trained(t, d, trial, Epochs)
				if want == nil {
					want = got
				}
				if !cmp.Equal(bits(want.model.Params), bits(got.model.Params)) {
					t.Errorf("%d workers give different weights than one", workers)
				}
				if diff := cmp.Diff(want.curve, got.curve, butSeconds); diff != "" {
					t.Errorf("%d workers give a different curve than one:\n%s", workers, diff)
				}
			}
		})
	}
}

// garble changes the descriptions, names, features and labels of the test classes.
func garble(d *dataset.Dataset) {
	test := d.Split.Test
	next := make(map[int]int)
	for i, z := range test {
		next[z] = test[(i+1)%len(test)]
		row := d.Descriptions.Row(z)
		for m := range row {
			row[m] = 0.9 * float64((z+m)%2)
		}
		d.Classes[z] += " (garbled)"
	}
	for _, i := range d.SamplesOf(test) {
		for j := range d.Features.Row(i) {
			d.Features.Row(i)[j] = float32(1000 * (i - j))
		}
		d.Labels[i] = next[d.Labels[i]]
	}
}

func TestTrainingDoesNotUseTheTestClasses(t *testing.T) {
	for _, v := range []model.Variant{model.SemanticHard, model.KSoft} {
		for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
			t.Run(fmt.Sprintf("%s/%s", v, chain), func(t *testing.T) {
				d, garbled := tiny(t), tiny(t)
				garble(garbled)
				trial := trialOn(d, v, Test)
				trial.Preprocess, trial.Ridge, trial.Training.Epochs = chain, 10, 2
				want, got := trained(t, d, trial, Epochs), trained(t, garbled, trial, Epochs)
				if !cmp.Equal(bits(want.kept), bits(got.kept)) {
					t.Error("other test samples gave different weights")
				}
				if diff := cmp.Diff(want.curve, got.curve, butSeconds); diff != "" {
					t.Errorf("other test samples gave a different curve:\n%s", diff)
				}
			})
		}
	}
}
