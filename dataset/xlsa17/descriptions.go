package xlsa17

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
)

const (
	descriptionFile = "class_descriptions_by_attributes.txt"
	classFile       = "classes.txt"

	// rounding is by how much a probability may exceed 1, or a percentage 100,
	// in proportion, and still be 1 or 100 written with few digits.
	rounding = 1e-3
	// contradiction is the difference of two probabilities that no rounding
	// to one digit explains: rows or columns are then not in the order that they seem to be.
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
		e := &dataset.Error{
			File:  mat.file,
			Field: varOriginal,
			Want:  fmt.Sprintf("descriptions of the classes here or in %s", filepath.Join(dir, "meta", descriptionFile)),
			Got:   "neither",
		}
		if mat.hasAtt {
			e.Got = "only att, whose columns are L2-normalised and hold no probabilities"
		}
		return nil, e
	}
	if err := toProbabilities(*mat.original, mat.file+": "+varOriginal); err != nil {
		return nil, err
	}
	return &descriptions{file: mat.file, values: *mat.original}, nil
}

func readDescriptionFile(dir, path string, mat *attSplits) (*descriptions, error) {
	rows, err := readFile(path, readMatrix)
	if err != nil {
		return nil, err
	}
	if err := toProbabilities(rows, path); err != nil {
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

// rowsOfClasses returns the row of each class in the n rows of a description
// file: by name through classes.txt, or else in order.
func rowsOfClasses(dir, path string, n int, mat *attSplits) ([]int, error) {
	listPath, err := firstFile(filepath.Dir(path), classFile)
	if err == nil && listPath == "" {
		listPath, err = firstFile(dir, "meta/"+classFile, classFile)
	}
	if err != nil {
		return nil, err
	}
	rowOf := make([]int, len(mat.classes))
	if listPath == "" {
		if n != len(mat.classes) {
			return nil, &dataset.Error{
				File: path,
				Want: fmt.Sprintf("%d lines, one for each class of %s, as no %s says whose line is whose", len(mat.classes), mat.file, classFile),
				Got:  fmt.Sprint(n),
			}
		}
		for z := range rowOf {
			rowOf[z] = z
		}
		return rowOf, nil
	}

	lines, err := readFile(listPath, readNumbered)
	if err != nil {
		return nil, err
	}
	if len(lines) != n {
		return nil, &dataset.Error{
			File: path,
			Want: fmt.Sprintf("%d lines, one for each class of %s", len(lines), listPath),
			Got:  fmt.Sprint(n),
		}
	}
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.text
	}
	index := newClassIndex(names)
	takenBy := make(map[int]string)
	for z, name := range mat.classes {
		row, err := index.find(name)
		if err != nil {
			return nil, &dataset.Error{File: listPath, Want: fmt.Sprintf("every class of %s by name", varClasses), Got: "no line for " + err.Error()}
		}
		if other, taken := takenBy[row]; taken {
			return nil, &dataset.Error{
				File:  listPath,
				Field: fmt.Sprintf("line %d", lines[row].number),
				Want:  "the name of one class",
				Got:   fmt.Sprintf("%q, which may mean %q or %q", names[row], other, name),
			}
		}
		takenBy[row] = name
		rowOf[z] = row
	}
	return rowOf, nil
}

// toProbabilities turns percentages, told by a value above 1, into fractions,
// and negative values, which say "not described", into NaN.
func toProbabilities(u dataset.Matrix[float64], source string) error {
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
		return &dataset.Error{
			File:  source,
			Field: fmt.Sprintf("row %d, attribute %d", at/u.Cols+1, at%u.Cols+1),
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
	o := *mat.original
	if o.Cols != d.values.Cols {
		return &dataset.Error{
			File: d.file,
			Want: fmt.Sprintf("%d attributes, as in %s of %s", o.Cols, varOriginal, mat.file),
			Got:  fmt.Sprint(d.values.Cols),
		}
	}
	if err := toProbabilities(o, mat.file+": "+varOriginal); err != nil {
		return err
	}
	for z, class := range mat.classes {
		for m, p := range d.values.Row(z) {
			if q := o.Row(z)[m]; math.Abs(p-q) > contradiction {
				return &dataset.Error{
					File:  d.file,
					Field: fmt.Sprintf("class %q, attribute %q", class, attributes[m].Name),
					Want:  fmt.Sprintf("about %.4g, as in %s of %s", q, varOriginal, mat.file),
					Got:   fmt.Sprintf("%.4g", p),
				}
			}
		}
	}
	return nil
}
