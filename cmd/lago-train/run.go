package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

func runCommand() *cli.Command {
	jobs := &cli.IntFlag{Name: jobsFlag, Category: runGroup, Value: 1, Usage: "`N` seeds trained in parallel"}
	return &cli.Command{
		Name:  "run",
		Usage: "train a variant on a data set and evaluate it on unseen classes",
		Description: `Follows the paper's protocol. The dev stage trains on the train classes and stops by the
validation classes. The epoch with the best average validation accuracy over seeds is the number
of epochs of the test stage, which trains on train and validation classes and is evaluated once on
the test classes. The models also get the settings of predict --adapt, chosen on the validation
classes. Each run has a folder in --out. Finished runs are reused; an interrupted run
resumes from its checkpoint to bit-identical results. On CUB, AWA2 and SUN the defaults are the
published settings of the variant; --print-config shows them.

Examples:
   lago-train run
   lago-train run --dataset awa2 --variant k-soft --seeds 3
   lago-train run --dataset cub --print-config > settings.json`,
		Flags: append(append(append(settingFlags(), dataFlags()...), outputFlags(jobs)...),
			&cli.BoolFlag{Name: "print-config", Category: outputGroup, Usage: "print the settings as JSON for --config, and train nothing"}),
		Action: run,
	}
}

func run(c *cli.Context) error {
	p, err := configOf(c)
	if err != nil {
		return err
	}
	if c.Bool("print-config") {
		return printConfig(os.Stdout, os.Stderr, p)
	}
	l, err := openLab(c, p)
	if err != nil {
		return err
	}
	logrus.WithFields(logrus.Fields{"dataset": l.Data.Name, "variant": p.Variant, "stage": p.Stage, "seeds": p.Seeds}).Info("run")
	logrus.WithField("blas", blas.Current().String()).Debug(p.Source)
	l.OnProgress = nil
	l.Options = train.Options{OnEpoch: showEpoch(p.Seed, p.Seeds), OnResume: logResume, OnWarning: logRunWarning}
	o, err := protocol.Run(c.Context, l, p.Config)
	if err != nil {
		return err
	}
	if err := o.Adapt(c.Context, l, func() { logrus.Info("choosing the settings of predict --adapt on the validation classes") }); err != nil {
		return err
	}
	return output(c, nil, o, func(w io.Writer) error { return o.WriteText(w, p) })
}

// printConfig writes the settings that apply to a run, and where each comes from.
func printConfig(stdout, stderr io.Writer, p protocol.Preset) error {
	p.Epochs = p.EpochsOf()
	for _, s := range protocol.All() {
		if !s.AppliesTo(p.Config) {
			continue
		}
		origin := p.Origins[s.Key]
		if origin == "preset" {
			origin += ": " + p.Source
		}
		if _, err := fmt.Fprintf(stderr, "%-12s %-14v %s\n", s.Key, s.Value(p.Config), origin); err != nil {
			return err
		}
	}
	return format.WriteJSON(stdout, p.Config)
}
