package xlsa17

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	descriptionFile = "class_descriptions_by_attributes.txt"

	// rounding is by how much a probability may exceed 1, or a percentage 100,
	// in proportion, and still be 1 or 100 written with few digits.
	rounding = 1e-3
	// contradiction is the difference of two probabilities that no rounding to
	// one digit explains: rows or columns are then in another order than it seems.
	contradiction = 0.0501
)

// descriptions of classes, a row each in the order of allclasses_names.
type descriptions struct {
	file   string // a text file or att_splits.mat
	values dataset.Matrix[float64]
}

// readDescriptions takes the text file of LAGO's archive, in meta/ or beside
// it, and original_att of att_splits.mat where there is none. The text has more
// digits than the float32 of the .mat.
func readDescriptions(dir string, mat *attSplits) (*descriptions, error) {
	path, err := firstFile(dir, "meta/"+descriptionFile, descriptionFile)
	if err != nil {
		return nil, err
	}
	if path != "" {
		return readDescriptionFile(dir, path, mat)
	}
	if mat.original == nil {
		e := &invalid.Error{
			Where: mat.file,
			Field: varOriginal,
			Want:  fmt.Sprintf("descriptions of the classes here or in %s", filepath.Join(dir, "meta", descriptionFile)),
			Got:   "neither",
		}
		if mat.hasAtt {
			e.Got = "only att, whose columns are L2-normalised and hold no probabilities"
		}
		return nil, e
	}
	return &descriptions{file: mat.file, values: *mat.original}, nil
}

func readDescriptionFile(dir, path string, mat *attSplits) (*descriptions, error) {
	rows, err := readFile(path, readMatrix)
	if err != nil {
		return nil, err
	}
	if o := mat.original; o != nil && o.Cols != rows.Cols {
		return nil, &invalid.Error{
			Where: path,
			Want:  fmt.Sprintf("%d attributes, as in %s of %s", o.Cols, varOriginal, mat.file),
			Got:   fmt.Sprint(rows.Cols),
		}
	}
	if err := toProbabilities(rows, path, "row"); err != nil {
		return nil, err
	}
	rowOf, err := rowsOfClasses(dir, path, rows.Rows, mat)
	if err != nil {
		return nil, err
	}
	u := dataset.NewMatrix[float64](len(mat.classes), rows.Cols)
	for z := range mat.classes {
		copy(u.Row(z), rows.Row(rowOf[z]))
	}
	return &descriptions{file: path, values: u}, nil
}

// toProbabilities turns percentages, told by a value above 1, into fractions,
// and negative values, which say "not described", into NaN. An error names the
// place by what a row of u is in the file.
func toProbabilities(u dataset.Matrix[float64], file, row string) error {
	largest, at := 0.0, 0
	for i, v := range u.Data {
		if v > largest {
			largest, at = v, i
		}
	}
	scale := 1.0
	if largest > 1+rounding {
		scale = 100
	}
	if largest > scale*(1+rounding) {
		return &invalid.Error{
			Where: file,
			Field: fmt.Sprintf("%s %d, attribute %d", row, at/u.Cols+1, at%u.Cols+1),
			Want:  "a probability from 0 to 1 or a percentage from 0 to 100",
			Got:   fmt.Sprint(largest),
		}
	}
	for i, v := range u.Data {
		if v < 0 {
			u.Data[i] = math.NaN()
			continue
		}
		u.Data[i] = min(v/scale, 1)
	}
	return nil
}

// agreesWith compares descriptions of a text file with original_att, where both
// are there. The text may be rounded or describe more; what it must not be is
// of another order.
func (d *descriptions) agreesWith(mat *attSplits, attributes []dataset.Attribute) error {
	if mat.original == nil || d.file == mat.file {
		return nil
	}
	for z, class := range mat.classes {
		for m, p := range d.values.Row(z) {
			if q := mat.original.Row(z)[m]; math.Abs(p-q) > contradiction {
				return &invalid.Error{
					Where: d.file,
					Field: fmt.Sprintf("class %q, attribute %q", class, attributes[m].Name),
					Want:  fmt.Sprintf("about %.4g, as in %s of %s", q, varOriginal, mat.file),
					Got:   fmt.Sprintf("%.4g", p),
				}
			}
		}
	}
	return nil
}
