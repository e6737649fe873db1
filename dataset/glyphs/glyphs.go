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

// A class has three samples of each typeface.
const samples = 75

// Make generates the data set, class by class. It is the same for any number of processors;
// other architectures may round differently.
func Make() *dataset.Dataset {
	classes := letters.classes
	attributes := letters.attributes()
	d := &dataset.Dataset{
		Name:         "glyphs",
		Source:       fmt.Sprintf("letters and digits of %d typefaces, seed 0", len(faces)),
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
			hog(sample(row/samples, row%samples), d.Features.Row(row))
		}
	})
	return d
}

// isHeldOut selects every fifth sample of a seen class for generalised zero-shot learning.
// Samples take the typefaces in turn, so the choice moves by one in every round of them,
// and each typeface remains in training.
func isHeldOut(i int) bool { return (i+i/len(faces))%5 == 4 }

// sample renders sample i of class z. Its random numbers depend on z and i only.
func sample(z, i int) *image.Gray {
	rng := rand.New(rand.NewPCG(0, uint64(z)<<32|uint64(i)))
	return render(outlines()[z][i%len(faces)], rng)
}

// Image renders sample i of a class, counted from 0, in 48 x 48 pixels: the picture from
// which Make takes the features of the i-th row of that class. A class or sample that the
// data set does not have is an *invalid.Error.
func Image(class string, i int) (*image.Gray, error) {
	z := slices.IndexFunc(letters.classes, func(l letter) bool { return l.name == class })
	if z < 0 || i < 0 || i >= samples {
		return nil, &invalid.Error{
			Where: "glyphs", Field: fmt.Sprintf("sample %d of class %q", i, class),
			Want: fmt.Sprintf("one of its letters and digits, and a sample from 0 to %d", samples-1),
		}
	}
	return sample(z, i), nil
}
