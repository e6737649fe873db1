package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/experiments/tuning"
)

func searchCommand() *cli.Command {
	return &cli.Command{
		Name:  "search",
		Usage: "find the settings of a variant on a data set, and write them to a config file",
		Description: `Searches by the paper's procedure, on the dev stage: test classes are never looked
at. The space is the paper's, with the preprocessing of the features and its ridge;
settings that are given by flags stay as they are given.

   1. coarse: the settings that run would have, and others that are spread evenly
      over the space, a trial each
   2. refining, in two rounds: neighbours of the best so far, one setting changed to
      the next listed value or halfway to it
   3. further seeds: the best settings again with three more seeds; the average of
      these chooses, and their average curve says for how many epochs to train

--budget counts every trial. A quarter of them, but at most those of five settings
and at least those of one, are for the further seeds; of the others two thirds are
coarse and one third refines. A budget of 40 is 21, 10, and 3 settings x 3 seeds.

The same command asks for the same trials and finds those that are done, so that it
goes on where it was stopped. The rounds of a search wait for each other: with
--shard, run the command again when all shards are through a round, until it prints
its table.`,
		Flags: append(append(settingFlagsBut("stage", "seeds"), gridFlags()...),
			&cli.IntFlag{Name: "budget", Value: 40, Usage: fmt.Sprintf("`N` trials, at least %d", tuning.MinBudget)},
			&cli.PathFlag{Name: "write", Usage: "config `FILE` to write (default: search-<dataset>-<variant>.json in --out)"}),
		Action: runSearch,
	}
}

func runSearch(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := configOf(c)
	if err != nil {
		return err
	}
	file := c.Path("write")
	if file == "" {
		file = filepath.Join(c.Path(outFlag), fmt.Sprintf("search-%s-%s.json", p.Dataset, p.Variant))
	} else if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return fmt.Errorf("--write: %w", err) // now rather than after hours
	}
	l, err := openLab(c, p.Dataset, p.DevSplit)
	if err != nil {
		return err
	}
	s, err := tuning.Search(c.Context, l, p.Config, tuning.SearchOptions{
		Budget: c.Int("budget"), Fixed: givenSettings(c),
		OnRound: func(round string, trials int) {
			logrus.WithFields(logrus.Fields{"round": round, "trials": trials}).Info("search")
		},
	})
	if err != nil {
		return err
	}
	if err := s.Chosen.Config.WriteConfig(file); err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(s)
	}
	return search.WriteText(os.Stdout, s, file)
}
