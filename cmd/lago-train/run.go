package main

import (
	"encoding/json"
	"os"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/train"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "train a variant on a data set and judge it on classes without samples",
		Description: `Trains by the paper's protocol. The dev stage learns from the train classes and is
stopped by the val classes; the epoch with the best average val accuracy over seeds
says how long the test stage learns from train and val classes together, to be
judged once on the test classes.

Each seed of each stage has a folder below --out, named by what defines it, with
trial.json, curve.jsonl (an object an epoch), result.json and model.safetensors. A
finished run is never done twice. Ctrl-C ends an epoch cleanly, and the same command
goes on from there to the same numbers.`,
		Flags: append(append(settingFlags(), dataFlags()...),
			&cli.PathFlag{Name: outFlag, Value: "runs", Usage: "`DIR` for the folders of the runs"},
			&cli.IntFlag{Name: jobsFlag, Value: 1, Usage: "`N` seeds at a time, which share the cores"},
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout, accuracies as fractions"},
		),
		Action: run,
	}
}

func run(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := configOf(c)
	if err != nil {
		return err
	}
	d, err := openDataset(c, p.Dataset, p.DevSplit)
	if err != nil {
		return err
	}
	logrus.WithFields(logrus.Fields{
		"dataset": d.Name, "variant": p.Variant, "stage": p.Stage, "seeds": p.Seeds,
		"settings": p.Source, "blas": blas.Current().String(),
	}).Info("run")
	progress := newProgress(p.Seed, p.Seeds)
	l := lab.New(d, c.Path(outFlag))
	l.Jobs = c.Int(jobsFlag)
	l.Options = train.Options{OnEpoch: progress.epoch, OnResume: progress.resume}
	o, err := protocol.Run(c.Context, l, p.Config)
	progress.close()
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(o)
	}
	return o.WriteText(os.Stdout, p)
}

func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
