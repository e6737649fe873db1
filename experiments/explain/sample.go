package explain

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
)

// Find returns the row of a sample of a data set by its number, counted from 0 in the
// order of the features.
func Find(d *dataset.Dataset, sample string) (row int, err error) {
	row, err = number(sample)
	if err == nil && row < d.Features.Rows {
		return row, nil
	}
	return 0, fmt.Errorf("explain: sample: expected the number of a sample of %s, 0 to %d, found %s",
		d.Name, d.Features.Rows-1, quote(sample))
}

func number(sample string) (int, error) {
	n, err := strconv.Atoi(sample)
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	return n, err
}

// Of is what a data set knows of one of its samples.
func Of(d *dataset.Dataset, row int) Sample {
	return Sample{Index: row, From: d.Name, Label: &d.Classes[d.Labels[row]]}
}

// ReadRow reads the features of one sample, dims of them, from a file that package
// features reads; its class is not known.
func ReadRow(path, sample string, dims int) (x dataset.Matrix[float32], s Sample, err error) {
	row, err := number(sample)
	if err != nil {
		return x, s, fmt.Errorf("explain: sample: expected the number of a row of %s, counted from 0, found %s", path, quote(sample))
	}
	r, err := features.Open(path)
	if err != nil {
		return x, s, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	s = Sample{Index: row, From: path}
	x = dataset.NewMatrix[float32](1, dims)
	for read := 0; ; read++ {
		_, err := r.Read(x)
		if wrong := (*features.RowError)(nil); errors.As(err, &wrong) && read < row {
			continue // not the one that is asked for
		}
		if err == io.EOF {
			return x, s, fmt.Errorf("explain: sample: expected the number of one of the %d rows of %s, 0 to %d, found %s",
				read, path, read-1, quote(sample))
		}
		if err != nil || read == row {
			return x, s, err
		}
	}
}

// Part names the classes that are chosen between.
type Part string

// The parts of a split. Seen are train and val together.
const (
	Train Part = "train"
	Val   Part = "val"
	Test  Part = "test"
	Seen  Part = "seen"
	All   Part = "all"
)

var parts = []Part{Train, Val, Test, Seen, All}

// UnmarshalText reads one of the names.
func (p *Part) UnmarshalText(text []byte) error {
	if !slices.Contains(parts, Part(text)) {
		return fmt.Errorf("expected train, val, test, seen or all, found %q", text)
	}
	*p = Part(text)
	return nil
}

// PartOf is the part of a split that has a class, Test where none has.
func PartOf(s dataset.Split, class int) Part {
	for _, p := range s.Parts() {
		if slices.Contains(p.Classes, class) {
			return Part(p.Name)
		}
	}
	return Test
}

// Among returns the classes of a part.
func Among(p Part, d *dataset.Dataset) Candidates {
	c := Candidates{What: string(p) + " classes"}
	var list []int
	switch p {
	case Train:
		list = d.Split.Train
	case Val:
		list = d.Split.Val
	case Test:
		list = d.Split.Test
	case Seen:
		list = d.Split.Seen()
	case All:
		c.What = "classes"
		for z := range d.Classes {
			list = append(list, z)
		}
	}
	for _, z := range list {
		c.Names = append(c.Names, d.Classes[z])
	}
	c.U = d.Describe(list)
	return c
}
