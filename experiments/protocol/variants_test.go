package protocol_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/protocol"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
)

func TestConfigForTakesTheFileOverThePreset(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("search-glyphs-k-soft.json", `{"dataset": "glyphs", "variant": "k-soft", "stage": "test", "epochs": 7, "seeds": 9, "seed": 3, "lr": 0.5, "k": 12}`)
	write("search-glyphs-singletons.json", `{"dataset": "cub", "variant": "singletons"}`)
	write("search-glyphs-semantic-soft.json", `{"learning_rate": 1}`)

	got, err := protocol.ConfigFor(dir, "Glyphs", model.KSoft)
	if err != nil {
		t.Fatal(err)
	}
	want := protocol.PresetFor("glyphs", model.KSoft).Config
	want.LR, want.K = 0.5, 12
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	for _, of := range []string{dir, ""} { // a folder without the file, and no folder
		got, err := protocol.ConfigFor(of, "glyphs", model.SemanticHard)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(protocol.PresetFor("glyphs", model.SemanticHard).Config, got); diff != "" {
			t.Errorf("in %q (-preset +got)\n%s", of, diff)
		}
	}

	for v, says := range map[model.Variant]string{
		model.Singletons:   "expected settings of singletons on glyphs, found those of singletons on cub",
		model.SemanticSoft: "learning_rate",
	} {
		_, err := protocol.ConfigFor(dir, "glyphs", v)
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// All at once is what one after the other is.
func TestRunAllIsRunForEach(t *testing.T) {
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
			t.Errorf("%s is said to be missing: %v", trial.Dir, trial.Err)
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
