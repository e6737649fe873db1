package features

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/matfile"
)

// npyOf is an array of bytes.
func npyOf(kind, shape, values string) string {
	header := "{'descr': '" + kind + "', 'fortran_order': False, 'shape': " + shape + ", }\n"
	return "\x93NUMPY\x01\x00" + string(rune(len(header))) + "\x00" + header + values
}

func TestReadIntegers(t *testing.T) {
	mat := func(elements ...[]byte) string { return string(matfile.File(elements...)) }
	for _, c := range []struct {
		file, data string
		want       []int
		err        string
	}{
		{"bytes.NPY", npyOf("|u1", "(3,)", "\x00\x05\x03"), []int{0, 5, 3}, ""},
		{"matrix.npy", npyOf("|u1", "(2, 2)", "abcd"), nil, "expected one dimension, with one integer per sample, found 2 x 2"},
		{"fractions.npy", npyOf("<f4", "(1,)", "\x00\x00\xc0\x3f"), nil, "value 1: expected an integer, found 1.5"},
		{"labels.mat", mat(matfile.Doubles("other", []int{1, 1}, 7), matfile.Doubles("labels", []int{2, 1}, 5, 6)), []int{5, 6}, ""},
		{"two.mat", mat(matfile.Doubles("x", []int{1, 2}, 1, 2), matfile.Doubles("y", []int{1, 2}, 5, 6)), nil, "labels: expected a variable of this name, or only one of fitting size, found only x, y"},
		{"text.mat", mat(matfile.Word("labels", "text")), nil, "expected one dimension, with one integer per sample, found char 1x4"},
		{"lines.txt", "3\n0\r\n-2\n", []int{3, 0, -2}, ""},
		{"separators.csv", "3,0; 2\t7", []int{3, 0, 2, 7}, ""},
		{"numpy.txt", "3.000000000000000000e+00\n-2.0\n", []int{3, -2}, ""},
		{"header.csv", "label\n3\n0\n", []int{3, 0}, ""},
		{"fraction.txt", "1.5\n", nil, `line 1: expected integers, found "1.5"`},
		{"page.txt", "<html>", nil, "expected integers, found a page of HTML or XML. The server sent"},
		{"none.txt", "", nil, "expected at least one integer, found none"},
	} {
		path := testkit.Write(t, t.TempDir(), c.file, c.data)
		got, err := ReadIntegers(t.Context(), path)
		if c.err != "" {
			testkit.WantError(t, err, filepath.Base(path)+": "+c.err)
		} else if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v: %v", c.file, got, err)
		}
	}
}

// A .mat without the variable features has one matrix at most.
func TestMatrixOfAnyName(t *testing.T) {
	labels, one := matfile.Doubles("y", []int{3, 1}, 1, 2, 3), matfile.Doubles("scores", []int{2, 3}, 1, 2, 3, 4, 5, 6)
	path := testkit.Write(t, t.TempDir(), "x.mat", string(matfile.File(labels, one)))
	testkit.Equal(t, "features", testkit.Must(ReadAll(t.Context(), path))(t), dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{1, 2, 3, 4, 5, 6}})
	testkit.Equal(t, "scores of 2 samples", testkit.Must(ReadScores(t.Context(), path, 2))(t), dataset.Matrix[float32]{Rows: 2, Cols: 3, Data: []float32{1, 3, 5, 2, 4, 6}})
	path = testkit.Write(t, t.TempDir(), "x.mat", string(matfile.File(one, matfile.Doubles("x", []int{2, 2}, 1, 2, 3, 4))))
	testkit.Fails(ReadAll(t.Context(), path))(t, "features: expected a variable of this name, or only one of fitting size, found only scores, x")
}
