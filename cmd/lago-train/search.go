package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/experiments/tuning"
)

func searchCommand() *cli.Command {
	return &cli.Command{
		Name:  "search",
		Usage: "find settings of a variant on the validation classes, and write a config file",
		Description: `Searches on the dev stage, as the paper does. A coarse round tries the default settings, features
without preprocessing, and others spread over the space; refining rounds try neighbours of the best.
The best are then trained with three further seeds: their mean accuracy decides, and their mean curve
gives the number of epochs. Each setting is trained once for each fold of the seen classes and ranked
by the mean validation accuracy. Of 24 settings, 12 are coarse, 12 refine, and 3 get further seeds.
Settings given by flags stay fixed. The chosen settings are written to a file for run --config.

Finished runs are reused when the command is repeated. With --shard, repeat it on every machine until
it prints the table, because each round needs the one before. With --rotate N, the search is repeated
without each part of the classes and its choice is evaluated on that part, which estimates the
accuracy of searched settings. No config file is then written.

Examples:
   lago-train search --dataset awa2 --budget 40
   lago-train search --variant k-soft --k 20 --preprocess sqrt,l2,whiten
   lago-train search --dataset cub --rotate 5`,
		Flags: append(append(append(searchedFlagsBut(), gridFlags()...), rotationFlags()...),
			foldsFlag(),
			&cli.IntFlag{Name: "budget", Category: searchGroup, Value: 24, Usage: fmt.Sprintf("`N` settings to try, at least %d", tuning.MinBudget)},
			&cli.PathFlag{Name: writeFlag, Category: outputGroup, DefaultText: "search-<dataset>-<variant>.json in --out", Usage: "`FILE` config file to write"}),
		Action: runSearch,
	}
}

func runSearch(c *cli.Context) error {
	p, err := configOf(c)
	if err != nil {
		return err
	}
	file := c.Path(writeFlag)
	if file == "" {
		file = protocol.SearchFile(c.Path(outFlag), p.Dataset, p.DevSplit, p.Variant)
	}
	if err := cmp.Or(requires(c, rotateFlag, "seeds"), excludes(c, rotateFlag, writeFlag)); err != nil {
		return err
	}
	o := tuning.SearchOptions{Budget: c.Int("budget"), Fixed: givenSettings(c), OnRound: logRound}
	if o.Folds, err = folds(c, p); err != nil {
		return err
	}
	l, err := openLab(c, p)
	if err != nil {
		return err
	}
	if len(l.Parts) > 1 {
		m, err := tuning.Run(c.Context, l, tuning.Config{
			Methods: []string{string(p.Variant)}, LAGO: []protocol.Config{p.Config}, Common: p.Config,
			Budget: o.Budget, Folds: o.Folds, Given: o.Fixed, OnRound: o.OnRound,
		})
		if err != nil {
			return err
		}
		return output(c, l, m, func(w io.Writer) error { return search.WriteRotation(w, m) })
	}
	s, err := tuning.Search(c.Context, l, p.Config, o)
	if err != nil {
		return err
	}
	if err := s.Chosen.Config.Write(file, l.Fingerprint()); err != nil {
		return err
	}
	return output(c, l, s, func(w io.Writer) error { return search.WriteText(w, s, file) })
}
