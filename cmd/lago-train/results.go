package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/experiments/studies"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// runsSetting is that of commands that read runs.
func runsSetting(to *string) setting.Setting {
	return setting.Raw("from", to, defaultRuns).In(inputGroup).Describe("`RUNS` folder of the runs")
}

func runsCommand() *cli.Command {
	var from, csv string
	var o dataOptions
	var out outputs
	var filter results.RunFilter
	return &cli.Command{
		Name:      "runs",
		ArgsUsage: "[list]",
		Flags: flags(setting.List{
			runsSetting(&from),
			setting.Raw("dataset", &filter.Dataset, "").In(inputGroup).Noted("all").
				Describe("`NAME` only runs on this data set"),
			setting.Choice("method", &filter.Method, "", methods.Labels()...).In(inputGroup).OrAs("variant").
				Noted("all").Describe("only runs of this method"),
			setting.Choice("stage", &filter.Stage, "", string(train.Dev), string(train.Test)).In(inputGroup).
				Noted("all").Describe("only runs of this stage"),
			setting.Choice("status", &filter.Status, "", format.Strings(results.RunStatuses)...).In(inputGroup).
				Noted("all").Describe("only runs with this status"),
			csvSetting(&csv, "the list"),
			out.setting(),
			o.jsonSetting(),
		}.Common()),
		Action: interruptible(func(c *cli.Context) error {
			if c.NArg() > 0 && !slices.Equal(c.Args().Slice(), []string{"list"}) {
				return flagsOnly(c)
			}
			filter.Dataset = catalog.NameOf(filter.Dataset)
			l, err := filter.List(c.Context, from, studies.Kinds())
			if err == nil {
				err = out.writeCSV(csv, l.WriteCSV)
			}
			if err != nil {
				return err
			}
			return o.print(l, l.Tables()...)
		}),
	}
}

// latest names a model, see lastModel.
const latest = "latest"

// lastModel returns the run in a folder whose model latest means, and whether it is one of LAGO: that of the
// test stage of the last run command or, without one, the last model of the test stage or else of any. Models
// of LAGO come first.
func lastModel(dir string) (last string, isLAGO bool) {
	stored, _, _ := lab.ReadStored(context.Background(), dir)
	var names []string
	for _, s := range stored {
		if s.Kind == studies.RunKind {
			slices.Reverse(s.Runs)
			names = append(names, s.Runs...)
		}
	}
	best := -1
	for _, name := range append(names, runsWithModel(dir)...) {
		r, err := train.ReadRecord(filepath.Join(dir, name))
		if _, missing := os.Stat(filepath.Join(dir, name, train.ModelFile)); missing != nil {
			continue
		}
		rank, lago := 0, err == nil && r.Method.Name == methods.LAGO
		if err == nil && r.Stage == train.Test {
			rank += 2
		}
		if lago {
			rank++
		}
		if rank > best {
			best, last, isLAGO = rank, name, lago
		}
	}
	return last, isLAGO
}

// findModel returns the model file that the value of a flag names: the file, the folder of its run or, in the
// folder that the value begins with, ./runs if it has none, a unique prefix of its name, or latest.
func findModel(flag, value string) (string, error) {
	const what = "a run's folder, a model file, latest, or the start of the name of a run"
	path := filepath.Join(value, train.ModelFile)
	info, err := os.Stat(value)
	switch {
	case value == "":
		return "", wrong(flag, what, "none")
	case err == nil && info.IsDir():
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			e := &invalid.Error{
				Where: value, Want: "the folder of a run, with a " + train.ModelFile, Got: "none",
			}
			if names := runsWithModel(value); len(names) > 0 {
				e.Hint = "Name a run in it, such as " + filepath.Join(value, names[0]) + "."
			}
			return "", e
		}
		return path, nil
	case err == nil:
		return value, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", invalid.At(flag, invalid.File(value, err))
	}
	dir, prefix := filepath.Split(value)
	dir = filepath.Clean(cmp.Or(dir, defaultRuns))
	names := runsWithModel(dir)
	if prefix == latest && len(names) > 0 {
		last, _ := lastModel(dir)
		return filepath.Join(dir, last, train.ModelFile), nil
	}
	matches := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, prefix)
	})
	slices.Sort(matches)
	e := &invalid.Error{Where: flag, Want: what + " in " + dir, Got: invalid.Quote(value), Usage: true}
	switch {
	case len(matches) == 1:
		return filepath.Join(dir, matches[0], train.ModelFile), nil
	case len(matches) > 1:
		const most = 5
		e.Want = "the start of the name of one run in " + dir
		e.Got += fmt.Sprintf(", which matches %d", len(matches))
		e.Hint = "Choose one of " + strings.Join(matches[:min(most, len(matches))], ", ") + "."
	case len(names) == 0:
		e.Hint = dir + " has no runs with a " + train.ModelFile + ". lago-train run trains a model."
	default:
		e.Hint = cmp.Or(invalid.DidYouMean(prefix, append(names, latest)), "lago-train runs lists them.")
	}
	return "", e
}

// runsWithModel lists the runs in a folder that have a model, the one that was written last first.
func runsWithModel(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	written := map[string]time.Time{}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name(), train.ModelFile))
		if err == nil && info.Mode().IsRegular() {
			names, written[e.Name()] = append(names, e.Name()), info.ModTime()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return written[b].Compare(written[a]) })
	return names
}

func reportCommand() *cli.Command {
	var from, to, figures string
	var as plot.Format
	var o dataOptions
	var out outputs
	return &cli.Command{
		Name: "report",
		Flags: flags(setting.List{
			runsSetting(&from),
			setting.Raw("to", &to, "report.html").In(outputGroup).Describe("`FILE` page to write"),
			setting.Raw("figures", &figures, "").In(outputGroup).
				Describe("`DIR` also write each figure to this folder"),
			setting.Choice("format", &as, plot.SVG, plot.SVG, plot.PNG).In(outputGroup).
				Describe("format of --figures").Needs("figures"),
			out.setting(),
			o.jsonSetting(),
		}.Common()),
		Action: interruptible(func(c *cli.Context) error {
			if ext := strings.ToLower(filepath.Ext(to)); ext != ".html" && ext != ".htm" {
				e := &invalid.Error{
					Where: "--to", Want: "a file that ends in .html", Got: invalid.Quote(to), Usage: true,
				}
				if ext == ".pdf" {
					e.Hint = "Print the page to PDF in a browser."
				}
				return e
			}
			page, err := results.ReadReport(c.Context, from, studies.Kinds())
			if err != nil {
				return err
			}
			s := page.Summary()
			s.Page = to
			err = out.all(func(write fileWriter) error {
				err := write(to, page.Write)
				if err == nil && figures != "" {
					s.Figures, err = plot.WriteFiles(write, figures, as, page.Figures()...)
				}
				return err
			})
			if err != nil {
				return err
			}
			return o.print(s, s.Tables()...)
		}),
	}
}
