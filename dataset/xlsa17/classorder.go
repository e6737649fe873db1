package xlsa17

import (
	"fmt"
	"path/filepath"

	"github.com/lago-train/lago-train/internal/invalid"
)

// classFile says whose line is whose in the file of descriptions.
const classFile = "classes.txt"

// rowsOfClasses returns the row of each class in the n rows of a description
// file: by name through classes.txt, or else in the order of the .mat.
func rowsOfClasses(dir, path string, n int, mat *attSplits) ([]int, error) {
	list, err := firstFile(filepath.Dir(path), classFile)
	if err == nil && list == "" {
		list, err = firstFile(dir, "meta/"+classFile, classFile)
	}
	if err != nil {
		return nil, err
	}
	if list == "" {
		return rowsInOrder(path, n, mat)
	}
	names, err := readFile(list, readNumbered)
	if err != nil {
		return nil, err
	}
	if len(names) != n {
		return nil, &invalid.Error{
			Where: path,
			Want:  fmt.Sprintf("%d lines, one for each class of %s", len(names), list),
			Got:   fmt.Sprint(n),
		}
	}
	return rowsByName(list, names, mat)
}

// rowsInOrder takes the rows to be in the order of the .mat, if it has
// original_att by which a wrong order shows.
func rowsInOrder(path string, n int, mat *attSplits) ([]int, error) {
	if n != len(mat.classes) {
		return nil, &invalid.Error{
			Where: path,
			Want:  fmt.Sprintf("%d lines, one for each class of %s, as no %s says whose line is whose", len(mat.classes), mat.file, classFile),
			Got:   fmt.Sprint(n),
		}
	}
	if mat.original == nil {
		return nil, &invalid.Error{
			Where: filepath.Join(filepath.Dir(path), classFile),
			Want:  fmt.Sprintf("the classes in the order of %s", filepath.Base(path)),
			Got:   fmt.Sprintf("no such file, and no %s in %s to tell the order by", varOriginal, mat.file),
		}
	}
	rowOf := make([]int, n)
	for z := range rowOf {
		rowOf[z] = z
	}
	return rowOf, nil
}

// rowsByName finds each class of the .mat among the names in classes.txt, which
// may have others as well.
func rowsByName(list string, lines []line, mat *attSplits) ([]int, error) {
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.text
	}
	index := newClassIndex(names)
	rowOf := make([]int, len(mat.classes))
	takenBy := make(map[int]string)
	for z, name := range mat.classes {
		row, err := index.find(name)
		if err != nil {
			return nil, &invalid.Error{
				Where: list,
				Want:  fmt.Sprintf("every class of %s by name", mat.file),
				Got:   "no line for " + err.Error(),
			}
		}
		if other, taken := takenBy[row]; taken {
			return nil, &invalid.Error{
				Where: list,
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
