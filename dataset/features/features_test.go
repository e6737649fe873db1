package features

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// readBy reads all of a file in blocks of the given number of rows.
func readBy(t testkit.TB, path string, rows int) dataset.Matrix[float32] {
	t.Helper()
	r := testkit.Must(Open(context.Background(), path, false))(t)
	block := dataset.NewMatrix[float32](rows, r.Cols())
	x := dataset.Matrix[float32]{Cols: r.Cols()}
	for {
		n, err := r.Read(block)
		x.Rows += n
		x.Data = append(x.Data, block.Data[:n*block.Cols]...)
		if err == io.EOF {
			break
		}
		testkit.NoError(t, err)
	}
	if n, err := r.Read(block); n != 0 || err != io.EOF {
		t.Fatalf("behind the end Read gives %d rows and %v", n, err)
	}
	testkit.NoError(t, r.Close())
	return x
}

// checkError checks that err is an *invalid.Error that names the file once.
func checkError(t testkit.TB, err error, path, want string) {
	t.Helper()
	testkit.WantError(t, err, want)
	if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != path || strings.Count(err.Error(), path) != 1 {
		t.Errorf("%v, expected an *invalid.Error that names the file once", err)
	}
}

func TestCSV(t *testing.T) {
	want := dataset.Matrix[float32]{Rows: 2, Cols: 3, Data: []float32{1, -0.5, 3e4, 0.25, 7, 0}}
	for name, text := range map[string]string{
		"plain":                "1,-0.5,3e4\n.25,7,0\n",
		"names above":          "f0,f1,f2\n1,-0.5,3e4\n.25,7,0\n",
		"no line end":          "1,-0.5,3e4\n.25,7,0",
		"windows":              "\ufefff0,f1,f2\r\n1,-0.5,3e4\r\n.25,7,0\r\n",
		"spaces and blanks":    "\n 1 ,\t-0.5, 3e4\n\n.25,7 , 0\n\n",
		"numpy.savetxt":        "# f0,grid,f2\n1,-0.5,3e4\n.25,7,0\n",
		"many digits":          "1.00000000000000000000,-0.5,30000.000\n0.250000,7.0,-0\n",
		"names without quotes": "layer4 mean,b c,1st\n1,-0.5,3e4\n.25,7,0\n",
	} {
		path := testkit.Write(t, t.TempDir(), "x.CSV", text)
		x := testkit.Must(ReadAll(t.Context(), path))(t)
		testkit.Equal(t, name, x, want, cmp.Comparer(func(a, b float32) bool { return a == b }))
		for rows := 1; rows <= 3; rows++ {
			readBy(t, path, rows)
		}
	}
}

func TestCSVErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "expected " + Form + ", found none"},
		{"a decimal comma in quotes", "1,2\n\"1,5\",2\n", `line 2, column 1: expected a number, found "1,5"`},
		{"too few", "a,b,c\n1,2\n", "line 2: expected " + Form + ", found 3 names above 2 cells"},
		{"NaN", "1,2\nnan,4\n", "line 2, column 1: expected a finite number in the range of float32, found \"nan\". Features are known"},
		{"beyond float32", "1,1e39\n", "line 1, column 2: expected a finite number in the range of float32, found 1e39"},
		{"the names that pandas gives", "0,1,2,3\n.1,.2,.3,.4\n", "line 1: expected " + Form + ", found numbers that rise from 0 to 3, as names of columns do. In pandas, df.add_prefix(\"f\") makes names of them. Above a sample whose numbers rise, write a line of names."},
		{"wavelengths", "400,405,410,420,430,440,450,455\n.1,.2,.3,.4,.1,.2,.3,.4\n", "line 1: expected " + Form + ", found numbers that rise from 400 to 455, as names of columns do. In pandas, df.add_prefix(\"f\") makes names of them. Above a sample whose numbers rise, write a line of names."},
		{"names of rows by pandas", ",f0,f1\n0,.1,.2\n", "line 1, column 1: expected a name, as the other columns have, found none, as pandas' to_csv() and R's write.csv leave it above names of rows. Write the file without names of rows: to_csv(index=False), or row.names = FALSE in R."},
		{"names of rows by R", "\"V1\",\"V2\"\n\"1\",.1,.2\n", "line 2: expected " + Form + ", found 2 names above 3 cells. Write the file without names of rows: to_csv(index=False), or row.names = FALSE in R."},
		{"spaces", "1 2.5 3\n4 5 6\n", "line 2, column 1: expected a number, found \"4 5 6\""},
		{"R's default", "\"V1\" \"V2\"\n\"1\" .1 .2\n", `found a quote within a cell. Write "" for it, and quotes around the cell.`},
		{"one name twice", "f0,f1,f0\n.1,.2,.3\n", `line 1, column 3: expected a name that no other column has, found "f0", as column 1. Rename one of them.`},
		{"ids", "image_id,f0,f1\n17,.1,.2\n", `line 1, column 1: expected features alone, found "image_id". Take the column out: labels.csv has the classes and ids`},
		{"names", "sample,f0\na,1\n", `line 2, column 1: expected a number, found "a". Leave out columns that are no features`},
		{"missing values", "1,2\nNA,2\n", `line 2, column 1: expected a finite number in the range of float32, found "NA". Features are known for every sample`},
	} {
		path := testkit.Write(t, t.TempDir(), c.name+".csv", c.text)
		_, err := ReadAll(t.Context(), path)
		checkError(t, err, path, c.want)
	}
}

