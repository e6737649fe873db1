package model_test

import (
	"fmt"
	"testing"
)

// opSizes are minimal shapes, and one large enough for ops to run in parallel.
var opSizes = []sizes{
	{n: 3, d: 4, m: 5, k: 3, z: 4},
	{n: 1, d: 1, m: 1, k: 1, z: 1},
	{n: 1, d: 3, m: 5, k: 2, z: 3},
	{n: 4, d: 2, m: 6, k: 1, z: 3},
	{n: 3, d: 2, m: 4, k: 4, z: 1},
	{n: 2, d: 3, m: 9, k: 9, z: 5},
	{n: 40, d: 3, m: 7, k: 5, z: 9},
}

func forOps(t *testing.T, sizes []sizes, test func(t *testing.T, o op, weights []float64)) {
	for i, s := range sizes {
		rng := newRand(uint64(i))
		weights := uniform(rng, 1, s.k*s.n*s.z+s.n*s.m+s.m*s.k, -1, 1).Data // enough for any output
		for _, o := range ops(s, rng) {
			t.Run(fmt.Sprintf("%s at %+v", o.name, s), func(t *testing.T) { test(t, o, weights) })
		}
	}
}

// Each fused op agrees with stock ops, forward and backward.
func TestOpsAgreeWithStockOps(t *testing.T) {
	forOps(t, opSizes, func(t *testing.T, o op, weights []float64) {
		fused, stock := o.compile(t, o.buildFused, weights), o.compile(t, o.buildStock, weights)
		same(t, "output", fused.run(t), stock.run(t))
		for i, g := range fused.grads {
			same(t, fmt.Sprintf("gradient by learned input %d", i), numbers(g.Value()), numbers(stock.grads[i].Value()))
		}
	})
}

// Each gradient of a fused op agrees with finite differences.
func TestOpsAgreeWithFiniteDifferences(t *testing.T) {
	const h = 1e-5
	forOps(t, opSizes[:6], func(t *testing.T, o op, weights []float64) {
		m := o.compile(t, o.buildFused, weights)
		m.run(t)
		var grads [][]float64
		for _, g := range m.grads {
			grads = append(grads, numbers(g.Value()))
		}
		forward := o.compile(t, o.buildFused, nil)
		objective := func() (sum float64) {
			for i, v := range forward.run(t) {
				sum += v * weights[i]
			}
			return sum
		}
		for _, v := range o.inputs {
			if v.fixed {
				continue
			}
			within(t, "gradient by "+v.name, 1e-7, grads[0], differences(v.data, h, objective))
			grads = grads[1:]
		}
	})
}

// differences are those of f over 2h, for each element of x in turn.
func differences(x []float64, h float64, f func() float64) []float64 {
	d := make([]float64, len(x))
	for i, at := range x {
		x[i] = at + h
		up := f()
		x[i] = at - h
		d[i] = (up - f()) / (2 * h)
		x[i] = at
	}
	return d
}
