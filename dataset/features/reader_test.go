package features

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// readBy reads all of a file in blocks of the given number of rows.
func readBy(t fataler, path string, rows int) dataset.Matrix[float32] {
	t.Helper()
	r, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	block := dataset.NewMatrix[float32](rows, r.Cols())
	x := dataset.Matrix[float32]{Cols: r.Cols()}
	for {
		n, err := r.Read(block)
		x.Rows += n
		x.Data = append(x.Data, block.Data[:n*block.Cols]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := r.Rows(); n != -1 && n != x.Rows {
		t.Fatalf("Rows is %d, and %d were read", n, x.Rows)
	}
	if n, err := r.Read(block); n != 0 || err != io.EOF {
		t.Fatalf("behind the end Read gives %d rows and %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return x
}

// checkError checks that err is an *invalid.Error that names the file once.
func checkError(t *testing.T, err error, path, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("there is no error, expected: %s", want)
	}
	var e *invalid.Error
	if !errors.As(err, &e) || e.Where != path {
		t.Errorf("%#v is no *invalid.Error of the file", err)
	}
	if !strings.Contains(err.Error(), want) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("the error is\n%v\nwant, and the file once,\n%s", err, want)
	}
}

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCSV(t *testing.T) {
	want := dataset.Matrix[float32]{Rows: 2, Cols: 3, Data: []float32{1, -0.5, 3e4, 0.25, 7, 0}}
	for name, text := range map[string]string{
		"plain":                "1,-0.5,3e4\n.25,7,0\n",
		"names above":          "f0,f1,f2\n1,-0.5,3e4\n.25,7,0\n",
		"no line end":          "1,-0.5,3e4\n.25,7,0",
		"windows":              "\ufefff0,f1,f2\r\n1,-0.5,3e4\r\n.25,7,0\r\n",
		"spaces and blanks":    "\n 1 ,\t-0.5, 3e4\n\n.25,7 , 0\n\n",
		"quotes":               "\ufeff\"1\",\"-0.5\",\"3e4\"\n\".25\",7,0\n",
		"many digits":          "1.00000000000000000000,-0.5,30000.000\n0.250000,7.0,-0\n",
		"names without quotes": "layer4 mean,b c,1st\n1,-0.5,3e4\n.25,7,0\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "x.CSV", []byte(text))
			x, err := ReadAll(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, x, cmp.Comparer(func(a, b float32) bool { return a == b })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for rows := 1; rows <= 3; rows++ {
				readBy(t, path, rows)
			}
		})
	}
}

func TestCSVErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "expected at least one line of numbers, found none"},
		{"names alone", "a,b\n", "expected at least one line of numbers, found none"},
		{"names and numbers in the first line", "a,2\n3,4\n", `line 1, column 1: expected a number, found "a"`},
		{"an empty cell in the first line", "a,\n3,4\n", `line 1, column 1: expected a number, found "a"`},
		{"a word", "1,2\n\n3,four\n", `line 3, column 2: expected a number, found "four"`},
		{"a decimal comma", "1;2\n1,5;2,5\n", `line 2: expected 1 numbers, as in the line before, found 3`},
		{"an empty cell", "1,2\n3,\n", `line 2, column 2: expected a number, found ""`},
		{"too few", "a,b,c\n1,2\n", "line 2: expected 3 numbers, as in the line before, found 2"},
		{"too many", "1,2\n3,4,5\n", "line 2: expected 2 numbers, as in the line before, found 3"},
		{"NaN", "1,2\nnan,4\n", "line 2, column 1: expected a finite number in the range of float32, found nan"},
		{"infinite", "1,2\n3,-Inf\n", "line 2, column 2: expected a finite number in the range of float32, found -Inf"},
		{"beyond float32", "1,1e39\n", "line 1, column 2: expected a finite number in the range of float32, found 1e39"},
		{"all beyond float32 in the first line", "1e39,-1e39\n1,2\n", "line 1, column 1: expected a finite number in the range of float32, found 1e39"},
		{"the names that pandas gives", "0,1,2,3\n.1,.2,.3,.4\n", "line 1: expected a sample, or names of the columns, found the numbers from 0 to 3, which look like pandas' column names. Write the file with to_csv(header=False, index=False)."},
		{"names and an index of pandas", ",0,1\n0,.1,.2\n", `line 1, column 1: expected a number, found ""`},
		{"an index of pandas", "0,.1,.2\n1,.3,.4\n2,.5,.6\n", "column 1: expected a feature, found the numbers from 0 to 2, which look like pandas' row names. Write the file with to_csv(header=False, index=False)."},
		{"a quote amid", "1,2\n3,4\"\n", "line 2, character 4: found a quote inside a cell."},
		{"no end of quotes", "1,2\n3,\"4\n", "line 2, character 6: found a quoted cell that does not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "x.csv", []byte(c.text))
			_, err := ReadAll(t.Context(), path)
			checkError(t, err, path, c.want)
		})
	}
}

