package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/fetch"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
)

func fetchCommand() *cli.Command {
	var o fetch.Options
	var data dataOptions
	var asJSON bool
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
			data.dirFlag(),
			&cli.StringFlag{Name: "archive-url", Category: inputGroup, DefaultText: "see above", Usage: "`URL` or path of the archive with the features, or of the weights", Destination: &o.ArchiveURL},
			&cli.StringFlag{Name: "meta-url", Category: inputGroup, DefaultText: "see above", Usage: "`URL` or path of the archive with the meta folder, if the other lacks it", Destination: &o.MetaURL},
			&cli.StringFlag{Name: "sha256", Category: inputGroup, Usage: "`SUM` expected SHA-256 of the archive with the features; none was published", Destination: &o.SHA256},
			&cli.PathFlag{Name: "download-dir", Category: outputGroup, DefaultText: "lago-train/downloads in the user's cache folder", Usage: "`DIR` folder of downloaded archives", Destination: &o.DownloadDir},
			&cli.BoolFlag{Name: "delete-archives", Category: outputGroup, Usage: "remove the downloaded archives once the data set is complete", Destination: &o.DeleteArchives},
			&cli.BoolFlag{Name: "force", Category: outputGroup, Usage: "replace an existing folder of the data set and everything in it, or file of weights", Destination: &o.Force},
			&cli.IntFlag{Name: "attempts", Category: runGroup, Value: 6, Usage: "`N` attempts in a row without progress before the download is given up", Destination: &o.Attempts},
			&cli.DurationFlag{Name: "stall", Category: runGroup, Value: 30 * time.Second, Usage: "`DURATION` longest wait for the next byte from the server before a new attempt", Destination: &o.Stall},
			jsonFlag(&asJSON),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return wrong(c.Command.HelpName, "the name of one data set or network, "+strings.Join(slices.Concat(fetch.Names(), fetch.Networks()), ", "), format.Count(c.NArg(), "argument"))
			}
			if o.Attempts < 1 {
				return wrong("--attempts", "1 or more", fmt.Sprint(o.Attempts))
			}
			if o.Stall <= 0 {
				return wrong("--stall", "a time above 0", o.Stall.String())
			}
			var p fetchProgress
			o.DataDir = catalog.DataDir(data.dir)
			o.Progress = func(f fetch.Progress) { display.show(p.line(f, time.Now()), false) }
			o.Notice = func(text string) { logrus.Info(text) }
			r, err := fetch.Fetch(c.Context, c.Args().First(), o)
			if err != nil {
				return err
			}
			return output(asJSON, fetched{r, data.dir})
		},
	}
}

// fetched is what was fetched.
type fetched struct {
	*fetch.Result
	dataDir string
}

// Tables say what was fetched, and the commands that use it.
func (f fetched) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s: %s, %s, in %s", f.Name, format.Count(len(f.Files), "file"), format.Bytes(f.Bytes), f.Folder))
	for _, a := range f.Archives {
		t.Note("  from %s (%s)\n       SHA-256 %s", a.Source, format.Bytes(a.Bytes), a.SHA256)
		if a.Kept && a.File != a.Source && filepath.Dir(a.File) != f.Folder {
			t.Note("       kept for other data sets: %s", a.File)
		}
	}
	if slices.Contains(fetch.Networks(), f.Name) {
		t.Note("features:  lago-train dataset extract NAME --images DIR --weights %s", filepath.Join(f.Folder, f.Files[0]))
		return []*table.Table{t}
	}
	flag := ""
	if f.dataDir != "" {
		flag = "--data-dir " + f.dataDir + " "
	}
	t.Note("summary:   lago-train dataset info %s%s", flag, f.Name).Note("training:  lago-train run %s--dataset %s", flag, f.Name)
	return []*table.Table{t}
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
