package glyphs

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Options say which data set to generate. The zero value is the default one.
type Options struct {
	Seed            uint64
	SamplesPerClass int // less than 1 means 75, three of each typeface
}

func (o Options) samples() int {
	if o.SamplesPerClass < 1 {
		return 3 * len(faces)
	}
	return o.SamplesPerClass
}

// Make generates the data set, class by class. The same options give the same bits on any
// machine.
func Make(o Options) *dataset.Dataset {
	classes, samples := letters.classes, o.samples()
	attributes := letters.attributes()
	d := &dataset.Dataset{
		Name:         "glyphs",
		Source:       fmt.Sprintf("letters and digits of %d typefaces, seed %d", len(faces), o.Seed),
		Features:     dataset.NewMatrix[float32](len(classes)*samples, dims),
		Attributes:   attributes,
		Groups:       letters.groups,
		Descriptions: letters.descriptions(attributes),
		Split:        letters.split(),
	}
	for z, l := range classes {
		d.Classes = append(d.Classes, l.name)
		for i := range samples {
			if l.part != "test" && isHeldOut(i) {
				d.TestSeen = append(d.TestSeen, len(d.Labels))
			}
			d.Labels = append(d.Labels, z)
		}
	}
	parallel.For(len(d.Labels), 1, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			hog(sample(o, row/samples, row%samples), d.Features.Row(row))
		}
	})
	return d
}

// isHeldOut selects every fifth sample of a seen class for generalised zero-shot learning.
// Samples take the typefaces in turn, so the choice moves by one in every round of them,
// and each typeface remains in training.
func isHeldOut(i int) bool { return (i+i/len(faces))%5 == 4 }

// sample renders sample i of class z. Each has its own random numbers, so that it does not
// depend on the number of samples or on the order in which they are rendered.
func sample(o Options, z, i int) *image.Gray {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(z)<<32|uint64(i)))
	return render(outlines()[z][i%len(faces)], rng)
}

// Image renders sample i of a class, counted from 0, in 48 x 48 pixels: the picture from
// which Make takes the features of the i-th row of that class. A class or sample that the
// data set does not have is an *invalid.Error.
func Image(o Options, class string, i int) (*image.Gray, error) {
	z := slices.IndexFunc(letters.classes, func(l letter) bool { return l.name == class })
	if z < 0 || i < 0 || i >= o.samples() {
		return nil, &invalid.Error{
			Where: "glyphs", Field: fmt.Sprintf("sample %d of class %q", i, class),
			Want: fmt.Sprintf("one of its letters and digits, and a sample from 0 to %d", o.samples()-1),
		}
	}
	return sample(o, z, i), nil
}
