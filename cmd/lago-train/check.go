package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/checkup"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "list all that is wrong with a data set; ends with 1 if anything is",
		ArgsUsage: "NAME|DIR",
		Description: `An argument with a / in it, or . or .., is a folder; any other is the name of a data
set of the data dir. Of a folder in the open layout all mistakes in all files are told,
of one in the xlsa17 layout the first that its reader meets, or else all in the data.`,
		Flags: append(dataFlagsBut("dev-split"),
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout"}),
		Action: checkDataset,
	}
}

func checkDataset(c *cli.Context) error {
	name, err := oneDataset(c)
	if err != nil {
		return err
	}
	r, err := checkup.Run(c.Context, name, catalog.Options{DataDir: c.Path("data-dir"), NoCache: c.Bool("no-cache")})
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		err = printJSON(r)
	} else {
		printReport(r)
	}
	if err == nil && !r.OK {
		err = fmt.Errorf("%s: %s", name, plural(len(r.Errors), "error"))
	}
	return err
}

func printReport(r checkup.Report) {
	for _, e := range r.Errors {
		fmt.Println(e)
	}
	if !r.OK {
		return
	}
	d := r.Data
	fmt.Printf("%s: nothing is wrong\n", d.Name)
	groups := "no known groups"
	if d.Groups != nil {
		groups = plural(len(d.Groups), "group")
	}
	fmt.Printf("checked: %s of %s, all finite; %s, described by %s in %s; %s into train, val and test; %s held out of the seen classes\n",
		plural(d.Features.Rows, "sample"), plural(d.Features.Cols, "feature"), plural(len(d.Classes), "class"), plural(len(d.Attributes), "attribute"), groups,
		plural(r.Divisions, "division"), plural(len(d.TestSeen), "sample"))
}

// plural is a number of things.
func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case thing == "class":
		return fmt.Sprintf("%d classes", n)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
