package blas

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/testkit"
)

// restore puts back what was in use when the test ends.
func restore(t *testing.T) {
	before := current
	t.Cleanup(func() {
		current = before
		blas32.Use(before)
		blas64.Use(before)
		gorgonia.Use(before)
	})
}

// inUse fails unless every user of BLAS in the process has b.
func inUse(t *testing.T, b backend) {
	t.Helper()
	for name, got := range map[string]any{
		"blas32":   blas32.Implementation(),
		"blas64":   blas64.Implementation(),
		"gorgonia": gorgonia.WhichBLAS(),
		"tensor":   tensor.WhichBLAS(),
	} {
		if got != any(b) {
			t.Errorf("%s uses a %T, want the %T that was chosen", name, got, b)
		}
	}
}

func TestUse(t *testing.T) {
	restore(t)
	t.Setenv(EnvLibrary, "absent") // the argument comes before the environment
	want := pureGo{why: "pure Go was requested"}
	testkit.Equal(t, "pure Go", testkit.Must(Use(PureGo))(t), Info{Name: "gonum", Why: want.why})
	inUse(t, want)

	t.Setenv(EnvLibrary, "")
	got := testkit.Must(Use(""))(t)
	inUse(t, current)
	testkit.Equal(t, "Use and Current", got, Current())
	if _, err := search(); err != nil { // a machine without a library
		if got.Name != "gonum" || got.Why != err.Error() {
			t.Errorf("info %+v, want gonum because %q", got, err)
		}
		return
	}
	t.Setenv(EnvLibrary, got.Path)
	if named := testkit.Must(Use(""))(t); named.Path == "" || named != got || named.Why != "" {
		t.Errorf("found %+v by its path, expected %+v", named, got)
	}
}

func TestUnusableLibrary(t *testing.T) {
	restore(t)
	noLibrary := testkit.Write(t, t.TempDir(), "libtext.so", "not a library")
	before := current
	unusable := map[string]string{"/no/such/libopenblas.so.0": "no/such", noLibrary: filepath.Base(noLibrary)}
	if runtime.GOOS == "linux" {
		unusable["libm.so.6"] = "not a BLAS library"
	}
	for name, want := range unusable {
		t.Setenv(EnvLibrary, name)
		testkit.Fails(Use(""))(t, "$"+EnvLibrary, name, want)
		if current != before {
			t.Error("an error of Use changed what is in use")
		}
	}
}

// The routines of both precisions agree with gonum's matrices, for any number of workers.
func TestRoutinesOfBothPrecisions(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	t.Run("float32", func(t *testing.T) { routinesAgree[float32](t, 1e-3) })
	t.Run("float64", func(t *testing.T) { routinesAgree[float64](t, 1e-12) })
}

func routinesAgree[T Float](t *testing.T, tolerance float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	wide := func(x []T) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
		}
		return y
	}
	a, b, c := normal[T](rng, 12), normal[T](rng, 20), normal[T](rng, 15)
	var want mat.Dense
	want.Mul(mat.NewDense(4, 3, wide(a)).T(), mat.NewDense(5, 4, wide(b)).T())
	want.Scale(2, &want)
	floats.AddScaled(want.RawMatrix().Data, 0.5, wide(c))
	Gemm(Trans, Trans, 3, 5, 4, 2, a, 3, b, 4, 0.5, c, 5)
	testkit.NearAll(t, "Gemm", c, want.RawMatrix().Data, tolerance)

	for _, n := range []int{0, 1, dotChunk, dotChunk + 1, 9*dotChunk + 5} {
		x, y := normal[T](rng, n), normal[T](rng, n)
		parallel.Limit(1)
		alone := Dot(x, y)
		testkit.Near(t, "Dot", alone, floats.Dot(wide(x), wide(y)), tolerance)
		parallel.Limit(3)
		testkit.Equal(t, fmt.Sprintf("Dot of %d numbers with three workers", n), Dot(x, y), alone)
		want := wide(y)
		floats.AddScaled(want, -2, wide(x))
		AddScaled(y, -2, x)
		testkit.NearAll(t, "AddScaled", y, want, tolerance)
	}
}

func normal[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}
