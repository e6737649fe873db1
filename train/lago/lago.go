// Package lago trains LAGO as a method.Method. Its epochs alternate between the attribute detectors W and, in
// the variants that learn it, the group assignment V, each with its own Adam.
package lago

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/cpu"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// Settings are the settings of LAGO.
type Settings struct {
	model.Config         // with K = 0 for 30 groups, or as many as there are attributes
	LR           float64 // learning rate of W
	LRV          float64 // of V
	BiasFactor   float64 // of b, as a multiple of LR
	Batch        int
}

// New returns the defaults of a variant.
func New(v model.Variant) *Settings {
	s := &Settings{Config: model.Config{Variant: v}}
	s.Settings().SetDefaults()
	s.Variant = v
	return s
}

// defaults are those of settings, by key, where a variant has others than the general ones.
var defaults = map[model.Variant]map[string]float64{
	model.Singletons:   {"bias_factor": 30, "alpha": 0.3},
	model.KSoft:        {"lr": 3e-3, "bias_factor": 10, "lr_v": 0.05, "zeta": 1, "alpha": 1},
	model.SemanticSoft: {"bias_factor": 5, "lr_v": 0.03, "zeta": 3, "psi": 1e-4, "alpha": 0.3},
}

// defaultK is the number of free groups, where there are as many attributes.
const defaultK = 30

// The bounds of the default batch. An epoch of fewer steps learns so little that a run can end by its
// patience before it has learned anything.
const (
	leastSteps = 16
	leastBatch = 8
	mostBatch  = 64
)

// defaultSmoothing is that of descriptions in words. docs/results.md says what it was chosen on.
const defaultSmoothing = 0.1

// smoothing is the range of the setting, in which -1 leaves it to the data.
var smoothing = setting.Range{Least: -1, Most: 0.3, Text: "a number from 0 to 0.3, or -1"}

// Settings lists the settings, with the defaults of the variant that s has. A search draws
// those with search values in this order. docs/settings.md says how the defaults were chosen.
// Most search values are those of the authors' program (experiments/runs/config).
func (s *Settings) Settings() setting.List {
	learned := func(v model.VariantInfo) bool { return v.Learned }
	decay := []any{0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3}
	zeta := s.number("zeta", &s.Zeta, setting.Positive, 10).
		Describe("`VALUE` softmax scale of the group assignment; from about 1000 on, groups are one-hot")
	if s.Variant.Learned() {
		zeta = zeta.Try(1, 3, 10)
	}
	k := setting.Whole("k", &s.K, 0, setting.Between(0, int(setting.Count.Most))).
		Describe(fmt.Sprintf("`K` number of groups; 0 takes %d, or the number of attributes if that is "+
			"smaller", defaultK))
	k.UpToAttributes = true
	return setting.List{
		setting.Choice("variant", &s.Variant, model.SemanticHard, model.Variants...).Common().
			Describe("variant of LAGO"),
		// On features of another scale than the paper's, its highest rate, 3e-4, is too low.
		s.number("lr", &s.LR, setting.Positive, 1e-3).In(setting.Training).Common().
			Describe("`RATE` learning rate of the attribute detectors W").
			Try(3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3),
		// On features with a mean of zero, as whitening makes them, only b can learn that an
		// attribute is rare, and at the rate of W it takes too many epochs.
		s.number("bias_factor", &s.BiasFactor, setting.Positive, 3).In(setting.Training).
			Describe("`FACTOR` learning rate of the biases b of the detectors, as a multiple of --lr").
			Try(1, 3, 10, 30),
		s.number("beta", &s.Beta, setting.NotNegative, 1e-6).
			Describe("`VALUE` weight of |W|^2 in the loss (Eq. 6)").Try(decay...),
		s.number("lambda", &s.Lambda, setting.NotNegative, 1e-4).
			Describe("`VALUE` weight of |W U'|^2 in the loss (Eq. 6)").Try(decay...),
		s.only(learned, s.number("lr_v", &s.LRV, setting.Positive, 0.1).
			In(setting.Training).Describe("`RATE` learning rate of the group assignment V"), 0.01, 0.1, 1.),
		zeta,
		s.only(model.VariantInfo.HasK, k, 1, 10, 20, 30, 40, 60),
		s.only(model.VariantInfo.HasGroupPenalty, s.number("psi", &s.Psi, setting.NotNegative, 0).
			Noted("0.0001").
			Describe("`VALUE` weight of the group penalty, which keeps V near the semantic groups (Eq. 6)"),
			1e-5, 1e-4, 1e-3, 1e-2),
		s.number("alpha", &s.Alpha, setting.NotNegative, 0.1).
			Describe("`VALUE` weight of explicit attribute supervision in the loss (Eq. 6)").
			Try(0, 0.1, 0.3, 1),
		setting.Choice("prior", &s.Prior, model.Uniform, model.Priors...).
			Describe("attribute prior p(a)").Try(setting.All(model.Priors...)...),
		setting.Switch("freeze_prior", &s.FreezePrior, true).
			Describe("p(a) is the mean over the train classes, also in evaluation; otherwise over the " +
				"candidate classes, as in the paper"),
		setting.Number("smoothing", &s.Smoothing, -1, smoothing).
			Describe("`S` label smoothing of descriptions d, S + (1 - 3 S) d, in semantic groups 0.3 S + "+
				"(1 - 2.3 S) d, or 1 - S in all without a yes; -1 takes 0.1 where they are said in words "+
				"such as yes and no, otherwise 0").
			Try(0, 0.02, 0.05, 0.1),
		setting.Choice("complement", &s.Complement, model.Const, model.Complements...).
			Describe("none-of-group term p(ac|x); none leaves it out"),
		setting.Whole("batch", &s.Batch, 0, setting.Between(0, int(setting.Count.Most))).In(setting.Training).
			Describe(fmt.Sprintf("`N` samples per step; 0 takes %d, with few training samples down to %d, "+
				"so that an epoch has at least %d steps",
				mostBatch, leastBatch, leastSteps)),
	}
}

