package ksweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// KSweep is the paper's figure of val accuracy against the number of groups
// (section 4.3), for one data set.
type Result struct {
	Dataset string        `json:"dataset"`
	Seeds   int           `json:"seeds"`
	Points  []Point       `json:"points"` // k-soft, by K
	Lines   []Point       `json:"lines"`  // what k-soft is compared with
	Missing []lab.Missing `json:"missing"`
}

// Grouping is what a variant scores with a number of groups.
type Point struct {
	Variant  model.Variant `json:"variant"`
	K        int           `json:"k"`
	Accuracy lab.Summary   `json:"val_accuracy"`
}

// SweepK carries out the trials of c, which is of k-soft, on the dev stage for each
// number of groups in ks, or for those of the paper that the data set has attributes
// for where ks is empty. Beside them it runs singletons and, where the data set
// names its groups, semantic-hard: these take the settings of their own presets, but
// for what is not the model's, see line.
func Run(ctx context.Context, l *lab.Lab, c protocol.Config, ks []int) (*Result, error) {
	if c.Variant != model.KSoft {
		return nil, fmt.Errorf("variant: expected k-soft, the one with a number of groups, found %s", c.Variant)
	}
	ks, err := sweptKs(ks, len(l.Data.Attributes))
	if err != nil {
		return nil, err
	}
	var configs []protocol.Config
	for _, k := range ks {
		c.K = k
		configs = append(configs, c)
	}
	configs = append(configs, line(c, model.Singletons))
	if l.Data.Groups != nil {
		configs = append(configs, line(c, model.SemanticHard))
	}
	var trials []train.Trial
	for _, each := range configs {
		trials = append(trials, each.Trials(l, train.Dev, c.DevEpochs())...)
	}
	done, err := l.Do(ctx, trials)
	if err != nil {
		return nil, err
	}
	s := &Result{Dataset: c.Dataset, Seeds: c.Seeds, Missing: lab.MissingOf(done)}
	for i, each := range configs {
		g := Point{each.Variant, each.K, protocol.Measure(done[i*c.Seeds : (i+1)*c.Seeds]).PerClass}
		switch each.Variant {
		case model.KSoft:
			s.Points = append(s.Points, g)
			continue
		case model.Singletons:
			g.K = len(l.Data.Attributes)
		case model.SemanticHard:
			g.K = len(l.Data.Groups)
		}
		s.Lines = append(s.Lines, g)
	}
	return s, nil
}

// sweptKs returns the numbers of groups to try, ascending.
func sweptKs(ks []int, attributes int) ([]int, error) {
	if len(ks) == 0 {
		return published.KsUpTo(published.All().SearchSpace.K, attributes), nil
	}
	ks = slices.Clone(ks)
	slices.Sort(ks)
	ks = slices.Compact(ks)
	if low, high := ks[0], ks[len(ks)-1]; low < 1 || high > attributes {
		return nil, fmt.Errorf("ks: expected numbers from 1 to the number of attributes, %d, found %v", attributes, ks)
	}
	return ks, nil
}

// line is the config of another variant beside c: its preset on the same data, with
// as long a training of as many seeds on the same features.
func line(c protocol.Config, v model.Variant) protocol.Config {
	line := protocol.PresetFor(c.Dataset, v).Config
	line.DevSplit, line.Seeds, line.Seed = c.DevSplit, c.Seeds, c.Seed
	line.Epochs, line.Patience, line.Batch = c.Epochs, c.Patience, c.Batch
	line.Preprocess, line.Ridge = c.Preprocess, c.Ridge
	line.Prior, line.Complement = c.Prior, c.Complement
	return line
}
