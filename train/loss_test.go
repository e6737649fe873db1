package train

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// meanTerms computes the terms of the loss over all training samples in plain loops,
// except log p(z|x), which it takes from Score.
func meanTerms(t *testing.T, tr *lagoTrainer) model.Terms {
	t.Helper()
	p, u, s := tr.model.Params, tr.classes.U, tr.train
	lago := &model.LAGO{Config: tr.model.Config, Params: p, Semantic: tr.groups, Transform: &preprocess.Transform{Chain: preprocess.None}}
	scores, err := model.Score(lago, s.X, s.Rows, tr.trainClasses)
	if err != nil {
		t.Fatal(err)
	}
	var m model.Terms
	for i, row := range s.Rows {
		m.CXE -= float64(scores.Row(i)[s.Labels[i]])
		for a := range p.B {
			logit := float64(p.B[a])
			for d, x := range s.X.Row(row) {
				logit += float64(x) * float64(p.W.Row(d)[a])
			}
			target := tr.classes.Targets.Row(s.Labels[i])[a]
			m.BXE += (math.Log1p(math.Exp(logit)) - target*logit) / float64(len(p.B))
		}
	}
	m.CXE /= float64(s.Len())
	m.BXE /= float64(s.Len())
	for d := range p.W.Rows {
		for _, w := range p.W.Row(d) {
			m.W2 += float64(w) * float64(w)
		}
		for z := range u.Rows {
			var wu float64
			for a, w := range p.W.Row(d) {
				wu += float64(w) * u.Row(z)[a]
			}
			m.WU2 += wu * wu
		}
	}
	if tr.model.Config.Psi > 0 {
		m.Prior = groupDistance(tr)
	}
	return m
}

// groupDistance is |Gamma - Gamma_sem|^2.
func groupDistance(tr *lagoTrainer) float64 {
	var sum float64
	v := tr.model.Params.V
	for a := range v.Rows {
		var norm float64
		for _, x := range v.Row(a) {
			norm += math.Exp(tr.model.Config.Zeta * float64(x))
		}
		for k, x := range v.Row(a) {
			gamma := math.Exp(tr.model.Config.Zeta*float64(x)) / norm
			if k == tr.groups[a] {
				gamma--
			}
			sum += gamma * gamma
		}
	}
	return sum
}

// The learning rate is too small to change the weights: the means that an epoch reports
// must then be those over its 405 samples for any batch size.
func TestTermsDoNotDependOnTheBatchSize(t *testing.T) {
	d := tiny(t)
	for _, v := range model.Variants {
		for _, batch := range []int{1, 32, 404, 405, 1000} {
			trial := trialOn(d, v, Dev)
			trial.Model.Alpha = 0.5
			trial.Training.Batch, trial.Training.Epochs = batch, 1
			trial.Training.LearningRate, trial.Training.LearningRateV = 1e-60, 1e-60 // 0 in float32
			tr := lagoTrainerOf(t, d, trial)
			start := bits(tr.model.Params)
			want := meanTerms(t, tr)
			if err := tr.step(tr); err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(start, bits(tr.model.Params)) {
				t.Fatal("the weights changed: the test needs a smaller rate")
			}
			for _, p := range tr.curve[0].Phases {
				if diff := cmp.Diff(want, p.Terms, cmpopts.EquateApprox(2e-5, 0)); diff != "" {
					t.Errorf("%s, batch %d, phase %s (-want +got):\n%s", v, batch, p.Name, diff)
				}
				c := trial.Model
				loss := want.CXE + c.Alpha*want.BXE + c.Beta*want.W2 + c.Lambda*want.WU2 + c.Psi*want.Prior
				if math.Abs(p.Loss-loss) > 2e-5*loss {
					t.Errorf("%s, batch %d, phase %s: loss %g, expected %g", v, batch, p.Name, p.Loss, loss)
				}
				if steps := (405 + batch - 1) / batch; p.Steps != steps {
					t.Errorf("%s, batch %d, phase %s: %d steps, expected %d", v, batch, p.Name, p.Steps, steps)
				}
			}
		}
	}
}
