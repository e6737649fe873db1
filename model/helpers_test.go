package model_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	G "gorgonia.org/gorgonia"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	_ "github.com/lago-train/lago-train/internal/testkit/fastblas" // for products
	"github.com/lago-train/lago-train/model"
)

// sizes of a problem: samples, dimensions, attributes, groups, classes.
type sizes struct{ n, d, m, k, z int }

// trial is a problem with parameters and one batch. The batch may have fewer labels than samples.
type trial[T model.Float] struct {
	Config    model.Config
	Classes   *model.Description
	Semantic  []int // the group of each attribute
	Batch     int
	described dataset.Matrix[float64] // Z x M, as the data set describes the classes
	params    *model.Parameters[T]
	x         dataset.Matrix[T]
	y         []int
}

// newTrial makes a random trial. The variant decides on the initial V; with a group for each attribute k is
// ignored.
func newTrial(t rapid.TB, c model.Config, s sizes, seed uint64) trial[float64] {
	t.Helper()
	rng := newRand(seed)
	if c.Variant.Info().Groups == model.AttributeGroups {
		s.k = s.m
	}
	if c.Variant.Info().HasK() {
		c.K = s.k
	}
	tr := trial[float64]{
		Config: c, Batch: s.n, Semantic: make([]int, s.m),
		described: uniform(rng, s.z, s.m, 0.05, 0.95),
		params: &model.Parameters[float64]{
			W: uniform(rng, s.d, s.m, -1, 1),
			B: uniform(rng, 1, s.m, -1, 1).Data,
			V: uniform(rng, s.m, s.k, -0.3, 0.3),
		},
		x: uniform(rng, s.n, s.d, -1, 1),
		y: make([]int, s.n),
	}
	for m := range s.m {
		tr.Semantic[m] = m % s.k
		if !c.Variant.Learned() {
			clear(tr.params.V.Row(m))
		}
		if !c.Variant.Info().HasK() {
			tr.params.V.Row(m)[m%s.k]++
		}
	}
	for i := range tr.y {
		tr.y[i] = rng.IntN(s.z)
	}
	return tr.describe(t)
}

// describe computes Classes from the current descriptions.
func (tr trial[T]) describe(t rapid.TB) trial[T] {
	t.Helper()
	tr.Classes = testkit.Must(tr.Config.Describe(tr.described, tr.Semantic))(t)
	return tr
}

// inPrecision copies the trial, with its parameters, into another precision.
func inPrecision[To, From model.Float](tr trial[From]) trial[To] {
	return trial[To]{
		Config: tr.Config, Classes: tr.Classes, Semantic: tr.Semantic, Batch: tr.Batch,
		described: tr.described, x: dataset.Convert[To](tr.x), y: tr.y, params: copied[To](tr.params),
	}
}

// single is the trial in the precision of training.
func single(tr trial[float64]) trial[float32] { return inPrecision[float32](tr) }

func copied[To, From model.Float](p *model.Parameters[From]) *model.Parameters[To] {
	b := dataset.Convert[To](dataset.Matrix[From]{Rows: 1, Cols: len(p.B), Data: p.B})
	return &model.Parameters[To]{W: dataset.Convert[To](p.W), B: b.Data, V: dataset.Convert[To](p.V)}
}

// machine is a Machine of either precision.
type machine interface {
	Step() (model.Terms, error)
	Learnables() []G.ValueGrad
}

// byW makes the machine that learns W and b, with the batch in it.
func (tr trial[T]) byW(t rapid.TB) *model.Machine[T] {
	t.Helper()
	m := testkit.Must(model.NewWMachine(tr.Config, tr.Classes, tr.params, tr.Batch))(t)
	copy(m.X.Data, tr.x.Data)
	m.Label(tr.y...)
	m.Begin(0)
	return m
}

