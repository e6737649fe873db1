package features

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// A first line of numbers names the columns where no sample looks like it.
func TestHeaderOfNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	line := func(number func(j int) string) string {
		cells := make([]string, 9)
		for j := range cells {
			cells[j] = number(j)
		}
		return strings.Join(cells, ",") + "\n"
	}
	random := func(int) string { return fmt.Sprintf("%.3f", r.NormFloat64()) }
	rows := line(random) + line(random)
	for _, c := range []struct {
		name, text string
		header     bool
	}{
		{"wavelengths", line(func(j int) string { return fmt.Sprint(400 + 10*j) }) + rows, true},
		{"falling wavenumbers", line(func(j int) string { return fmt.Sprint(4000.5 - 3.1*float64(j*j)) }) + rows, true},
		{"numbers in quotes", line(func(int) string { return `"` + fmt.Sprint(r.IntN(99)) + `"` }) + rows, true},
		{"samples", rows, false},
		{"all in quotes", line(func(int) string { return `"7"` }) + line(func(int) string { return `"5"` }), false},
		{"cumulative sums", line(func(j int) string { return fmt.Sprint(j + 1) }) + line(func(j int) string { return fmt.Sprint(j * j) }), false},
		{"one sample", line(func(j int) string { return fmt.Sprint(400 + 10*j) }), false},
		{"steps of three columns", "5,6,7\n0,3,1\n", false},
	} {
		x, names, err := ReadTable(t.Context(), testkit.Write(t, t.TempDir(), "x.csv", c.text))
		testkit.NoError(t, err)
		lines := strings.Count(c.text, "\n")
		if c.header {
			lines--
		}
		testkit.Equal(t, c.name, []any{x.Rows, names != nil}, []any{lines, c.header})
	}
}

// A model takes the columns that it was trained on by their names, and means in place of missing values.
func TestReaderForModel(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "x.csv", "path,b,a\nx/1.jpg,-99,1\nx/2.jpg,4,3\n")
	r := testkit.Must(OpenNamed(t.Context(), path))(t)
	testkit.NoError(t, r.Match([]string{"a", "b"}))
	r.Replace(&dataset.Absent{Values: []float64{-99}, Means: []float32{7, 8}})
	x := testkit.Must(r.All())(t)
	testkit.Equal(t, "features", x.Data, []float32{1, 8, 3, 4})
	_, id, _ := r.Sample(1)
	testkit.Equal(t, "name", id, "x/2.jpg")
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "c"}, `expected the columns of the features that the model was trained on, found none named "c"`},
		{[]string{"a"}, `found "b" as well. Take it out.`},
	} {
		r := testkit.Must(OpenNamed(t.Context(), path))(t)
		testkit.WantError(t, r.Match(c.names), c.want)
		testkit.NoError(t, r.Close())
	}
	r = testkit.Must(OpenNamed(t.Context(), testkit.Write(t, t.TempDir(), "y.csv", "x/1.jpg,2\n")))(t)
	if _, err := r.All(); err != nil && err != io.EOF {
		t.Error(err)
	}
	_, id, _ = r.Sample(0)
	testkit.Equal(t, "name without a header", id, "x/1.jpg")
}
