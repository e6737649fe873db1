package protocol

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

func TestReproduce(t *testing.T) {
	l := testlab.New(t)
	r := testkit.Must((&Variants{testlab.Full(l, model.Variants...)}).Ask(t.Context(), l))(t).(*Reproduction)
	var titles []string
	for _, row := range r.Methods {
		if titles = append(titles, row.Title); row.Variant != "" && row.Val.PerClass.Mean > r.Result.Val.PerClass.Mean {
			t.Errorf("%s has %g on the validation classes, %s was chosen with %g", row.Title, row.Val.PerClass.Mean, r.Result.Title, r.Result.Val.PerClass.Mean)
		}
	}
	if diff := cmp.Diff([]string{"ESZSL", "LAGO-Singletons", "LAGO-Semantic-Hard", "LAGO-K-Soft", "LAGO-Semantic-Soft"}, titles); diff != "" || len(r.Missing) > 0 {
		t.Errorf("missing %+v, methods (-want +got):\n%s", r.Missing, diff)
	}
	var stored Reproduction
	testlab.Stored(t, l, ReproductionKind, &stored)
	if a, b := testlab.Text(r.Tables()), testlab.Text(stored.Tables()); a != b {
		t.Errorf("the stored result shows\n%s\nexpected\n%s", b, a)
	}
	if figures := testkit.Must(stored.Figures(""))(t); len(figures) != 1 || figures[0].Name != ReproductionKind {
		t.Errorf("figures %+v", figures)
	}
}

// Neither the test accuracy nor ESZSL affects the choice.
func TestChosenByValidationAccuracyAlone(t *testing.T) {
	row := func(v model.Variant, val, test float64) results.Method {
		return results.Method{Variant: string(v), Val: results.Measured{PerClass: lab.Summarise([]float64{val})}, Test: results.Measured{PerClass: lab.Summarise([]float64{test})}}
	}
	eszsl := row("", 0.9, 0.9)
	got := chosen([]results.Method{eszsl, row(model.Singletons, 0.4, 0.8), row(model.KSoft, 0.5, 0.1), row(model.SemanticSoft, 0.5, 0.7)})
	if got == nil || got.Variant != string(model.KSoft) {
		t.Errorf("%+v was chosen, expected the first of the best validation accuracy", got)
	}
	if got := chosen([]results.Method{eszsl}); got != nil {
		t.Errorf("%+v was chosen of none", got)
	}
}

// Published numbers of baselines were made without the held-out samples of seen classes,
// those of LAGO with them.
func TestBaselinesAreTrainedAsTheirPublishedNumbers(t *testing.T) {
	data := testlab.New(t).Data
	heldOut := data.SamplesOf(data.Split.Train)[:3]
	slices.Sort(heldOut)
	for name, c := range map[string]struct {
		dataset string
		heldOut []int
		all     bool // --hold-out
		rotate  int
		want    bool
	}{
		"published":           {"AWA2", heldOut, false, 0, true},
		"for all methods":     {"AWA2", heldOut, true, 0, false},
		"in a rotation":       {"AWA2", heldOut, false, 4, false},
		"nothing is held out": {"AWA2", nil, false, 0, false},
		"own data":            {"own", heldOut, false, 0, false},
	} {
		d := *data
		d.Name, d.TestSeen = c.dataset, c.heldOut
		testlab.Cover(t, &d)
		l := lab.New(&d, t.TempDir())
		configs := testlab.Full(l, model.Singletons)
		configs[0].HoldOut = c.all
		if c.rotate > 0 {
			testkit.NoError(t, l.Rotate(c.rotate, 0))
		}
		var wrong []string
		l.OnRun = func(r lab.Run) {
			if r.HoldOut != (c.all || c.want && r.Method.Name == eszsl) {
				wrong = append(wrong, r.Name())
			}
		}
		l.Jobs = 1
		r := testkit.Must((&Variants{configs}).Ask(t.Context(), l))(t).(*Reproduction)
		if r.BaselinesHeldOut != c.want || len(wrong) > 0 {
			t.Errorf("%s: baselines alone %v, expected %v; trained otherwise: %v", name, r.BaselinesHeldOut, c.want, wrong)
		}
	}
}
