package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/convert"
	"github.com/lago-train/lago-train/internal/format"
)

func convertCommand() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a data set as a folder of another layout, and prove that nothing was lost",
		ArgsUsage: "NAME",
		Description: `The open layout is features.npy and CSV files (docs/your-data.md); that of xlsa17 is
for programs that read MATLAB files. All divisions of the seen classes are written, and
the folder appears only once it was read again and found to be the same data set.`,
		Flags: append(dataFlagsBut("dev-split"),
			&cli.StringFlag{Name: "to", Usage: "`LAYOUT` to write: open or xlsa17"},
			&cli.PathFlag{Name: outFlag, Usage: "`DIR` to write, which must be empty or not there"},
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout"}),
		Action: convertDataset,
	}
}

// dataFlagsBut are those of dataFlags without one.
func dataFlagsBut(name string) []cli.Flag {
	return slices.DeleteFunc(dataFlags(), func(f cli.Flag) bool { return f.Names()[0] == name })
}

func convertDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	if !c.IsSet("to") || !c.IsSet(outFlag) {
		return fmt.Errorf("dataset convert: expected --to LAYOUT and --%s DIR before the name; see %s --help", outFlag, c.Command.HelpName)
	}
	o := catalog.Options{DataDir: c.Path("data-dir"), NoCache: c.Bool("no-cache")}
	r, err := convert.Convert(c.Context, name, o, catalog.Layout(c.String("to")), c.Path(outFlag))
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(r)
	}
	fmt.Printf("%s in the %s layout, with %s of the seen classes: %s\n", r.Name, r.Layout, format.Count(r.Divisions, "division"), r.Dir)
	if r.Renamed {
		fmt.Println("attributes are named group::name there, which is how the layout tells groups: the fingerprint is not that of the source")
	}
	fmt.Printf("read again and found to be the same: fingerprint %s\n", r.Fingerprint)
	return nil
}
