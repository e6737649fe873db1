package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Listing is the data sets that can be named. Its JSON keys are stable.
type Listing struct {
	DataDir  string  `json:"data_dir"`
	Datasets []Entry `json:"datasets"`
}

// Entry is a data set that the program generates, or a folder of the data directory. Sizes
// are 0 unless it is usable. Its JSON keys are stable.
type Entry struct {
	Name       string         `json:"name"`
	Layout     catalog.Layout `json:"layout"` // empty if it is generated or unknown
	Usable     bool           `json:"usable"` // Check finds no problem
	Problem    string         `json:"problem,omitempty"`
	Problems   int            `json:"problems"` // 0 too for a folder with no file of a data set
	Samples    int            `json:"samples"`
	Dimensions int            `json:"dimensions"`
	Train      int            `json:"train_classes"`
	Val        int            `json:"val_classes"`
	Test       int            `json:"test_classes"`
	Attributes int            `json:"attributes"`
	Groups     int            `json:"groups"` // 0 if they are unknown
}

// List checks all data sets; onName is called before each folder is read.
func List(ctx context.Context, o catalog.Options, onName func(string)) (*Listing, error) {
	names, err := catalog.Names(o)
	if err != nil {
		return nil, err
	}
	l := &Listing{DataDir: catalog.DataDir(o.DataDir)}
	for _, name := range names {
		e := Entry{Name: name, Usable: true}
		if spec, ok := simulate.Preset(name); ok { // to generate all would take seconds
			e.Samples, e.Dimensions, e.Attributes, e.Groups = spec.Samples, spec.Dims, spec.Attributes, spec.Groups
			e.Train, e.Val, e.Test = spec.TrainClasses, spec.ValClasses, spec.TestClasses
		} else if name == catalog.Glyphs {
			e.measure(glyphs.Make())
		} else {
			onName(name)
			if err := e.check(ctx, o); err != nil {
				return nil, err
			}
		}
		l.Datasets = append(l.Datasets, e)
	}
	return l, nil
}

// check sets what Check finds in a folder.
func (e *Entry) check(ctx context.Context, o catalog.Options) error {
	f, err := catalog.Find(e.Name, o)
	var r Report
	if err == nil {
		e.Layout = f.Layout
		r, err = Check(ctx, f.Dir, o)
	}
	var problem *invalid.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		if e.Usable = r.OK; r.OK {
			e.measure(r.Data)
		} else {
			e.Problem, e.Problems = r.Errors[0].String(), len(r.Errors)
		}
	case errors.Is(err, catalog.ErrNoFiles):
		e.Usable = false
	case errors.As(err, &problem):
		e.Usable, e.Problem, e.Problems = false, err.Error(), 1
	default:
		return err
	}
	return nil
}

func (e *Entry) measure(d *dataset.Dataset) {
	e.Samples, e.Dimensions, e.Attributes, e.Groups = d.Features.Rows, d.Features.Cols, len(d.Attributes), len(d.Groups)
	e.Train, e.Val, e.Test = len(d.Split.Train), len(d.Split.Val), len(d.Split.Test)
}

// WriteText writes a table with one data set per line, and what is wrong with those that
// are not usable.
func (l *Listing) WriteText(w io.Writer) error {
	t := format.NewTable("data set", "layout", "samples", "features", "train / val / test classes", "attributes", "groups", "status")
	var wrong strings.Builder
	for _, e := range l.Datasets {
		switch {
		case e.Usable:
			t.Row(e.Name, cmp.Or(string(e.Layout), "generated"), e.Samples, e.Dimensions, fmt.Sprintf("%d / %d / %d", e.Train, e.Val, e.Test), e.Attributes, e.Groups, "usable")
		case e.Problems == 0:
			t.Row(e.Name, "-", "-", "-", "-", "-", "-", "no data set")
		default:
			t.Row(e.Name, cmp.Or(string(e.Layout), "-"), "-", "-", "-", "-", "-", format.Count(e.Problems, "problem"))
			fmt.Fprintf(&wrong, "%s: %s\n", format.Printable(e.Name), e.Problem)
		}
	}
	t.Right(3, 4, 5, 6, 7)
	_, err := fmt.Fprintf(w, "%s%sFolders are in %s; others: lago-train dataset fetch cub, awa2 or sun.\n", t, wrong.String(), l.DataDir)
	return err
}
