package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// ConfigFor returns the settings of a variant for the full protocol on a data set:
// its preset and, over it, the file search-<dataset>-<variant>.json of dir, which a
// search writes. There need not be such a file, and dir may be empty. What a file
// says of stage, epochs and seeds is for a test stage alone, and left aside: the
// protocol finds the epochs anew.
func ConfigFor(dir, dataset string, v model.Variant) (Config, error) {
	preset := PresetFor(dataset, v).Config
	if dir == "" {
		return preset, nil
	}
	path := filepath.Join(dir, fmt.Sprintf("search-%s-%s.json", preset.Dataset, v))
	c := preset
	err := c.ReadConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		return preset, nil
	}
	if err != nil {
		return c, err
	}
	if c.Dataset != preset.Dataset || c.Variant != v {
		return c, fmt.Errorf("%s: expected settings of %s on %s, found those of %s on %s", path, v, preset.Dataset, c.Variant, c.Dataset)
	}
	c.Stage, c.Epochs, c.Seed, c.Seeds = preset.Stage, preset.Epochs, preset.Seed, preset.Seeds
	return c, nil
}

// RunAll carries out the full protocol for several settings. The trials of a stage
// are one grid, so that no core is idle while one variant waits for its last seed.
// Outcomes are in the order of the settings, nil for those with a trial that has no
// model; without are these trials.
func RunAll(ctx context.Context, l *lab.Lab, configs []Config) (outcomes []*Outcome, without []lab.Run, err error) {
	lists := make([][]train.Trial, len(configs))
	for i, c := range configs {
		lists[i] = c.Trials(l, train.Dev, c.DevEpochs())
	}
	dev, err := lab.DoAll(ctx, l, lists)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range configs {
		lists[i] = nil
		if failed := lab.Failures(dev[i]); len(failed) > 0 {
			without = append(without, failed...)
			continue
		}
		curves, err := Curves(dev[i])
		if err != nil {
			return nil, nil, err
		}
		lists[i] = c.Trials(l, train.Test, BestEpoch(curves))
	}
	test, err := lab.DoAll(ctx, l, lists)
	if err != nil {
		return nil, nil, err
	}
	outcomes = make([]*Outcome, len(configs))
	for i, c := range configs {
		failed := lab.Failures(test[i])
		without = append(without, failed...)
		if lists[i] == nil || len(failed) > 0 {
			continue
		}
		c.Stage = DevThenTest
		if outcomes[i], err = Run(ctx, l, c); err != nil { // reads what is finished
			return nil, nil, err
		}
	}
	return outcomes, without, nil
}

// ModelPaths are the files of the models that a run judged on the test classes, one
// a seed.
func (o *Outcome) ModelPaths(l *lab.Lab) []string {
	var paths []string
	for _, t := range o.Config.Trials(l, train.Test, o.Epochs) {
		paths = append(paths, filepath.Join(l.Root, t.Name(), train.ModelFile))
	}
	return paths
}
