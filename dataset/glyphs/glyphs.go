// Package glyphs generates a zero-shot data set of synthetic glyphs: letters and digits of
// 25 typefaces, rendered on demand, with classes described by the shapes of the letters. It
// needs no file and no network.
//
// A class is a letter or digit. A sample is that letter in one of the typefaces, shifted,
// turned, scaled, sheared, blurred and noisy; its features are histograms of oriented
// gradients. The attributes are what one would tell somebody who has never seen the letter:
// a stem on the left, a bar at the foot, one closed counter. letters.txt says which letter
// has which in these typefaces; p(attribute|class) is the share of the typefaces in which
// the class has the attribute.
//
// It is a small problem to try methods on. Accuracies on it say nothing about photographs.
package glyphs

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"strings"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansoblique"
	"codeberg.org/go-fonts/dejavu/dejavuserif"
	"codeberg.org/go-fonts/dejavu/dejavuserifbold"
	"codeberg.org/go-fonts/dejavu/dejavuserifitalic"
	"codeberg.org/go-fonts/latin-modern/lmmono10regular"
	"codeberg.org/go-fonts/latin-modern/lmroman10bold"
	"codeberg.org/go-fonts/latin-modern/lmroman10italic"
	"codeberg.org/go-fonts/latin-modern/lmroman10regular"
	"codeberg.org/go-fonts/latin-modern/lmsans10bold"
	"codeberg.org/go-fonts/latin-modern/lmsans10oblique"
	"codeberg.org/go-fonts/latin-modern/lmsans10regular"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// A face is one typeface. Its traits are properties that change the shapes of some of its
// letters; letters.txt says what they mean and refers to them.
type face struct {
	name   string
	font   []byte // TrueType or OpenType
	traits string
}

var faces = []face{
	{"Go Regular", goregular.TTF, "barred"},
	{"Go Bold", gobold.TTF, "barred"},
	{"Go Italic", goitalic.TTF, "barred slanted onestorey"},
	{"Liberation Sans", liberationsansregular.TTF, ""},
	{"Liberation Sans Bold", liberationsansbold.TTF, ""},
	{"Liberation Sans Italic", liberationsansitalic.TTF, "slanted"},
	{"DejaVu Sans", dejavusans.TTF, "lowj"},
	{"DejaVu Sans Bold", dejavusansbold.TTF, "lowj"},
	{"DejaVu Sans Oblique", dejavusansoblique.TTF, "slanted lowj"},
	{"Latin Modern Sans", lmsans10regular.TTF, "twostorey"},
	{"Latin Modern Sans Bold", lmsans10bold.TTF, "twostorey"},
	{"Latin Modern Sans Oblique", lmsans10oblique.TTF, "slanted twostorey"},
	{"Liberation Serif", liberationserifregular.TTF, "serif twostorey"},
	{"Liberation Serif Bold", liberationserifbold.TTF, "serif twostorey"},
	{"Liberation Serif Italic", liberationserifitalic.TTF, "serif slanted cursive onestorey twostorey"},
	{"DejaVu Serif", dejavuserif.TTF, "serif lowj"},
	{"DejaVu Serif Bold", dejavuserifbold.TTF, "serif lowj"},
	{"DejaVu Serif Italic", dejavuserifitalic.TTF, "serif slanted cursive onestorey lowj"},
	{"Latin Modern Roman", lmroman10regular.TTF, "serif twostorey"},
	{"Latin Modern Roman Bold", lmroman10bold.TTF, "serif twostorey"},
	{"Latin Modern Roman Italic", lmroman10italic.TTF, "serif slanted cursive onestorey"},
	{"Go Mono", gomono.TTF, "serif mono"},
	{"Liberation Mono", liberationmonoregular.TTF, "mono barred"},
	{"DejaVu Sans Mono", dejavusansmono.TTF, "mono barred"},
	{"Latin Modern Mono", lmmono10regular.TTF, "serif mono twostorey"},
}

// A class has three samples of each typeface.
const samples = 75

// Source is that of the data set, which a folder of the same name does not have.
const Source = "letters and digits of 25 typefaces, seed 0"

