package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/format"
)

func fetchCommand() *cli.Command {
	names := strings.Join(fetch.Names(), "|")
	return &cli.Command{
		Name:      "fetch",
		Usage:     "download a data set of the paper: " + strings.Join(fetch.Names(), ", "),
		ArgsUsage: names,
		Description: `Downloads the archives that a data set is published in, takes its files out, and
leaves them as <data dir>/<NAME>, which run --dataset NAME finds. An interrupted
download goes on when the same command is given again; the archives are kept, so
that the next data set needs no further download.

Features, descriptions and splits come from the release of Xian et al., "Zero-Shot
Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly" (about
880 MB):
   ` + fetch.XianURL + `
and the groups of the attributes from the repository of the authors of LAGO:
   ` + fetch.MetaURL + `
The data archive of the latter has everything, and can take the place of the former
(about 500 MB):
   --archive-url ` + fetch.LAGOURL + `

What is published under other addresses, or lies on disk, is given by --archive-url
and --meta-url. CUB's pictures are for non-commercial research.

   lago-train dataset fetch awa2
   lago-train dataset fetch --archive-url ~/Downloads/xlsa17.zip sun`,
		Flags: []cli.Flag{
			&cli.PathFlag{Name: "data-dir", Usage: "`DIR` that gets the folder of the data set (default: $" + catalog.EnvDataDir + ", then ./data)"},
			&cli.StringFlag{Name: "archive-url", EnvVars: []string{"LAGO_ARCHIVE_URL"}, Usage: "http(s) `ADDRESS`, or file, of the archive with the features"},
			&cli.StringFlag{Name: "meta-url", EnvVars: []string{"LAGO_META_URL"}, Usage: "http(s) `ADDRESS`, or file, of the archive with the meta folder; not used where the other has it"},
			&cli.StringFlag{Name: "sha256", Usage: "`SUM` that the archive with the features must have, in hex; none is known"},
			&cli.PathFlag{Name: "download-dir", Usage: "`DIR` that keeps archives (default: lago-train/downloads in the user's cache folder)"},
			&cli.BoolFlag{Name: "delete-archives", Usage: "remove the archives that were downloaded, once the data set is there"},
			&cli.BoolFlag{Name: "force", Usage: "replace a folder of the data set that is there, with all that it holds"},
			&cli.IntFlag{Name: "attempts", Value: 6, Usage: "`N` attempts in a row that may gain nothing before a download is given up"},
			&cli.DurationFlag{Name: "stall", Value: 30 * time.Second, Usage: "`TIME` that a server may send nothing; there is no limit to a whole download"},
			&cli.BoolFlag{Name: jsonFlag, Usage: "print one JSON object on stdout"},
		},
		Action: fetchDataset,
	}
}

func fetchDataset(c *cli.Context) error {
	if c.NArg() != 1 {
		return fmt.Errorf("dataset fetch: expected the name of one data set, %s, found %d arguments",
			strings.Join(fetch.Names(), ", "), c.NArg())
	}
	if n := c.Int("attempts"); n < 1 {
		return fmt.Errorf("--attempts: expected 1 or more, found %d", n)
	}
	if d := c.Duration("stall"); d <= 0 {
		return fmt.Errorf("--stall: expected a time above 0, found %v", d)
	}
	p := &fetchProgress{to: os.Stderr}
	r, err := fetch.Fetch(c.Context, c.Args().First(), fetch.Options{
		DataDir:        catalog.DataDir(c.Path("data-dir")),
		ArchiveURL:     c.String("archive-url"),
		MetaURL:        c.String("meta-url"),
		SHA256:         c.String("sha256"),
		DownloadDir:    c.Path("download-dir"),
		DeleteArchives: c.Bool("delete-archives"),
		Force:          c.Bool("force"),
		Attempts:       c.Int("attempts"),
		Stall:          c.Duration("stall"),
		Progress:       p.tell,
		Notice: func(text string) {
			p.clear()
			logrus.Info(text)
		},
	})
	p.clear()
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag) {
		return printJSON(r)
	}
	return writeFetched(os.Stdout, r, c.Path("data-dir"))
}

// writeFetched says what is there, and what can be done with it.
func writeFetched(w io.Writer, r *fetch.Result, dataDir string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d files, %s, in %s\n", r.Name, len(r.Files), format.Bytes(r.Bytes), r.Folder)
	for _, a := range r.Archives {
		fmt.Fprintf(&b, "  from %s (%s)\n       SHA-256 %s\n", a.Source, format.Bytes(a.Bytes), a.SHA256)
		if a.Kept && a.File != a.Source {
			fmt.Fprintf(&b, "       kept for other data sets: %s\n", a.File)
		}
	}
	var flag string
	if dataDir != "" {
		flag = "--data-dir " + dataDir + " "
	}
	fmt.Fprintf(&b, "look at it:   lago-train dataset info %s%s\n", flag, r.Name)
	fmt.Fprintf(&b, "train on it:  lago-train run %s--dataset %s\n", flag, r.Name)
	_, err := io.WriteString(w, b.String())
	return err
}
