package experiments

import (
	"context"
	"errors"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// ESZSLMethod is the baseline that the paper measures LAGO against beyond table 1.
const ESZSLMethod = "eszsl"

// carryOutBaselines carries out the protocol for baselines with their defaults, or the best
// of their space where they are solved in closed form, and as many seeds as LAGO
// beside them has. Where it has to wait for other shards, missing says so.
func carryOutBaselines(ctx context.Context, l *lab.Lab, names []string, beside []Config) (rows []Compared, without []Missing, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	like := PresetFor(l.Data.Name, model.SemanticHard).Config
	if len(beside) > 0 {
		like = beside[0]
	}
	r, err := Compare(ctx, l, CompareConfig{
		Methods: names, Seeds: like.Seeds, Seed: like.Seed, Epochs: like.DevEpochs(), Patience: like.Patience,
		HoldOut: like.HoldOut, Preprocess: preprocess.None,
	})
	if waiting := (*Waiting)(nil); errors.As(err, &waiting) {
		return nil, []Missing{{Dir: l.Root, Why: waiting.Error()}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return r.Methods, r.Missing, nil
}