// byV makes the machine that learns V, with the detections of the batch in it.
func (tr trial[T]) byV(t rapid.TB) *model.Machine[T] {
	t.Helper()
	m := testkit.Must(model.NewVMachine(tr.Config, tr.Classes, tr.params, tr.Batch))(t)
	copy(m.X.Data, tr.detect(t))
	m.Label(tr.y...)
	s := dataset.NewMatrix[T](tr.x.Rows, tr.params.W.Cols)
	tr.params.Logits(tr.x, s)
	m.Begin(model.BXE(tr.Classes, s.Slice(0, len(tr.y)), tr.y))
	return m
}

// detect returns A, n x M.
func (tr trial[T]) detect(t rapid.TB) []T {
	t.Helper()
	a := dataset.NewMatrix[T](tr.x.Rows, tr.params.W.Cols)
	tr.params.Logits(tr.x, a)
	model.Sigmoid(a.Data, a.Data)
	return a.Data
}

// forward is the forward computation from detections to classes.
func (tr trial[T]) forward(t rapid.TB) *model.Forward[T] {
	t.Helper()
	return testkit.Must(model.NewForward(tr.Config, tr.Classes, tr.params))(t)
}

// classify returns log p(z|x) for the detections a, n x Z.
func (tr trial[T]) classify(t rapid.TB, a []T) []float64 {
	t.Helper()
	m := tr.Classes.U.Cols
	in := dataset.Matrix[T]{Rows: len(a) / m, Cols: m, Data: a}
	logP := dataset.NewMatrix[T](in.Rows, tr.Classes.U.Rows)
	testkit.NoError(t, tr.forward(t).LogP(in, logP))
	return floats(logP.Data)
}

// logP returns log p(z|x) of the batch, n x Z.
func (tr trial[T]) logP(t rapid.TB) []float64 {
	t.Helper()
	return tr.classify(t, tr.detect(t))
}

// outcome is the result of a step: the terms of the loss and its gradients by W and b or by V.
type outcome struct {
	Terms model.Terms
	Grads [][]float64
}

func take(t rapid.TB, m machine) outcome {
	t.Helper()
	o := outcome{Terms: testkit.Must(m.Step())(t)}
	for _, p := range m.Learnables() {
		o.Grads = append(o.Grads, grad(t, p))
	}
	return o
}

// close fails unless two outcomes agree to the tolerance.
func (o outcome) close(t rapid.TB, want outcome, tolerance float64) {
	t.Helper()
	testkit.NearAll(t, "terms", o.terms(), want.terms(), tolerance)
	for i, g := range o.Grads {
		testkit.NearAll(t, fmt.Sprint("gradient ", i), g, want.Grads[i], tolerance)
	}
}

func (o outcome) terms() []float64 {
	return []float64{o.Terms.CXE, o.Terms.BXE, o.Terms.W2, o.Terms.WU2, o.Terms.GroupPenalty}
}

// finite fails unless all numbers of the outcome are.
func (o outcome) finite(t rapid.TB) {
	t.Helper()
	for i, values := range append([][]float64{o.terms()}, o.Grads...) {
		finite(t, fmt.Sprint("terms and gradients ", i), values)
	}
}

func finite(t rapid.TB, name string, values []float64) {
	t.Helper()
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%s[%d] is %g", name, i, v)
		}
	}
}

// same fails unless got and want agree to 1e-9.
func same(t rapid.TB, name string, got, want []float64) {
	t.Helper()
	testkit.NearAll(t, name, got, want, 1e-9)
}

func grad(t rapid.TB, p G.ValueGrad) []float64 {
	t.Helper()
	return numbers(testkit.Must(p.Grad())(t))
}

// numbers copies the numbers of a value.
func numbers(v G.Value) []float64 {
	switch data := v.Data().(type) {
	case []float64:
		return floats(data)
	case []float32:
		return floats(data)
	case float64:
		return []float64{data}
	}
	panic("neither a tensor nor a scalar of float64")
}

func floats[T model.Float](values []T) []float64 {
	return dataset.Convert[float64](dataset.Matrix[T]{Rows: 1, Cols: len(values), Data: values}).Data
}

func matrix(rows [][]float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// uniform returns numbers between low and high.
func uniform(rng *rand.Rand, rows, cols int, low, high float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = low + (high-low)*rng.Float64()
	}
	return m
}
