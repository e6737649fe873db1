package lago

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

func TestMain(m *testing.M) {
	info, err := blas.Use("")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv("LAGO_BENCH") != "" {
		fmt.Println("blas:", info)
	}
	os.Exit(m.Run())
}

// examples are the train samples of a data set.
func examples(d *dataset.Dataset) method.Examples {
	classes := d.Split.Train
	e := method.Examples{X: d.Features, Rows: d.SamplesOf(classes), U: d.Describe(classes), Groups: d.GroupOf()}
	for _, row := range e.Rows {
		e.Labels = append(e.Labels, slices.Index(classes, d.Labels[row]))
	}
	return e
}

// settings are those of a variant that learns in an epoch of milliseconds.
func settings(v model.Variant) *Settings {
	s := New(v)
	s.LR, s.LRV, s.BiasFactor, s.Batch, s.Zeta, s.K, s.Alpha = 1e-2, 0.1, 1, 32, 3, 6, 0
	return s
}

// learn returns a learner of the 405 train samples of tiny.Learnable.
func learn(t testing.TB, s *Settings) *learner {
	t.Helper()
	return testkit.Must(method.Learn(s, examples(tiny.Learnable()), 1))(t).(*learner)
}

// train runs epochs up to the last.
func train(t testing.TB, l *learner, first, last int) []method.Phase {
	t.Helper()
	var phases []method.Phase
	for epoch := first; epoch <= last; epoch++ {
		phases = append(phases, testkit.Must(l.Epoch(epoch))(t).Phases...)
	}
	for i := range phases {
		phases[i].Seconds = 0
	}
	return phases
}

// eachVariant runs a test for every variant.
func eachVariant(t *testing.T, test func(*testing.T, model.Variant)) {
	t.Helper()
	for _, v := range model.Variants {
		t.Run(string(v), func(t *testing.T) { test(t, v) })
	}
}
