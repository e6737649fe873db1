package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
)

// closing is the text of an outcome that was started from a preset.
func closing(t *testing.T, o *Outcome, p Preset) string {
	t.Helper()
	var b strings.Builder
	if err := o.WriteText(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextOfAFullRun(t *testing.T) {
	o := &Outcome{
		Dataset: "cub", Variant: "semantic-hard", Stage: DevThenTest, Seeds: 2, Epochs: 55,
		Val:     &Measured{PerClass: lab.Summarise([]float64{0.527, 0.529}), Classes: 50},
		Test:    &Measured{PerClass: lab.Summarise([]float64{0.58, 0.59}), Classes: 40},
		Seconds: 12.34, RunDirs: []string{"runs/dev", "runs/test"},
	}
	want := `semantic-hard on cub, full stage, 55 epochs on train and val classes
┌───────────────┬─────────┬────────────────────┬────────┬────────┬───────┐
│ judged on     │ classes │ per-class accuracy │ s.e.m. │ chance │ seeds │
├───────────────┼─────────┼────────────────────┼────────┼────────┼───────┤
│ val           │      50 │ 52.8 %             │ 0.1 %  │ 2.0 %  │     2 │
│ test (unseen) │      40 │ 58.5 %             │ 0.5 %  │ 2.5 %  │     2 │
└───────────────┴─────────┴────────────────────┴────────┴────────┴───────┘
published with these settings: 58.4 % test accuracy over 5 seeds
trained for 12.3 s; files of the runs:
  runs/dev
  runs/test
`
	if diff := cmp.Diff(want, closing(t, o, PresetFor("cub", model.SemanticHard))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTextOfADevRunIsSilentAboutTest(t *testing.T) {
	o := &Outcome{
		Dataset: "cub", Variant: "k-soft", Stage: OnlyDev, Seeds: 1, Epochs: 7,
		Val: &Measured{PerClass: lab.Summarise([]float64{0.5}), Classes: 3}, RunDirs: []string{"runs/dev"},
	}
	text := closing(t, o, PresetFor("cub", model.KSoft))
	if first, _, _ := strings.Cut(text, "\n"); first != "k-soft on cub, dev stage, best average val accuracy at epoch 7" {
		t.Errorf("first line %q", first)
	}
	if !strings.Contains(text, "33.3 %") || strings.Contains(text, "unseen") || strings.Contains(text, "published") {
		t.Errorf("expected the chance among 3 classes and nothing about test:\n%s", text)
	}
}

func TestTextPromisesNothingThatWasNotPublished(t *testing.T) {
	o := &Outcome{Test: &Measured{PerClass: lab.Summarise([]float64{0.5}), Classes: 2}}
	if text := closing(t, o, PresetFor("cub127", model.SemanticHard)); strings.Contains(text, "published") {
		t.Errorf("no accuracy on cub127 was published:\n%s", text)
	}
}
