package reproduction

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

func TestReproduce(t *testing.T) {
	l := testlab.Simulated(t)
	r, err := Run(context.Background(), l, testlab.Full(l, model.Variants...))
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for _, row := range r.Table {
		methods = append(methods, row.Method)
		if len(row.Val.Values) == 0 || len(row.Test.Values) != len(row.Val.Values) {
			t.Errorf("%s: val %+v, test %+v", row.Method, row.Val, row.Test)
		}
	}
	if diff := cmp.Diff([]string{"ESZSL", "LAGO-Singletons", "LAGO-Semantic-Hard", "LAGO-K-Soft", "LAGO-Semantic-Soft"}, methods); diff != "" {
		t.Error(diff)
	}
	if r.Result == nil || len(r.Missing)+len(r.LeftOut) > 0 {
		t.Fatalf("result %+v, missing %+v, left out %+v", r.Result, r.Missing, r.LeftOut)
	}
	for _, row := range r.Table {
		if row.Variant != "" && row.Val.Mean > r.Result.Val.Mean {
			t.Errorf("%s scores %g on the val classes, %s was chosen with %g", row.Method, row.Val.Mean, r.Result.Method, r.Result.Val.Mean)
		}
	}
}

// Neither the test accuracy nor ESZSL affects the choice.
func TestChosenByValAccuracyAlone(t *testing.T) {
	row := func(v model.Variant, val, test float64) Row {
		return Row{Method: string(v), Variant: v, Val: lab.Summarise([]float64{val}), Test: lab.Summarise([]float64{test})}
	}
	eszsl := row("", 0.9, 0.9)
	got := chosen([]Row{eszsl, row(model.Singletons, 0.4, 0.8), row(model.KSoft, 0.5, 0.1), row(model.SemanticSoft, 0.5, 0.7)})
	if got == nil || got.Variant != model.KSoft {
		t.Errorf("%+v was chosen, expected the first of the best val accuracy", got)
	}
	if got := chosen([]Row{eszsl}); got != nil {
		t.Errorf("%+v was chosen of none", got)
	}
}

// Published numbers of baselines were made without the held-out samples of seen classes,
// those of LAGO with them.
func TestBaselinesAreTrainedAsTheirPublishedNumbers(t *testing.T) {
	data := testlab.Simulated(t).Data
	for _, c := range []struct {
		name    string
		heldOut []int
		all     bool // --hold-out
		rotate  int
		want    bool
	}{
		{"AWA2", data.SamplesOf(data.Split.Train)[:3], false, 0, true},
		{"AWA2", data.SamplesOf(data.Split.Train)[:3], true, 0, false},
		{"AWA2", data.SamplesOf(data.Split.Train)[:3], false, 4, false},
		{"AWA2", nil, false, 0, false},
		{"own", data.SamplesOf(data.Split.Train)[:3], false, 0, false},
	} {
		d := *data
		d.Name, d.TestSeen = c.name, c.heldOut
		l := lab.New(&d, t.TempDir())
		configs := testlab.Full(l, model.Singletons)
		configs[0].HoldOut = c.all
		if c.rotate > 0 {
			if err := l.Rotate(c.rotate, 0); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Run(t.Context(), l, configs)
		if err != nil {
			t.Fatal(err)
		}
		if r.BaselinesHeldOut != c.want || strings.Contains(reproductionText(t, r), "without the held-out samples") != c.want {
			t.Errorf("%s, %d held out, for all %v: baselines alone %v", c.name, len(c.heldOut), c.all, r.BaselinesHeldOut)
		}
		runs, err := lab.ReadRuns(l.Root)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			if want := c.all || c.want && run.Baseline.Method != ""; run.HoldOut != want {
				t.Errorf("%s: %s was trained with hold-out %v, expected %v", c.name, run.Method(), run.HoldOut, want)
			}
		}
	}
}

