package features

import (
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// A model takes the columns that it was trained on by their names, and means in place of missing values.
func TestReaderForModel(t *testing.T) {
	path := testkit.Write(t, t.TempDir(), "x.csv", "path,b,a\nx/1.jpg,-99,1\nx/2.jpg,4,3\n")
	r := testkit.Must(Open(t.Context(), path, true))(t)
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
		r := testkit.Must(Open(t.Context(), path, true))(t)
		testkit.WantError(t, r.Match(c.names), c.want)
		testkit.NoError(t, r.Close())
	}
}