// only marks a setting of the variants of which something holds. A search, which keeps the variant,
// tries the values where it is one of them.
func (s *Settings) only(holds func(model.VariantInfo) bool, of setting.Setting,
	values ...any,
) setting.Setting {
	names := model.VariantsWith(holds)
	which := "method " + string(names[0])
	if len(names) > 1 {
		which = "methods " + format.List(format.Strings(names), "and")
	}
	if of = of.If(slices.Contains(names, s.Variant), which); of.Unused {
		return of
	}
	return of.Try(values...)
}

// number is a setting whose default depends on the variant, which the help shows as "0.001; k-soft: 0.003".
func (s *Settings) number(key string, to *float64, r setting.Range, general float64) setting.Setting {
	standard, note := general, fmt.Sprint(general)
	for _, v := range model.Variants {
		value, differs := defaults[v][key]
		if !differs {
			continue
		}
		note += fmt.Sprintf("; %s: %v", v, value)
		if v == s.Variant {
			standard = value
		}
	}
	return setting.Number(key, to, standard, r).Noted(note)
}

// Resolve sets what the settings leave to the data, from the descriptions of the seen classes, with NaN for
// missing entries, and the number of training samples.
func (s *Settings) Resolve(u dataset.Matrix[float64], samples int) {
	if s.Smoothing < 0 && fewValues(u) {
		s.Smoothing = defaultSmoothing
	}
	s.complete(u.Cols, samples)
}

// complete sets what is left to the data, without smoothing.
func (s *Settings) complete(attributes, samples int) {
	s.Smoothing = max(s.Smoothing, 0)
	if s.Batch == 0 {
		s.Batch = min(max(samples/leastSteps, leastBatch), mostBatch)
	}
	if s.Variant.Info().HasK() && s.K == 0 {
		s.K = min(defaultK, attributes)
	}
}

// fewValues reports whether descriptions are said in words, such as yes and no: they have at most as many
// different values as the scale of words, with 0 or 1 among them.
func fewValues(u dataset.Matrix[float64]) bool {
	values := map[float64]bool{}
	for _, p := range u.Data {
		if !math.IsNaN(p) {
			values[p] = true
		}
		if len(values) > len(descriptions.Words) {
			return false
		}
	}
	return values[0] || values[1]
}

// Model is a trained LAGO.
type Model struct{ *model.LAGO }

func (m Model) Tensors() method.Tensors {
	p := m.Params
	t := method.Tensors{{Name: "W", Matrix: p.W}, method.Vector("b", p.B)}
	if p.V.Data != nil {
		t = append(t, method.Tensor{Name: "V", Matrix: p.V})
	}
	if m.Prior != nil {
		t = append(t, method.Vector("p", m.Prior))
	}
	return t
}

