package protocol_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lago-train/lago-train/experiments/protocol"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
)

func TestRunAllEqualsRunOfEach(t *testing.T) {
	l := testlab.Simulated(t)
	configs := testlab.Full(l, model.SemanticHard, model.Singletons)
	configs[1].Seeds = 1
	together, without, err := protocol.RunAll(context.Background(), l, configs)
	if err != nil || len(without) > 0 {
		t.Fatal(err, without)
	}
	for i, c := range configs {
		alone, err := protocol.Run(context.Background(), testlab.Simulated(t), c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone.Val, together[i].Val) + cmp.Diff(alone.Test, together[i].Test); diff != "" {
			t.Errorf("%s (-alone +together)\n%s", c.Variant, diff)
		}
		if alone.Epochs != together[i].Epochs {
			t.Errorf("%s: %d epochs alone, %d together", c.Variant, alone.Epochs, together[i].Epochs)
		}
	}
}

func TestRunAllWithoutAFailedVariant(t *testing.T) {
	l := testlab.Simulated(t)
	configs := testlab.Full(l, model.SemanticHard, model.Singletons)
	configs[0].LR = 1e30
	outcomes, without, err := protocol.RunAll(context.Background(), l, configs)
	if err != nil {
		t.Fatal(err)
	}
	if outcomes[0] != nil || outcomes[1] == nil {
		t.Errorf("%+v, expected an outcome of the second alone", outcomes)
	}
	for _, trial := range without {
		if trial.Err == nil || trial.Model.Variant != model.SemanticHard {
			t.Errorf("%s is listed as missing: %v", trial.Dir, trial.Err)
		}
	}
	if len(without) != 2 {
		t.Errorf("%d trials are missing, expected 2", len(without))
	}
}

func TestRunAllThatIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l := testlab.Simulated(t)
	_, _, err := protocol.RunAll(ctx, l, testlab.Full(l, model.SemanticHard))
	if cancelled := (*lab.Cancelled)(nil); !errors.As(err, &cancelled) {
		t.Errorf("%v, expected *lab.Cancelled", err)
	}
}
