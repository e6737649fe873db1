package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Report is the result of a check. Its JSON keys are stable.
type Report struct {
	OK       bool            `json:"ok"` // no errors; there may be warnings
	Errors   []check.Finding `json:"errors"`
	Warnings []check.Finding `json:"warnings"` // that do not end the command with an error
	// entries of the descriptions that are missing; only if there are no errors
	Missing *check.Missing `json:"missing,omitempty"`
	// entries that are unlike what the others of their classes say; likewise
	Doubts *check.Doubts `json:"doubts,omitempty"`

	Data   *dataset.Dataset `json:"-"` // with the split that was asked for; nil if it cannot be read
	Next   string           `json:"-"` // command that writes files that are missing
	layout string
}

// Check checks the data set of a name or path. All splits of its classes are checked. The error
// is about finding the data set; problems with it are in the report.
func Check(ctx context.Context, name string, o Options) (Report, error) {
	r, err := findErrors(ctx, name, o)
	if err == nil && r.OK {
		missing := check.CountMissing(descriptions.Of(r.Data))
		doubts := check.FindDoubts(r.Data)
		r.Missing, r.Doubts = &missing, &doubts
		r.Warnings = append(r.Warnings, check.Findings(check.Warning, check.Warnings(r.Data))...)
	}
	return r, err
}

// findErrors is Check without warnings.
func findErrors(ctx context.Context, name string, o Options) (Report, error) {
	r := Report{Errors: []check.Finding{}, Warnings: []check.Finding{}}
	l, err := find(name, o)
	if err != nil {
		return r, err
	}
	r.layout = l.layout
	if r.Data, err = l.open(ctx, o); err == nil {
		with := *r.Data
		for _, with.Split = range with.Splits() {
			if err = check.Errors(&with); err != nil {
				break
			}
		}
	}
	r.Errors = append(r.Errors, check.Findings(check.Error, err)...)
	if err != nil && l.layout == openLayout {
		r.Next = nextStep(ctx, l.place, name, o)
	}
	r.OK = err == nil
	return r, ctx.Err()
}

// WithNext adds the next step to an error about a data set in the open layout that is not complete.
func WithNext(ctx context.Context, err error, name string, o Options) error {
	if err != nil {
		if l, other := find(name, o); other == nil && l.layout == openLayout {
			if next := nextStep(ctx, l.place, name, o); next != "" {
				return fmt.Errorf("%w\nnext: %s", err, next)
			}
		}
	}
	return err
}

// nextStep returns the command that adds what a folder lacks, "" if it has attributes, descriptions
// and a split.
func nextStep(ctx context.Context, dir, name string, o Options) string {
	lacks := func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return errors.Is(err, fs.ErrNotExist)
	}
	name = o.Named(name)
	described, err := openlayout.ReadDescriptions(ctx, dir)
	switch {
	case lacks(openlayout.ClassesFile) || lacks(openlayout.AttributesFile) || err == nil &&
		len(described.Attributes) == 0:
		return "lago-train dataset describe " + name
	case err != nil:
		return ""
	case !slices.ContainsFunc(described.Cells, func(cells []string) bool {
		return strings.Join(cells, "") != ""
	}):
		return "lago-train serve " + name
	case !o.WithoutSplit && lacks(openlayout.SplitsFile):
		return "lago-train dataset split " + name + " --to " +
			format.ShellLine(filepath.Join(dir, openlayout.SplitsFile))
	}
	return ""
}

// Listing is the data sets that can be named. Its JSON keys are stable.
type Listing struct {
	DataDir  string  `json:"data_dir"`
	Datasets []Entry `json:"datasets"`
}

// Entry is a data set that the program generates, or a folder of the data directory. Sizes
// are 0 unless it is usable. Its JSON keys are stable.
type Entry struct {
	Name       string `json:"name"`
	Layout     string `json:"layout"`            // open or xlsa17; empty if generated or unknown
	Usable     bool   `json:"usable"`            // whether the check finds no problem
	Problem    string `json:"problem,omitempty"` // the first one
	Problems   int    `json:"problems"`          // 0 too for a folder with no file of a data set
	Samples    int    `json:"samples"`
	Dimensions int    `json:"dimensions"`
	Train      int    `json:"train_classes"`
	Val        int    `json:"val_classes"`
	Test       int    `json:"test_classes"`
	Attributes int    `json:"attributes"`
	Groups     int    `json:"groups"` // 0 if they are unknown
}

// List checks all data sets; onName is called before each folder is read.
func List(ctx context.Context, o Options, onName func(string)) (*Listing, error) {
	names, err := Names(o)
	if err != nil {
		return nil, err
	}
	l := &Listing{DataDir: DataDir(o.DataDir)}
	for i, name := range names {
		path := name
		if i > 0 {
			path = l.DataDir + "/" + name
			onName(name)
		}
		r, err := findErrors(ctx, path, o)
		e := Entry{Name: name, Usable: r.OK, Layout: r.layout}
		switch d := r.Data; {
		case err != nil && !errors.As(err, new(*invalid.Error)):
			return nil, err
		case err != nil && !errors.Is(err, errNoFiles):
			e.Problem, e.Problems = err.Error(), 1
		case r.OK:
			e.Samples, e.Dimensions, e.Attributes, e.Groups = d.Features.Rows, d.Features.Cols,
				len(d.Attributes), len(d.Groups)
			e.Train, e.Val, e.Test = len(d.Split.Train), len(d.Split.Val), len(d.Split.Test)
		case err == nil:
			e.Problem, e.Problems = r.Errors[0].String(), len(r.Errors)
		}
		l.Datasets = append(l.Datasets, e)
	}
	return l, nil
}
