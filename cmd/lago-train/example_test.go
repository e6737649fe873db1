package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/testkit"
)

var update = flag.Bool("update", false, "write the samples of docs/example, and the tables of docs/files.md")

// The samples of docs/example are drawn from its descriptions; -update writes them. A sample has
// each attribute with the probability p(a|z). Its features are a random linear map of these, with
// noise, cut off at zero as by a ReLU.
func TestSamplesOfTheExample(t *testing.T) {
	const samples, dims = 12, 32
	const noise = 2.5
	dir := "../../docs/example"
	d := testkit.Must(openlayout.ReadDescriptions(t.Context(), dir))(t)
	rng, u := rand.New(rand.NewPCG(20, 0)), d.Values()
	effects := make([]float64, u.Cols*dims)
	for i := range effects {
		effects[i] = rng.NormFloat64()
	}
	var features, labels strings.Builder
	labels.WriteString("class,id,test_seen\n")
	for z, class := range d.Classes {
		for n := range samples {
			x := make([]float64, dims)
			for m, p := range u.Row(z) {
				present := rng.Float64() < p
				for j := range x {
					if present {
						x[j] += effects[m*dims+j]
					}
				}
			}
			cells := make([]string, dims)
			for j, v := range x {
				cells[j] = fmt.Sprintf("%.2f", max(v+noise*rng.NormFloat64(), 0))
			}
			held := "no"
			if seen := z < 16; seen && n >= samples-2 {
				held = "yes"
			}
			fmt.Fprintln(&features, strings.Join(cells, ","))
			fmt.Fprintf(&labels, "%s,%s/%02d.jpg,%s\n", class, class, n+1, held)
		}
	}
	for name, want := range map[string]string{"features.csv": features.String(), "labels.csv": labels.String()} {
		path := filepath.Join(dir, name)
		if *update {
			testkit.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		}
		testkit.Equal(t, path, testkit.Read(t, path), want)
	}
}
