package eszsl_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
)

// learn trains to the end, which is one epoch.
func learn(t *testing.T, c baseline.Hyperparameters, e baseline.Examples) (l baseline.Learner, loss float64) {
	t.Helper()
	l, err := c.Learn(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	loss, done, err := l.Epoch(1)
	if err != nil {
		t.Fatal(err)
	}
	if !done {
		t.Error("a closed form is not done after one epoch")
	}
	return l, loss
}

func (p problem) examples() baseline.Examples {
	return baseline.Examples{X: p.x, Rows: p.rows, Labels: p.labels, U: p.u}
}

// A learner finds what the functions that it is made of find, whether or not it
// shares their results with others.
func TestLearnIsFit(t *testing.T) {
	p := newProblem(40, 6, 4, 5, 5)
	shared := p.examples()
	shared.Cache = new(baseline.Cache)
	for _, c := range []eszsl.Config{{0.5, 2, false}, {0.5, 0.1, true}, {3, 2, true}} {
		want := p.fit(t, c.Gamma, c.Lambda, c.Normalise)
		for name, e := range map[string]baseline.Examples{"alone": p.examples(), "shared": shared} {
			l, _ := learn(t, c, e)
			if !slices.Equal(l.Model().Tensors()[0].Matrix.Data, want.W.Data) {
				t.Errorf("%+v, %s: W is not that of Fit", c, name)
			}
			if got, want := scores(t, l.Model(), p), scores(t, want, p); !slices.Equal(got, want) {
				t.Errorf("%+v, %s: scores are not those of Fit", c, name)
			}
		}
	}
}

func scores(t *testing.T, m model.Classifier, p problem) []float32 {
	t.Helper()
	s, err := m.Score(p.x, p.rows, p.u)
	if err != nil {
		t.Fatal(err)
	}
	return s.Data
}

// The loss is the mean over samples of |scores - one-hot|^2.
func TestLoss(t *testing.T) {
	p := newProblem(40, 6, 4, 5, 6)
	l, loss := learn(t, eszsl.Config{Gamma: 1, Lambda: 1}, p.examples())
	var want float64
	for i, s := range scores(t, l.Model(), p) {
		target := 0.0
		if p.labels[i/5] == i%5 {
			target = 1
		}
		want += math.Pow(float64(s)-target, 2) / 40
	}
	if !(math.Abs(loss-want) <= 1e-9) {
		t.Errorf("the loss is %g, expected %g", loss, want)
	}
}

// A model scores alike after its tensors went elsewhere, and so does a learner whose
// state was written back.
func TestRestore(t *testing.T) {
	p := newProblem(40, 6, 4, 5, 7)
	for _, c := range []eszsl.Config{{1, 1, false}, {1, 1, true}} {
		l, _ := learn(t, c, p.examples())
		want := scores(t, l.Model(), p)
		m, err := c.Restore(l.Model().Tensors())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(scores(t, m, p), want) {
			t.Errorf("%+v: the restored model scores otherwise", c)
		}
		other, err := c.Learn(p.examples(), 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range l.State() {
			copy(other.State()[i].Matrix.Data, s.Matrix.Data)
		}
		if !slices.Equal(scores(t, other.Model(), p), want) {
			t.Errorf("%+v: the learner with the state of another scores otherwise", c)
		}
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	p := newProblem(8, 3, 2, 4, 8)
	good := eszsl.Default()
	for field, of := range map[string]func(*eszsl.Config) *float64{
		"gamma":  func(c *eszsl.Config) *float64 { return &c.Gamma },
		"lambda": func(c *eszsl.Config) *float64 { return &c.Lambda },
	} {
		for _, value := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			c := good
			*of(&c) = value
			_, err := c.Learn(p.examples(), 1)
			for _, err := range []error{c.Check(), err} {
				if wrong := (*invalid.Error)(nil); !errors.As(err, &wrong) || wrong.Field != field {
					t.Errorf("%s of %g: %v, expected an error of it", field, value, err)
				}
			}
		}
	}
	wrong := (*invalid.Error)(nil)
	if _, err := good.Learn(baseline.Examples{X: p.x, U: p.u}, 1); !errors.As(err, &wrong) || wrong.Field != "samples" {
		t.Errorf("no samples: %v, expected an error of samples", err)
	}
	if _, err := good.Restore(nil); !errors.As(err, &wrong) || wrong.Field != "W" {
		t.Errorf("no tensors: %v, expected an error of W", err)
	}
}

// What is wrong with the examples is said by the epoch that finds it.
func TestEpochErrors(t *testing.T) {
	for name, c := range map[string]struct {
		field  string
		change func(*problem)
	}{
		"infinite features": {"gamma", func(p *problem) { p.x.Data[0] = float32(math.Inf(1)) }},
		"no probability":    {"descriptions", func(p *problem) { p.u.Data[0] = 2 }},
	} {
		p := newProblem(8, 3, 2, 4, 9)
		c.change(&p)
		l, err := eszsl.Default().Learn(p.examples(), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = l.Epoch(1)
		if wrong := (*invalid.Error)(nil); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%s: %v, expected an error of %s", name, err, c.field)
		}
	}
}

// W and the scores of the val classes agree with those of numpy, in float64, on the
// small data set of package xlsa17. testdata/mini.json was made at the top of the
// tree by
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
	log := logrus.New()
	log.SetOutput(io.Discard)
	d, err := xlsa17.Load(t.Context(), "../../../dataset/xlsa17/testdata/plain", xlsa17.Options{NoCache: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/mini.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		eszsl.Config
		W, Val []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	e := baseline.Examples{X: d.Features, Rows: d.SamplesOf(d.Split.Train), U: d.Describe(d.Split.Train)}
	for _, r := range e.Rows {
		e.Labels = append(e.Labels, slices.Index(d.Split.Train, d.Labels[r]))
	}
	for _, c := range cases {
		l, _ := learn(t, c.Config, e)
		compare(t, "W", l.Model().Tensors()[0].Matrix, c.W)
		s, err := l.Model().Score(d.Features, d.SamplesOf(d.Split.Val), d.Describe(d.Split.Val))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "val", s, c.Val)
	}
}

func compare(t *testing.T, name string, got dataset.Matrix[float32], want []float64) {
	t.Helper()
	if len(got.Data) != len(want) {
		t.Fatalf("%s has %d entries, expected %d", name, len(got.Data), len(want))
	}
	for i, v := range got.Data {
		if !(math.Abs(float64(v)-want[i]) <= 1e-6) {
			t.Fatalf("%s[%d, %d] is %.9g, expected %.9g", name, i/got.Cols, i%got.Cols, v, want[i])
		}
	}
}