// Make generates the data set, class by class. It is the same for any number of processors;
// other architectures may round differently.
func Make() *dataset.Dataset {
	classes := letters.classes
	attributes, u := letters.describe()
	d := &dataset.Dataset{
		Name: "glyphs", Source: Source, Features: dataset.NewMatrix[float32](len(classes)*samples, dims),
		Attributes: attributes, Groups: letters.groups, Descriptions: u,
	}
	subsets := map[string]*[]int{"train": &d.Split.Train, "val": &d.Split.Val, "test": &d.Split.Test}
	for z, l := range classes {
		d.Classes = append(d.Classes, l.name)
		*subsets[l.part] = append(*subsets[l.part], z)
		for i := range samples {
			if l.part != "test" && isHeldOut(i) {
				d.TestSeen = append(d.TestSeen, len(d.Labels))
			}
			d.Labels = append(d.Labels, z)
		}
	}
	parallel.For(len(d.Labels), 1, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			hog(sample(row), d.Features.Row(row))
		}
	})
	return d
}

// isHeldOut selects every fifth sample of a seen class for generalised zero-shot learning.
// Samples take the typefaces in turn, so the choice moves by one in every round of them,
// and each typeface remains in training.
func isHeldOut(i int) bool { return (i+i/len(faces))%5 == 4 }

// sample renders the sample of a row. Its random numbers depend on its class and place only.
func sample(row int) *image.Gray {
	z, i := row/samples, row%samples
	rng := rand.New(rand.NewPCG(0, uint64(z)<<32|uint64(i)))
	return render(outlines()[z][i%len(faces)], rng)
}

// Image renders the sample of a row of the features of Make in 48 x 48 pixels. A row that
// they do not have is an *invalid.Error.
func Image(row int) (*image.Gray, error) {
	if rows := len(letters.classes) * samples; row < 0 || row >= rows {
		return nil, &invalid.Error{Where: "glyphs", Field: "sample", Want: fmt.Sprintf("0 to %d", rows-1), Got: fmt.Sprint(row)}
	}
	return sample(row), nil
}

//go:embed letters.txt
var lettersText string

var letters = parseTable(lettersText)

// table has the shapes of all classes.
type table struct {
	groups  []string // the columns, as in "foot"
	classes []letter
}

type letter struct {
	name  string // one character
	part  string // train, val or test
	cells []string
}

// parseTable reads lines of cells separated by spaces. The first names the columns: class,
// part and the groups. Empty lines and lines that start with # are ignored.
func parseTable(text string) table {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.Comment, r.TrimLeadingSpace = ' ', '#', true
	rows := must(r.ReadAll())
	t := table{groups: rows[0][2:]}
	for _, cells := range rows[1:] {
		t.classes = append(t.classes, letter{cells[0], cells[1], cells[2:]})
	}
	return t
}

// value returns what a cell, "value" or "value,trait:value,...", says of a face: the value of
// the last trait that the face has. "" is none.
func value(cell string, f face) string {
	value := ""
	for part := range strings.SplitSeq(cell, ",") {
		name, exception, isException := strings.Cut(part, ":")
		switch {
		case !isException:
			value = part
		case slices.Contains(strings.Fields(f.traits), name):
			value = exception
		}
	}
	return strings.TrimPrefix(value, "-")
}

// describe returns the values of each group, in the order in which classes first have them,
// and classes x attributes: the share of the faces in which a class has an attribute.
func (t table) describe() (all []dataset.Attribute, u dataset.Matrix[float64]) {
	count := make(map[dataset.Attribute][]float64) // of the faces, by class
	for k, group := range t.groups {
		for z, l := range t.classes {
			for _, f := range faces {
				v := value(l.cells[k], f)
				a := dataset.Attribute{Name: group + "::" + v, Group: k}
				if v != "" && count[a] == nil {
					all = append(all, a)
					count[a] = make([]float64, len(t.classes))
				}
				if v != "" {
					count[a][z]++
				}
			}
		}
	}
	u = dataset.NewMatrix[float64](len(t.classes), len(all))
	for m, a := range all {
		for z, n := range count[a] {
			u.Row(z)[m] = n / float64(len(faces))
		}
	}
	return all, u
}

// must returns what is made from a part of this program, which has no mistakes.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
