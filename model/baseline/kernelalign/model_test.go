package kernelalign

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// trained returns a model after three epochs.
func trained(t *testing.T, c Config) (*Model, toy) {
	t.Helper()
	y := newToy(4, 0.2)
	l := learn(t, c, y.seen, 1)
	train(t, l, 1, 3)
	return l.Model().(*Model), y
}

// Scores are the kernels of sample and class in both spaces, computed from centred
// features and descriptions of length 1.
func TestScoreIsItsDefinition(t *testing.T) {
	for _, kernel := range []Kernel{Linear, Polynomial, Gaussian, Cauchy} {
		for _, ort := range []bool{false, true} {
			c := Default()
			c.Kernel, c.Ort = kernel, ort
			m, y := trained(t, c)
			got, err := model.Score(m, y.seen.X, y.rows, y.unseen)
			if err != nil {
				t.Fatal(err)
			}
			w := dataset.Convert[float64](m.w)
			for i, r := range y.rows {
				x := unit(y.seen.X.Row(r), m.mean.Data)
				for z := range y.unseen.Rows {
					u := unit(y.unseen.Row(z), m.centre.Data)
					want := compare(m.config.kernel(), project(w, x), u)
					if ort && (kernel == Gaussian || kernel == Cauchy) {
						other := compare(m.config.kernel(), x, lift(w, u))
						want = 2 - (1-want)*(1-want) - (1-other)*(1-other)
					}
					if math.Abs(float64(got.Row(i)[z])-want) > 1e-5 {
						t.Fatalf("%s, ort %v: sample %d, class %d scores %g, expected %g", kernel, ort, i, z, got.Row(i)[z], want)
					}
				}
			}
		}
	}
}

// compare is the kernel of two vectors.
func compare(k kernel, v, w []float64) float64 {
	var vv, vw, ww float64
	for i := range v {
		vv, vw, ww = vv+v[i]*v[i], vw+v[i]*w[i], ww+w[i]*w[i]
	}
	s, _ := k.at(k.number(vv, vw, ww))
	return s
}

// unit returns v minus the centre, scaled to length 1.
func unit[T float32 | float64](v []T, centre []float32) []float64 {
	u := make([]float64, len(v))
	for i, x := range v {
		u[i] = float64(x) - float64(centre[i])
	}
	length := math.Sqrt(squaredLength(u))
	for i := range u {
		u[i] /= length
	}
	return u
}

// The mean of the samples and the centre of the classes are those of the training samples
// and classes; without normalise there is no centre.
func TestNormalisation(t *testing.T) {
	e := method.Examples{
		X:    matrixOf([]float32{1, 5}, []float32{9, 9}, []float32{3, 5}),
		Rows: []int{0, 2}, Labels: []int{0, 1},
		U: matrixOf([]float64{0, 1}, []float64{0.5, math.NaN()}),
	}
	// The missing entry is the mean over these classes, 1/4.
	u := matrixOf([]float64{1, math.NaN()}, []float64{0, 0.25})
	for normalise, want := range map[bool]struct{ centre, descriptions []float64 }{
		true:  {[]float64{0.25, 1}, []float64{math.Sqrt(0.5), -math.Sqrt(0.5), -math.Sqrt(0.1), -math.Sqrt(0.9)}}, // (3, -3)/4 and (-1, -3)/4
		false: {[]float64{0, 0}, []float64{1, 0.25, 0, 0.25}},
	} {
		m, err := newModel(Config{Normalise: normalise}, e)
		if err != nil {
			t.Fatal(err)
		}
		baselinetest.Near(t, "mean", 0, baselinetest.Floats(m.mean.Data), []float64{2, 5})
		baselinetest.Near(t, "centre", 0, baselinetest.Floats(m.centre.Data), want.centre)
		x := dataset.NewMatrix[float32](3, 2)
		m.features(x, matrixOf([]float32{2, 5}, []float32{5, 9}), []int{1, 0})
		baselinetest.Near(t, "features", 1e-7, baselinetest.Floats(x.Data), []float64{0.6, 0.8, 0, 0, 0, 0})
		y, err := m.descriptions(u)
		if err != nil {
			t.Fatal(err)
		}
		baselinetest.Near(t, "descriptions", 1e-6, baselinetest.Floats(y.Data), want.descriptions)
	}
}

// An attribute that no class describes is at the centre of the training classes.
func TestUndescribedAttribute(t *testing.T) {
	m, y := trained(t, Default())
	u := y.unseen
	undescribed := dataset.NewMatrix[float64](u.Rows, u.Cols)
	centred := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, v := range u.Data {
		undescribed.Data[i], centred.Data[i] = v, v
		if i%u.Cols == 2 {
			undescribed.Data[i], centred.Data[i] = math.NaN(), float64(m.centre.Data[2])
		}
	}
	got, err := model.Score(m, y.seen.X, y.rows, undescribed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := model.Score(m, y.seen.X, y.rows, centred)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("(-centre +undescribed):\n%s", diff)
	}
}

// Scores differ even far from every class.
func TestFarSamples(t *testing.T) {
	c := Default()
	c.Sigma = 0.15
	m, y := trained(t, c)
	a := dataset.NewMatrix[float32](1, m.w.Cols)
	a.Data[0] = -0.9
	s, err := m.Classify(a, y.seen.U)
	if err != nil {
		t.Fatal(err)
	}
	different := map[float32]bool{}
	for _, v := range s.Data {
		if v <= 0 {
			t.Errorf("a score of %g", v)
		}
		different[v] = true
	}
	if len(different) < 3 {
		t.Errorf("scores %g", s.Data)
	}
}
