package baselinetest_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// recorder is a test that may fail; Fatalf does not return.
type recorder struct {
	rapid.TB
	failed bool
}

func (*recorder) Helper()                 {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { panic(r) }

// fails says whether a check fails.
func fails(check func(rapid.TB)) (failed bool) {
	r := new(recorder)
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		} else if p != nil {
			failed = true
		}
	}()
	check(r)
	return r.failed
}

// A check that holds whatever it is given would be no test of anything.
func TestNear(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		got, want []float64
		near      bool
	}{
		{nil, nil, true},
		{[]float64{1, 0.25}, []float64{1, 0.5}, true},
		{[]float64{1, 0.125}, []float64{1, 0.5}, false},
		{[]float64{5}, []float64{-4}, false},
		{[]float64{-5}, []float64{-4}, true}, // 0.25 x 4
		{[]float64{1}, []float64{1, 1}, false},
		{[]float64{nan}, []float64{1}, false},
		{[]float64{1}, []float64{nan}, false},
	} {
		if fails(func(t rapid.TB) { baselinetest.Near(t, "numbers", 0.25, c.got, c.want) }) == c.near {
			t.Errorf("%v for %v, expected near: %t", c.got, c.want, c.near)
		}
	}
}

func TestNames(t *testing.T) {
	err := &invalid.Error{Field: "c", Want: "a number", Got: fmt.Sprint("none")}
	for _, c := range []struct {
		err   error
		names bool
	}{
		{err, true},
		{fmt.Errorf("learn: %w", err), true},
		{&invalid.Error{Field: "lr"}, false},
		{errors.New("c"), false},
		{nil, false},
	} {
		if fails(func(t rapid.TB) { baselinetest.Names(t, "c", c.err) }) == c.names {
			t.Errorf("%v, expected to name c: %t", c.err, c.names)
		}
	}
}
