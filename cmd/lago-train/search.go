package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/invalid"
)

func searchCommand() *cli.Command {
	return &cli.Command{
		Name:  "search",
		Usage: "find settings of a variant on the validation classes, and write a config file",
		Description: `Follows the paper's procedure on the dev stage, in the paper's space with preprocessing and its
ridge added; settings given by flags stay fixed. A coarse round tries the default settings and
others spread over the space. Two refining rounds try neighbours of the best. The best settings are
then run with three further seeds, whose average chooses, and whose average curve gives the number
of epochs. A quarter of the budget is for further seeds, two thirds of the rest for the coarse
round: of 40 trials 21 are coarse, 10 refine, and 3 settings have 3 further seeds.

Finished trials are reused when the command is repeated. With --shard, repeat it on every machine
until it prints the table, because each round needs the one before.

Examples:
   lago-train search --dataset awa2 --budget 80
   lago-train search --variant k-soft --k 20 --preprocess whiten
   lago-train run --config runs/search-awa2-semantic-hard.json`,
		Flags: append(append(settingFlagsBut("stage", "seeds"), gridFlags()...),
			&cli.IntFlag{Name: "budget", Category: "search", Value: 40, Usage: fmt.Sprintf("number `N` of trials, at least %d", tuning.MinBudget)},
			&cli.PathFlag{Name: "write", Category: "search", DefaultText: "search-<dataset>-<variant>.json in --out", Usage: "config `FILE` to write"}),
		Action: runSearch,
	}
}

func runSearch(c *cli.Context) error {
	p, err := configOf(c)
	if err != nil {
		return err
	}
	file := c.Path("write")
	if file == "" {
		file = protocol.SearchFile(c.Path(outFlag), p.Dataset, p.DevSplit, p.Variant)
	} else if _, err := os.Stat(filepath.Dir(file)); err != nil { // now rather than after hours
		return invalid.At("--write", invalid.File(filepath.Dir(file), err))
	}
	l, err := openLab(c, p.Config)
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
	if err := s.Chosen.Config.Write(file, l.Fingerprint()); err != nil {
		return err
	}
	return output(c, l, s, func(w io.Writer) error { return search.WriteText(w, s, file) })
}
