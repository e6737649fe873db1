package eszsl_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

func weights(m method.Model) *mat.Dense {
	w := m.Tensors()[0].Matrix
	return mat.NewDense(w.Rows, w.Cols, baselinetest.Floats(w.Data))
}

// W solves (X'X + gamma I) W (U'U + lambda I) = X'Y U, with Y written out.
func TestFitSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12)
		samples, dims := size.Draw(t, "samples"), size.Draw(t, "dims")
		attributes, classes := size.Draw(t, "attributes"), size.Draw(t, "classes")
		gamma := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "log gamma"))
		lambda := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "log lambda"))
		e := baselinetest.Examples(samples, dims, attributes, classes, 1, rapid.Uint64().Draw(t, "seed"))
		m, _ := baselinetest.Learn(t, &eszsl.Settings{Gamma: gamma, Lambda: lambda}, e)
		w := weights(m)

		x, y := mat.NewDense(samples, dims, nil), mat.NewDense(samples, classes, nil)
		for i, r := range e.Rows {
			x.SetRow(i, baselinetest.Floats(e.X.Row(r)))
			y.Set(i, e.Labels[i], 1)
		}
		u := mat.NewDense(classes, attributes, e.U.Data)
		var xx, uu, left, right mat.Dense
		xx.Mul(x.T(), x)
		addToDiagonal(&xx, gamma)
		uu.Mul(u.T(), u)
		addToDiagonal(&uu, lambda)
		left.Product(&xx, w, &uu)
		right.Product(x.T(), y, u)
		if !mat.EqualApprox(&left, &right, 1e-4*(1+mat.Max(&right)-mat.Min(&right))) {
			t.Fatalf("the sides differ:\n%v\n\n%v", mat.Formatted(&left), mat.Formatted(&right))
		}
	})
}

func addToDiagonal(m *mat.Dense, v float64) {
	n, _ := m.Dims()
	for i := range n {
		m.Set(i, i, m.At(i, i)+v)
	}
}

// The loss is the mean over samples of |scores - one-hot|^2.
func TestLoss(t *testing.T) {
	e := baselinetest.Examples(40, 6, 4, 5, 1, 6)
	m, loss := baselinetest.Learn(t, &eszsl.Settings{Gamma: 1, Lambda: 1}, e)
	var want float64
	for i, s := range baselinetest.Score(t, m, e, e.U).Data {
		d := float64(s)
		if e.Labels[i/5] == i%5 {
			d--
		}
		want += d * d / 40
	}
	testkit.Near(t, "loss", loss, want, 1e-9)
}

func TestInfiniteFeatures(t *testing.T) {
	e := baselinetest.Examples(8, 3, 2, 4, 1, 4)
	e.X.Data[0] = float32(math.Inf(1))
	testkit.Fails(baselinetest.Learner(t, &eszsl.Settings{Gamma: 1, Lambda: 1}, e, 1).Epoch(1))(t, "gamma: ")
}

// W and the scores of the val classes agree with those of numpy, in float64, on the small data set of package
// xlsa17. testdata/mini.json was made at the top of the tree by
//
//	import json, numpy as np, scipy.io as io
//	d = "dataset/xlsa17/testdata/plain/"
//	f, a = io.loadmat(d + "res101.mat"), io.loadmat(d + "att_splits.mat")
//	X, labels = f["features"].T.astype(float), f["labels"].ravel()
//	att = a["original_att"].T / 100
//	names = [n[0][0] for n in a["allclasses_names"]]
//	def of(file):
//	    z = sorted(names.index(l.strip()) + 1 for l in open(d + file))
//	    rows = np.flatnonzero(np.isin(labels, z))
//	    u = np.where(att[np.array(z) - 1] < 0, np.nan, att[np.array(z) - 1])
//	    u = np.where(np.isnan(u), np.nanmean(u, axis=0), u)
//	    return X[rows], (labels[rows, None] == z).astype(float), u
//	(x, y, u), (v, _, s) = of("trainclasses1.txt"), of("valclasses1.txt")
//	cases = []
//	for gamma, lam, unit in (10, 1, False), (100, 0.1, True):
//	    if unit:
//	        u, s = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (u, s))
//	    w = np.linalg.inv(x.T @ x + gamma * np.eye(24)) @ x.T @ y @ u @ np.linalg.inv(u.T @ u + lam * np.eye(10))
//	    cases.append({"gamma": gamma, "lambda": lam, "normalise": unit, "w": w.ravel().tolist(), "val": (v @ w @ s.T).ravel().tolist()})
//	json.dump(cases, open("model/baseline/eszsl/testdata/mini.json", "w"))
func TestAgreesWithNumpy(t *testing.T) {
	d := testkit.Must(xlsa17.Load(t.Context(), "../../../dataset/xlsa17/testdata/plain", 0))(t)
	var cases []struct {
		eszsl.Settings
		W, Val []float64
	}
	testkit.NoError(t, json.Unmarshal([]byte(testkit.Read(t, "testdata/mini.json")), &cases))
	e := method.Examples{X: d.Features, Rows: d.SamplesOf(d.Split.Train), U: d.Describe(d.Split.Train)}
	for _, r := range e.Rows {
		e.Labels = append(e.Labels, slices.Index(d.Split.Train, d.Labels[r]))
	}
	for _, c := range cases {
		m, _ := baselinetest.Learn(t, &c.Settings, e)
		testkit.NearAll(t, "W", weights(m).RawMatrix().Data, c.W, 1e-6)
		s := testkit.Must(model.Score(m, d.Features, d.SamplesOf(d.Split.Val), d.Describe(d.Split.Val)))(t)
		testkit.NearAll(t, "val", s.Data, c.Val, 1e-6)
	}
}
