package main

import (
	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/adaptation"
)

const adaptArg = "adapt"

func adaptFlag() cli.Flag {
	return &cli.BoolFlag{Name: adaptArg, Category: methodGroup, Usage: "adapt the predictions to all samples together (transductive)"}
}

// checkAdaptation returns an error if --adapt is set and the model has no settings of it, and
// warns if they are off.
func checkAdaptation(c *cli.Context, m *loadedModel) error {
	if !c.Bool(adaptArg) {
		return nil
	}
	if err := excludes(c, adaptArg, "temperature"); err != nil {
		return err
	}
	a, err := adaptation.Settings(m.Saved, m.path)
	if err == nil && a.Tau == 0 {
		logrus.Warn(adaptation.Warning(a, 0), "; predictions are those without --adapt")
	}
	return err
}
