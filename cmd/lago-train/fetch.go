package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

func fetchCommand() *cli.Command {
	return &cli.Command{
		Name:      "fetch",
		Usage:     "download a data set of the paper, or the weights of a network",
		ArgsUsage: strings.Join(slices.Concat(fetch.Names(), fetch.Networks()), "|"),
		Description: `Downloads the archives that contain a data set and unpacks its files to
<data dir>/<NAME>, where run --dataset NAME finds them. The same command resumes an
interrupted download. The archives are kept, so the next data set needs no download.

Features, descriptions and splits come from the xlsa17 release of Xian et al. (about 880 MB):
   ` + fetch.XianURL + `
The attribute groups come from the repository of the authors of LAGO:
   ` + fetch.MetaURL + `
Their data archive (about 500 MB) has all files and can replace the release:
   --archive-url ` + fetch.LAGOURL + `

CUB's pictures are for non-commercial research.

The weights of a ResNet for photographs, torchvision's as timm publishes them (100 to
180 MB), go to <data dir>/NAME.safetensors; --archive-url is their address:
   ` + fetch.WeightsURL("resnet50") + `
   ` + fetch.WeightsURL("resnet101") + `
This download has not been tested.

Examples:
   lago-train dataset fetch awa2
   lago-train dataset fetch resnet101
   lago-train dataset fetch --archive-url ~/Downloads/xlsa17.zip sun`,
		Flags: []cli.Flag{
			dataDirFlag(),
			&cli.StringFlag{Name: "archive-url", Category: inputGroup, DefaultText: "see above", Usage: "`URL` or path of the archive with the features, or of the weights"},
			&cli.StringFlag{Name: "meta-url", Category: inputGroup, DefaultText: "see above", Usage: "`URL` or path of the archive with the meta folder, if the other lacks it"},
			&cli.StringFlag{Name: "sha256", Category: inputGroup, Usage: "`SUM` expected SHA-256 of the archive with the features; none was published"},
			&cli.PathFlag{Name: "download-dir", Category: outputGroup, DefaultText: "lago-train/downloads in the user's cache folder", Usage: "`DIR` folder of downloaded archives"},
			&cli.BoolFlag{Name: "delete-archives", Category: outputGroup, Usage: "remove the downloaded archives once the data set is complete"},
			&cli.BoolFlag{Name: "force", Category: outputGroup, Usage: "replace an existing folder of the data set and everything in it, or file of weights"},
			&cli.IntFlag{Name: "attempts", Category: runGroup, Value: 6, Usage: "`N` attempts in a row without progress before the download is given up"},
			&cli.DurationFlag{Name: "stall", Category: runGroup, Value: 30 * time.Second, Usage: "`DURATION` longest wait for the next byte from the server before a new attempt"},
			jsonFlagOf(),
		},
		Action: fetchDataset,
	}
}

func fetchDataset(c *cli.Context) error {
	if c.NArg() != 1 {
		return &invalid.Error{
			Where: c.Command.HelpName, Want: "the name of one data set or network, " + strings.Join(slices.Concat(fetch.Names(), fetch.Networks()), ", "),
			Got: format.Count(c.NArg(), "argument"),
		}
	}
	if n := c.Int("attempts"); n < 1 {
		return &invalid.Error{Where: "--attempts", Want: "1 or more", Got: fmt.Sprint(n)}
	}
	if d := c.Duration("stall"); d <= 0 {
		return &invalid.Error{Where: "--stall", Want: "a time above 0", Got: d.String()}
	}
	var p fetchProgress
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
		Progress:       func(f fetch.Progress) { display.show(p.line(f, time.Now()), false) },
		Notice:         func(text string) { logrus.Info(text) },
	})
	if err != nil {
		return err
	}
	return output(c, nil, r, func(w io.Writer) error { return writeFetched(w, r, c.Path("data-dir")) })
}

// writeFetched prints what was fetched, and the commands that use it.
func writeFetched(w io.Writer, r *fetch.Result, dataDir string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, in %s\n", r.Name, format.Count(len(r.Files), "file"), format.Bytes(r.Bytes), r.Folder)
	for _, a := range r.Archives {
		fmt.Fprintf(&b, "  from %s (%s)\n       SHA-256 %s\n", a.Source, format.Bytes(a.Bytes), a.SHA256)
		if a.Kept && a.File != a.Source && filepath.Dir(a.File) != r.Folder {
			fmt.Fprintf(&b, "       kept for other data sets: %s\n", a.File)
		}
	}
	if slices.Contains(fetch.Networks(), r.Name) {
		fmt.Fprintf(&b, "features:  lago-train dataset extract NAME --images DIR --weights %s\n", filepath.Join(r.Folder, r.Files[0]))
		_, err := io.WriteString(w, b.String())
		return err
	}
	var flag string
	if dataDir != "" {
		flag = "--data-dir " + dataDir + " "
	}
	fmt.Fprintf(&b, "summary:   lago-train dataset info %s%s\n", flag, r.Name)
	fmt.Fprintf(&b, "training:  lago-train run %s--dataset %s\n", flag, r.Name)
	_, err := io.WriteString(w, b.String())
	return err
}

// fetchProgress makes the progress lines of a fetch.
type fetchProgress struct {
	first, last fetch.Progress // of the step
	start       time.Time      // of first
}

// line is as in "downloading features: 300.1 MB of 879.0 MB, 12.0 MB/s, 48s left". The
// speed is the mean of the step, without what an earlier command downloaded.
func (p *fetchProgress) line(f fetch.Progress, now time.Time) string {
	if f.Step != p.last.Step || f.Total != p.last.Total || f.Done < p.last.Done {
		p.first, p.start = f, now
	}
	p.last = f
	s := f.Step + ": " + format.Bytes(f.Done)
	if f.Total >= 0 {
		s += " of " + format.Bytes(f.Total)
	}
	speed := float64(f.Done-p.first.Done) / now.Sub(p.start).Seconds()
	if speed > 0 && now.After(p.start) {
		s += ", " + format.Bytes(int64(speed)) + "/s"
		if left := float64(f.Total-f.Done) / speed; left >= 0 && left < 1e6 {
			s += fmt.Sprintf(", %v left", time.Duration(left)*time.Second)
		}
	}
	return s
}