func (s *Settings) Restore(r *method.Reader, shape method.Shape) (method.Model, error) {
	own := *s
	own.complete(shape.Attributes, 0)
	k, _, err := own.Grouping(shape.Attributes, shape.Groups)
	if err != nil {
		return nil, err
	}
	p := &model.Parameters[float32]{
		W: r.Get("W", shape.Dims, shape.Attributes), B: r.Get("b", 1, shape.Attributes).Data,
		V: r.Get("V", shape.Attributes, k),
	}
	restored := &model.LAGO{Config: own.Config, Params: p, Semantic: shape.Groups}
	if s.FreezePrior {
		restored.Prior = r.Get("p", 1, shape.Attributes).Data
	}
	if i := slices.IndexFunc(restored.Prior, func(p float32) bool { return p < 0 || p > 1 }); i >= 0 {
		return nil, invalid.Expected("tensor p", restored.Prior[i], "probabilities from 0 to 1")
	}
	return Model{restored}, r.Err
}

type learner struct {
	settings Settings
	examples method.Examples
	seed     uint64

	model   *model.LAGO        // with the parameters in training
	classes *model.Description // of the examples

	w            *model.Machine[float32]
	v            *model.Machine[float32] // nil for the hard variants
	adamW, adamV *adam
	detections   dataset.Matrix[float32] // of the examples, on which V trains
}

// Learn implements method.Method: it compiles the machines.
func (s *Settings) Learn(e method.Examples, seed uint64) (method.Learner, error) {
	l := &learner{settings: *s, examples: e, seed: seed}
	l.settings.complete(e.U.Cols, len(e.Rows))
	c := l.settings.Config
	params, err := c.Init(e.X.Cols, e.U.Cols, e.Groups, seed)
	if err != nil {
		return nil, err
	}
	if l.classes, err = c.Describe(e.U, e.Groups); err != nil {
		return nil, err
	}
	l.model = &model.LAGO{Config: c, Params: params, Semantic: e.Groups}
	if c.FreezePrior {
		l.model.Prior = dataset.Convert[float32](matrix.Of(l.classes.P, 1)).Data
	}
	l.adamW = newAdam(s.LR, []float64{1, s.BiasFactor}, len(params.W.Data), len(params.B))
	if l.w, err = model.NewWMachine(c, l.classes, params, l.batch()); err != nil || !c.Variant.Learned() {
		return l, err
	}
	l.adamV = newAdam(s.LRV, nil, len(params.V.Data))
	l.v, err = model.NewVMachine(c, l.classes, params, l.batch())
	return l, err
}

func (l *learner) batch() int { return min(l.settings.Batch, len(l.examples.Rows)) }

// Epoch implements method.Learner: it trains W, then V if it is learned.
func (l *learner) Epoch(number int) (p method.Progress, err error) {
	l.w.Begin(0)
	phase, err := l.phase("W", number, l.w, l.adamW, l.examples.X, l.examples.Rows)
	p.Phases = append(p.Phases, phase)
	if err != nil || l.v == nil {
		return p, err
	}
	l.v.Begin(l.detect()) // of all samples, since W is fixed while V trains
	phase, err = l.phase("V", number, l.v, l.adamV, l.detections, l.detections.AllRows())
	p.Phases = append(p.Phases, phase)
	return p, err
}

func (l *learner) Model() method.Model { return Model{l.model} }

func (l *learner) State() method.Tensors {
	state := Model{l.model}.Tensors()
	state = append(state, l.adamW.tensors("adam_w")...)
	if l.v != nil {
		state = append(state, l.adamV.tensors("adam_v")...)
	}
	return state
}

func choose(list, places []int) []int {
	chosen := make([]int, len(places))
	for i, p := range places {
		chosen[i] = list[p]
	}
	return chosen
}

// detect computes the detections of all examples and returns the mean BXE(a).
func (l *learner) detect() (bxe float64) {
	l.detections, _ = l.model.Logits(l.examples.X, l.examples.Rows) // of as many dimensions as W was made for
	bxe = model.BXE(l.classes, l.detections, l.examples.Labels)
	model.Sigmoid(l.detections.Data, l.detections.Data)
	return bxe
}

