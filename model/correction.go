package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
)

// Correction takes out of the scores of each class what the class gets from samples of seen
// classes, whatever these show. It is no part of the paper.
//
// The soft AND estimates p(z|x) / p(z) by exp L(x,z), L = sum_k log G[k,z], whose mean over x
// is 1 for every class if the model is right (the sum rule). The groups are not independent,
// and the descriptions of some classes collect evidence from everything, so it is not:
//
//	e[z]   = log of the mean over stored detections x' of exp L(x',z)
//	L(x,z) = L(x,z) - Omega e[z]
//
// With Omega 1 the mean over the stored detections is 1 for every class. Where the samples of
// a class itself are missing among them, as those of unseen classes are, about one half is best.
//
// Scores s of other methods are no logarithms of probabilities; theirs are standardised by
// mean and standard deviation over x':
//
//	s(x,z) = (s(x,z) - Omega mean[z]) / deviation[z]^Omega
type Correction struct {
	Omega  float64                 // from 0, no correction, to 1
	Stored dataset.Matrix[float32] // detections, n x M; the means over the samples of each seen class
}

// check returns an *invalid.Error unless c corrects detections of so many columns, if any.
func (c Correction) check(columns int) error {
	switch {
	case !(c.Omega >= 0 && c.Omega <= 1):
		return expected("omega", c.Omega, "a number from 0 to 1")
	case c.Omega > 0 && (c.Stored.Rows < 1 || columns > 0 && c.Stored.Cols != columns):
		got := fmt.Sprintf("%d x %d", c.Stored.Rows, c.Stored.Cols)
		return expected("stored detections", got, "at least one row, as wide as the detections of the model")
	}
	return nil
}

// SumRule returns e of a Correction, one number for each of the Z candidate classes, from
// stored detections, n x M.
func (f *Forward[T]) SumRule(stored dataset.Matrix[T]) ([]float64, error) {
	l := dataset.NewMatrix[float64](stored.Rows, f.groups.z)
	if err := f.each(stored, func(row int, evidence []float64) { copy(l.Data[row*l.Cols:], evidence) }); err != nil {
		return nil, err
	}
	e, column := make([]float64, l.Cols), make([]float64, l.Rows)
	for z := range e {
		for i := range column {
			column[i] = l.Row(i)[z]
		}
		e[z] = LogSumExp(column) - math.Log(float64(l.Rows))
	}
	return e, nil
}

// Correct makes f subtract omega e from L, see Correction.
func (f *Forward[T]) Correct(omega float64, stored dataset.Matrix[T]) error {
	if omega == 0 {
		return nil
	}
	e, err := f.SumRule(stored)
	for z := range e {
		e[z] *= omega
	}
	f.shift = e
	return err
}

// correct is Correct for the settings and stored detections of c.
func correct[T Float](f *Forward[T], c Correction) error {
	if err := c.check(f.groups.m); err != nil {
		return err
	}
	return f.Correct(c.Omega, dataset.Convert[T](c.Stored))
}

// standardiser returns a function that corrects scores, n x Z, in place, given the scores of
// the stored detections.
func standardiser[T Float](omega float64, stored dataset.Matrix[T]) func(scores dataset.Matrix[T]) {
	mean, factor := make([]float64, stored.Cols), make([]float64, stored.Cols)
	for z := range mean {
		for i := range stored.Rows {
			mean[z] += float64(stored.Row(i)[z]) / float64(stored.Rows)
		}
		var variance float64
		for i := range stored.Rows {
			d := float64(stored.Row(i)[z]) - mean[z]
			variance += d * d / float64(stored.Rows)
		}
		factor[z] = 1
		if variance > 0 { // else the class has the same score everywhere
			factor[z] = math.Pow(variance, -omega/2)
		}
	}
	return func(scores dataset.Matrix[T]) {
		for i := range scores.Rows {
			for z, s := range scores.Row(i) {
				scores.Row(i)[z] = T((float64(s) - omega*mean[z]) * factor[z])
			}
		}
	}
}