// There is no result while another shard still has trials of a variant.
func TestNoResultWithoutTheOtherShard(t *testing.T) {
	l := testlab.Simulated(t)
	l.Shard = lab.Shard{Index: 0, Count: 2}
	configs := testlab.Full(l, model.Singletons, model.SemanticHard, model.SemanticSoft)
	for i := range configs {
		configs[i].Seeds = 1
	}
	part, err := Run(context.Background(), l, configs)
	if err != nil {
		t.Fatal(err)
	}
	if len(part.Table) == 0 || len(part.Missing) == 0 || part.Result != nil {
		t.Errorf("%d rows, missing %+v, result %+v", len(part.Table), part.Missing, part.Result)
	}
	if text := reproductionText(t, part); !strings.Contains(text, "no result while runs are missing") || !strings.Contains(text, part.Missing[0].Dir) {
		t.Error(text)
	}
	l.Shard = lab.Shard{}
	whole, err := Run(context.Background(), l, configs)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Table) != 4 || len(whole.Missing) > 0 || whole.Result == nil {
		t.Errorf("%d rows, missing %+v, result %+v", len(whole.Table), whole.Missing, whole.Result)
	}
}

// A variant that fails can't be chosen, and the others are.
func TestReproduceWithoutAFailedVariant(t *testing.T) {
	l := testlab.Simulated(t)
	configs := testlab.Full(l, model.Singletons, model.SemanticHard)
	configs[0].LR = 1e30
	r, err := Run(context.Background(), l, configs)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Missing) != 2 || r.Result == nil || r.Result.Variant != model.SemanticHard {
		t.Errorf("missing %+v, result %+v", r.Missing, r.Result)
	}
}

func TestReproduceWithoutGroups(t *testing.T) {
	l := testlab.Simulated(t)
	l.Data.Groups = nil
	r, err := Run(context.Background(), l, testlab.Full(l, model.Singletons, model.SemanticSoft))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.LeftOut) != 1 || r.LeftOut[0].Variant != model.SemanticSoft || len(r.Table) != 2 {
		t.Errorf("left out %+v of the table %+v", r.LeftOut, r.Table)
	}
	if text := reproductionText(t, r); !strings.Contains(text, "semantic-soft is left out: the data set has no attribute groups") {
		t.Error(text)
	}
	if _, err := Run(context.Background(), l, testlab.Full(l, model.SemanticHard)); err == nil {
		t.Error("expected an error without any variant that the data allow")
	}
}

func reproductionText(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReproductionText(t *testing.T) {
	r := &Result{Dataset: "cub", Parts: 1}
	row := Row{
		Method: "LAGO-Semantic-Soft", Variant: model.SemanticSoft,
		Val: lab.Summarise([]float64{0.5, 0.52}), Test: lab.Summarise([]float64{0.57, 0.59}), Published: r.published("LAGO-Semantic-Soft"),
		Interval: metrics.Interval{Low: 0.475, High: 0.6849},
	}
	r.Table, r.Result = []Row{row}, &row
	text := reproductionText(t, r)
	for _, want := range []string{
		"│ LAGO-Semantic-Soft │     51.0 % │  1.0 % │ 58.0 % │  1.0 % │      47.5 to 68.5 │    57.8 % │     2 │",
		"│ LAGO (semantic-soft) │ 58.0 % │  1.0 % │      47.5 to 68.5 │    57.8 % │",
		"semantic-soft was chosen by its validation accuracy. Only this line is the result",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}

func TestPublished(t *testing.T) {
	if got := (&Result{Dataset: "AWA2", Parts: 2}).published("ESZSL"); got != nil {
		t.Errorf("%g in a rotation", *got)
	}
	for _, c := range []struct {
		dataset, method, want string
	}{
		{"AWA2", "ESZSL", "58.6 %"},
		{"sun", published.ResultRow, "57.5 %"},
		{"cub127", "ESZSL", "-"},
		{"cub", "Kernel alignment", "-"}, // a range
	} {
		if got := publishedCell((&Result{Dataset: c.dataset, Parts: 1}).published(c.method)); got != c.want {
			t.Errorf("%s on %s: %s, expected %s", c.method, c.dataset, got, c.want)
		}
	}
}