// Printed float32 values are read unchanged.
func TestCSVProperty(t *testing.T) {
	path := write(t, "x.csv", nil)
	rapid.Check(t, func(t *rapid.T) {
		want := dataset.NewMatrix[float32](rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "cols"))
		var text strings.Builder
		for i := range want.Rows {
			for j, row := 0, want.Row(i); j < len(row); j++ {
				row[j] = rapid.Float32Range(0.1, math.MaxFloat32).Draw(t, "value") // 0, 1, 2 would look like names
				if rapid.Bool().Draw(t, "negative") {
					row[j] = -row[j]
				}
				fmt.Fprintf(&text, "%v%s", row[j], map[bool]string{true: "\n", false: ","}[j == len(row)-1])
			}
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readBy(t, path, rapid.IntRange(1, 9).Draw(t, "rows of a block"))); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestMAT(t *testing.T) {
	const path = "../xlsa17/testdata/compressed/res101.mat"
	vars, err := matlab.Read(t.Context(), path, "features")
	if err != nil {
		t.Fatal(err)
	}
	want := dataset.Matrix[float32]{Rows: 108, Cols: 24, Data: vars["features"].Float32}
	for _, rows := range []int{1, 50, 108, 200} {
		if diff := cmp.Diff(want, readBy(t, path, rows)); diff != "" {
			t.Errorf("by %d rows (-want +got):\n%s", rows, diff)
		}
	}
	const other = "../xlsa17/testdata/plain/att_splits.mat"
	_, err = Open(t.Context(), other)
	checkError(t, err, other, "features: expected a variable of this name")
}

func TestNPY(t *testing.T) {
	want := dataset.NewMatrix[float32](3, 5)
	for i := range want.Data {
		want.Data[i] = float32(i) - 0.5
	}
	path := filepath.Join(t.TempDir(), "x.NPY")
	if err := WriteNPY(path, want); err != nil {
		t.Fatal(err)
	}
	x, err := ReadAll(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for rows := 1; rows <= 4; rows++ {
		if diff := cmp.Diff(want, readBy(t, path, rows)); diff != "" {
			t.Errorf("by %d rows (-want +got):\n%s", rows, diff)
		}
	}
	if err := WriteNPY(filepath.Join(t.TempDir(), "none", "x.npy"), want); err == nil {
		t.Error("written to a missing folder")
	}
}

// ReadAll reports every row that cannot be used, and ReadRow ignores those before the row
// that is wanted.
func TestUnusableRows(t *testing.T) {
	nan := float32(math.NaN())
	array := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteNPY(array, dataset.Matrix[float32]{Rows: 7, Cols: 1, Data: []float32{0, 1, nan, nan, 4, 5, nan}}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{write(t, "x.csv", []byte("0\n1\n2,2\nx\n4\n5\nnan\n")), array} {
		x, err := ReadAll(t.Context(), path)
		if err == nil || strings.Count(err.Error(), "\n") != 2 || x.Rows != 7 {
			t.Errorf("ReadAll gives %d rows and\n%v\nwant 7 rows and three errors", x.Rows, err)
		}
		r, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := r.Read(dataset.NewMatrix[float32](7, 1))
		if n != 2 {
			t.Errorf("%d rows are read before the error", n)
		}
		checkError(t, err, path, "expected")
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		for row, want := range []string{"", "", "expected", "expected", "", "", "expected", "row: expected 0 to 6, counted from 0, found 7"} {
			x, err := ReadRow(t.Context(), path, row, 1)
			if want != "" {
				checkError(t, err, path, want)
			} else if err != nil || x.Data[0] != float32(row) {
				t.Errorf("row %d is %v: %v", row, x.Data, err)
			}
		}
		_, err = ReadRow(t.Context(), path, 0, 2)
		checkError(t, err, path, "features: expected 2 of each sample, found 1")
	}
}

// Features that do not end, on one line or on many, end in an error.
func TestEndlessInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Skip(err)
	}
	_, err := Open(t.Context(), path)
	checkError(t, err, path, "expected lines of at most")
	_, err = ReadAll(t.Context(), path)
	checkError(t, err, path, "expected a regular file")
}

func TestReadChecksWidth(t *testing.T) {
	path := write(t, "x.csv", []byte("1,2,3\n"))
	r, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Read(dataset.NewMatrix[float32](4, 2048))
	checkError(t, err, path, "features: expected 2048 of each sample, found 3")
	if n, err := r.Read(dataset.NewMatrix[float32](4, 3)); n != 1 || err != nil {
		t.Errorf("after that %d rows are read: %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, name := range []string{"x.npy", "x.csv", "x.mat"} {
		path := filepath.Join(t.TempDir(), name)
		_, err := Open(t.Context(), path)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		checkError(t, err, path, "no such file")
	}
	path := write(t, "x.pt", nil)
	_, err := Open(t.Context(), path)
	checkError(t, err, path, `expected features in a file named .npy, .csv or .mat, found ".pt"`)
}
