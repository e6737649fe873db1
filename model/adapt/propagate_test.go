package adapt

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// F is the closed form, with the graph made by definition.
func TestPropagate(t *testing.T) {
	const n, dims, classes, temperature = 40, 6, 3, 2.0
	r := rand.New(rand.NewPCG(5, 0))
	b := Block{X: dataset.NewMatrix[float32](n, dims), Scores: dataset.NewMatrix[float32](n, classes)}
	for i := range b.X.Data {
		b.X.Data[i] = float32(r.NormFloat64())
	}
	for i := range b.Scores.Data {
		b.Scores.Data[i] = float32(3 * r.NormFloat64())
	}
	Normalise([]Block{b})
	w := mat.NewDense(n, n, nil)
	similarity := func(i, j int) (s float64) {
		for d, v := range b.X.Row(i) {
			s += float64(v) * float64(b.X.Row(j)[d])
		}
		return s
	}
	for i := range n {
		for j := range n {
			s, nearer := similarity(i, j), 0
			for other := range n {
				if other != i && similarity(i, other) > s {
					nearer++
				}
			}
			if i != j && s > 0 && nearer < Neighbours {
				w.Set(i, j, s)
				w.Set(j, i, s)
			}
		}
	}
	var system, want mat.Dense
	system.CloneFrom(w)
	for i := range n {
		for j := range n {
			value := -Spread * w.At(i, j) / math.Sqrt(mat.Sum(w.RowView(i))*mat.Sum(w.RowView(j)))
			if i == j {
				value++
			}
			system.Set(i, j, value)
		}
	}
	p := mat.NewDense(n, classes, nil)
	for i := range n {
		var sum float64
		for _, s := range b.Scores.Row(i) {
			sum += math.Exp(float64(s) / temperature)
		}
		for z, s := range b.Scores.Row(i) {
			p.Set(i, z, (1-Spread)*math.Exp(float64(s)/temperature)/sum)
		}
	}
	if err := want.Solve(&system, p); err != nil {
		t.Fatal(err)
	}
	f := testkit.Must(Propagate(b, temperature))(t)
	for i, v := range f.Data {
		testkit.Near(t, "F", float64(v), want.At(i/classes, i%classes), 1e-4)
	}
	if _, err := Propagate(b, 0); err == nil {
		t.Error("temperature 0 is not refused")
	}
}