// ReadAll reports every row that cannot be used. Read stops there and can go on behind it.
func TestUnusableRows(t *testing.T) {
	nan := float32(math.NaN())
	array := filepath.Join(t.TempDir(), "x.npy")
	testkit.NoError(t, tiny.WriteNPY(array, dataset.Matrix[float32]{Rows: 7, Cols: 1, Data: []float32{0, 1, nan, nan, 4, 5, nan}}))
	for _, path := range []string{testkit.Write(t, t.TempDir(), "x.csv", "0\n1\n2,2\nx\n4\n5\nnan\n"), array} {
		x, err := ReadAll(t.Context(), path)
		if err == nil || strings.Count(err.Error(), "\n") != 2 || x.Rows != 7 {
			t.Errorf("ReadAll gives %d rows and\n%v\nwant 7 rows and three errors", x.Rows, err)
		}
		r := testkit.Must(Open(t.Context(), path, false))(t)
		for i, want := range []int{2, 0, 2} {
			n, err := r.Read(dataset.NewMatrix[float32](7, 1))
			if n != want {
				t.Errorf("the call %d reads %d rows before the error, expected %d", i, n, want)
			}
			checkError(t, err, path, "expected")
		}
		testkit.NoError(t, r.Close())
	}
}

// Any bytes give rows of finite numbers, the same in blocks of one row as all at once, or
// an error that names the file; and no more memory is allocated than they can need.
func FuzzOpen(f *testing.F) {
	files, err := filepath.Glob("../../internal/npy/testdata/*.npy")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, path := range files {
		f.Add([]byte(testkit.Read(f, path)), true)
	}
	for _, text := range []string{"", "a,b\n1,2\n", "1,2\r\n3\n", "\ufeff\"1\",nan\n", "1e39\n\n2\n", "0,1,2\n", "\"\n"} {
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, content []byte, isNPY bool) {
		path := filepath.Join(t.TempDir(), map[bool]string{true: "x.npy", false: "x.csv"}[isNPY])
		testkit.NoError(t, os.WriteFile(path, content, 0o666))
		var x dataset.Matrix[float32]
		var err error
		const perByte, base = 64, 16 << 20
		if n := testkit.Allocated(func() { x, err = ReadAll(t.Context(), path) }); n > base+perByte*uint64(len(content)) {
			t.Errorf("%d bytes allocate %d", len(content), n)
		}
		if err != nil {
			if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Where != path {
				t.Fatalf("%#v does not name the file", err)
			}
			return
		}
		if x.Rows < 1 || x.Cols < 1 || len(x.Data) != x.Rows*x.Cols {
			t.Fatalf("%d values for %d x %d", len(x.Data), x.Rows, x.Cols)
		}
		if i := matrix.NotFinite(x.Data); i >= 0 {
			t.Fatalf("%v is read", x.Data[i])
		}
		if again := readBy(t, path, 1); !slices.Equal(x.Data, again.Data) {
			t.Fatalf("row by row %v, at once %v", again.Data, x.Data)
		}
	})
}

// A model takes the columns that it was trained on by their names, and means in place of missing values.
func TestReaderForModel(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "x.csv", "path,b,a\nx/1.jpg,-99,1\nx/2.jpg,4,3\nx/3.jpg,,inf\n")
	r := testkit.Must(Open(t.Context(), path, true))(t)
	testkit.NoError(t, r.Match([]string{"a", "b"}))
	r.Replace(&dataset.Absent{Values: []dataset.Code{-99, dataset.Code(math.NaN()), dataset.Code(math.Inf(1))}, Means: []float32{7, 8}})
	x := testkit.Must(r.All())(t)
	testkit.Equal(t, "features", x.Data, []float32{1, 8, 3, 4, 7, 8})
	_, id, _ := r.Sample(1)
	testkit.Equal(t, "name", id, "x/2.jpg")
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "c"}, `expected the columns of the features that the model was trained on, found none named "c"`},
		{[]string{"a"}, `found "b" as well. Take it out.`},
	} {
		r := testkit.Must(Open(t.Context(), path, true))(t)
		testkit.WantError(t, r.Match(c.names), c.want)
		testkit.NoError(t, r.Close())
	}
}
