package ablation

import (
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Family is the ablation of one configuration.
type Family struct {
	*Result
	base train.Trial
}

// Has reports whether a trial is part of the ablation.
func (f Family) Has(t train.Trial) bool { return designOf(t).apply(f.base, t.Training.Seed) == t }

// All makes one table for each configuration of a data set and variant that was run in at
// least two designs in dir, and trains nothing.
func All(dir, dataset, fingerprint string, v model.Variant) ([]Family, error) {
	runs, err := lab.ReadRuns(dir)
	if err != nil {
		return nil, err
	}
	c := protocol.PresetFor(dataset, v).Config
	alpha := ablationBase(c.Trial(train.Dev, "", c.Seed, c.DevEpochs())).Model.Alpha
	bases := slices.DeleteFunc(ablationBases(runs, alpha), func(b train.Trial) bool {
		return b.Dataset != dataset || b.Fingerprint != fingerprint || b.Model.Variant != v
	})
	var families []Family
	for _, base := range bases {
		families = append(families, Family{newResult(base, gather(dir, runs, ablationTrials(base, seedsOf(runs, base)))), base})
	}
	return families, nil
}
