package glyphs

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Options say which data set to draw. The zero value is the default one.
type Options struct {
	Seed            uint64
	SamplesPerClass int // 0 means 75, three of each typeface
}

// withDefaults returns the options with zeros replaced, or a *invalid.Error.
func (o Options) withDefaults() (Options, error) {
	if o.SamplesPerClass < 0 {
		return o, &invalid.Error{
			Where: "glyphs", Field: "samples per class",
			Want: "a positive number", Got: strconv.Itoa(o.SamplesPerClass),
		}
	}
	if o.SamplesPerClass == 0 {
		o.SamplesPerClass = 3 * len(faces)
	}
	return o, nil
}

// Make draws the data set, the samples of a class side by side. Equal options
// make equal bits. Options that make no sense are a *invalid.Error.
func Make(o Options) (*dataset.Dataset, error) {
	p, err := newPrinter(o)
	if err != nil {
		return nil, err
	}
	classes, samples := p.table.classes, p.options.SamplesPerClass
	attributes := p.table.attributes()
	ds := &dataset.Dataset{
		Name:         "glyphs",
		Source:       fmt.Sprintf("letters and digits drawn from %d typefaces, seed %d", len(faces), o.Seed),
		Features:     dataset.NewMatrix[float32](len(classes)*samples, dims),
		Attributes:   attributes,
		Groups:       p.table.groups,
		Descriptions: p.table.descriptions(attributes),
		Split:        p.table.split(),
	}
	for z, l := range classes {
		ds.Classes = append(ds.Classes, l.name)
		for range samples {
			ds.Labels = append(ds.Labels, z)
		}
	}
	inParallel(len(ds.Labels), func(row int) {
		hog(p.sample(row/samples, row%samples), ds.Features.Row(row))
	})
	return ds, nil
}

// inParallel calls f(0) to f(n-1), on all processors.
func inParallel(n int, f func(i int)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}
