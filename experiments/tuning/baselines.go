package tuning

import (
	"context"
	"errors"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// ESZSLMethod is the baseline that the paper measures LAGO against beyond table 1.
const ESZSLMethod = "eszsl"

// carryOutBaselines carries out the protocol for baselines with their defaults, or the best
// of their space where they are solved in closed form, and as many seeds as LAGO
// beside them has. Where it has to wait for other shards, missing says so.
func Baselines(ctx context.Context, l *lab.Lab, names []string, beside []protocol.Config) (rows []Method, without []lab.Missing, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	like := protocol.PresetFor(l.Data.Name, model.SemanticHard).Config
	if len(beside) > 0 {
		like = beside[0]
	}
	r, err := Run(ctx, l, Config{
		Methods: names, Seeds: like.Seeds, Seed: like.Seed, Epochs: like.DevEpochs(), Patience: like.Patience,
		HoldOut: like.HoldOut, Preprocess: preprocess.None,
	})
	if waiting := (*lab.Waiting)(nil); errors.As(err, &waiting) {
		return nil, []lab.Missing{{Dir: l.Root, Why: waiting.Error()}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return r.Rows, r.Missing, nil
}