// phase runs steps of a machine on batches of shuffled examples, which are rows of x, and averages the terms
// over samples.
func (l *learner) phase(name string, epoch int, m *model.Machine[float32], solver *adam,
	x dataset.Matrix[float32], rows []int,
) (p method.Phase, err error) {
	p.Name = name
	defer func() {
		if err != nil {
			err = fmt.Errorf("phase %s, step %d: %w", p.Name, p.Steps, err)
		}
	}()
	order := epoch << 8 // each phase has another
	if name == "V" {
		order++
	}
	places := method.Shuffled(len(rows), l.seed, order)
	start := time.Now()
	batch := l.batch()
	solver.steps = (epoch - 1) * ((len(places) + batch - 1) / batch)
	for part := range slices.Chunk(places, batch) {
		p.Steps++
		m.X.CopyRows(x, choose(rows, part))
		m.Label(choose(l.examples.Labels, part)...)
		terms, err := m.Step()
		if err == nil {
			err = solver.Step(m.Learnables())
		}
		if err != nil {
			return p, err
		}
		p.Terms.Add(terms, float64(len(part))/float64(len(places)))
	}
	p.Seconds = time.Since(start).Seconds()
	p.Loss = l.settings.Loss(p.Terms)
	for _, t := range l.Model().Tensors() { // the loss of a step shows only what the steps before it did
		if i := matrix.NotFinite(t.Matrix.Data); i >= 0 {
			return p, &model.NotFinite{Term: t.Name, Value: float64(t.Matrix.Data[i])}
		}
	}
	return p, nil
}

// adam is the solver of Kingma & Ba (2015), in one pass over the memory of each parameter. It is a
// gorgonia.Solver for float32 parameters, in the same order at each step.
type adam struct {
	rate    float64   // learning rate
	factors []float64 // of the rate, for each parameter; 1 for those beyond

	steps   int
	moments []moments
}

type moments struct{ mean, square []float32 }

// The constants of the Adam paper, which the authors of LAGO use too.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

func newAdam(rate float64, factors []float64, sizes ...int) *adam {
	a := &adam{rate: rate, factors: factors}
	for _, n := range sizes {
		a.moments = append(a.moments, moments{make([]float32, n), make([]float32, n)})
	}
	return a
}

func (a *adam) tensors(prefix string) method.Tensors {
	var list method.Tensors
	for i, m := range a.moments {
		name := fmt.Sprintf("%s.%d", prefix, i)
		list = append(list, method.Vector(name+".mean", m.mean), method.Vector(name+".square", m.square))
	}
	return list
}

// Step moves each parameter against its gradient.
func (a *adam) Step(params []G.ValueGrad) error {
	a.steps++
	unbiased := a.rate / (1 - math.Pow(beta1, float64(a.steps)))
	unbias := float32(1 / math.Sqrt(1-math.Pow(beta2, float64(a.steps))))
	for i, p := range params {
		g, err := p.Grad()
		if err != nil {
			return err
		}
		rate := float32(unbiased)
		if i < len(a.factors) {
			rate = float32(unbiased * a.factors[i])
		}
		value, grad, mo := p.Value().(*tensor.Dense).Float32s(), g.(*tensor.Dense).Float32s(), a.moments[i]
		parallel.For(len(value), 1<<13, func(lo, hi int) {
			update(value[lo:hi], grad[lo:hi], mo.mean[lo:hi], mo.square[lo:hi], rate, unbias)
		})
	}
	return nil
}

// updateAVX, in adam.s, is updateEach for a multiple of 8 elements, 8 at a time, with the same results: the
// processor rounds each operation in the same way, in the same order. It does not check the lengths.
//
//go:noescape
func updateAVX(value, grad, mean, square []float32, rate, unbias, meanGain, squareGain, eps float32)

func update(value, grad, mean, square []float32, rate, unbias float32) {
	vectors := 0
	if runtime.GOARCH == "amd64" && cpu.X86.HasAVX {
		vectors = len(value) &^ 7
		updateAVX(value[:vectors], grad[:vectors], mean[:vectors], square[:vectors], rate, unbias, 1-beta1,
			1-beta2, epsilon)
	}
	updateEach(value[vectors:], grad[vectors:], mean[vectors:], square[vectors:], rate, unbias)
}

// updateEach rounds each operation: the conversions forbid the compiler to fuse two of them.
func updateEach(value, grad, mean, square []float32, rate, unbias float32) {
	grad, mean, square = grad[:len(value)], mean[:len(value)], square[:len(value)]
	for i, g := range grad {
		m := mean[i] + float32((1-beta1)*(g-mean[i]))
		s := square[i] + float32((1-beta2)*(float32(g*g)-square[i]))
		mean[i], square[i] = m, s
		value[i] -= rate * m / (float32(float32(math.Sqrt(float64(s)))*unbias) + epsilon)
	}
}
