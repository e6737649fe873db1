package main

import (
	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/internal/invalid"
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
	if c.IsSet("temperature") {
		return &invalid.Error{Where: "--temperature", Want: "it without --adapt, which has a temperature from the validation classes", Got: "both"}
	}
	a, err := adaptation.Settings(m.Saved, m.path)
	if err == nil && a.Tau == 0 {
		logrus.Warn(adaptation.Warning(a, 0), "; predictions are those without --adapt")
	}
	return err
}
