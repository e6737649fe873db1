// Package blas multiplies matrices with an optimised BLAS library of the machine if
// there is one, and with gonum's pure Go otherwise.
//
// OpenBLAS, MKL or Accelerate is opened at run time through purego, so programs build
// without cgo and run on machines that have none of them. With the build tag static no library
// is opened, and the program on Linux needs none of the system either. Use, called once in main and
// in TestMain, sets the choice for gonum (blas32, blas64, mat, lapack64) and for
// Gorgonia and its tensors. Callers use package matrix, Dot and AddScaled, or gonum's interfaces.
//
// The library computes GEMM in both precisions, and in float64 GEMV, SYRK, TRSM and TRMM, which a Cholesky
// factorisation needs. Everything else, products too small to pay for the call, and wrong arguments go to
// gonum, which panics as it documents.
//
// A library keeps to one thread; large products are cut into parts that goroutines
// share (package parallel). The cuts depend on the sizes alone, so results are
// bit-identical for any number of workers on the same machine and library. Other
// libraries may round differently and, unlike gonum, multiply zeros by NaN and infinity. Current and
// Versions are for the record of a run.
package blas

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// PureGo selects gonum's own routines.
const PureGo = "go"

// EnvLibrary is the environment variable that names a library.
const EnvLibrary = "LAGO_BLAS"

// Info describes what multiplies matrices, for the log and the record of a run.
type Info struct {
	Name    string `json:"name"`              // "OpenBLAS", "MKL", "Accelerate", "BLAS" or "gonum"
	Version string `json:"version,omitempty"` // as the library reports it
	Path    string `json:"path,omitempty"`    // or name of the library; empty for gonum
	Why     string `json:"why,omitempty"`     // why no library is in use
}

func (i Info) String() string {
	s := strings.TrimSpace(i.Name + " " + i.Version)
	if i.Path != "" {
		s += " (" + i.Path + ")"
	}
	if i.Why != "" {
		s += ": " + i.Why
	}
	return s
}

type backend interface {
	gorgonia.BLAS
	info() Info
}

// search opens the first of the usual libraries, and open one by its path or name. Builds for systems
// without purego, and those with the build tag static, open none.
var (
	search = func() (backend, error) { return open("") }
	open   = func(string) (backend, error) {
		return nil, fmt.Errorf("this build for %s/%s opens no libraries", runtime.GOOS, runtime.GOARCH)
	}
)

var current backend = pureGo{why: "blas.Use was not called"}

// Use sets the BLAS of the whole process: the shared library of a path or name, or PureGo. "" means
// $LAGO_BLAS and, if that is empty too, the first of the usual names that opens. It must not run while
// products do. A named library that cannot be used is an error and changes nothing. If none was named and
// none is found, gonum's routines are used and Info.Why says why.
func Use(library string) (Info, error) {
	var b backend
	var err error
	switch name := cmp.Or(library, os.Getenv(EnvLibrary)); name {
	case PureGo:
		b = pureGo{why: "pure Go was requested"}
	case "":
		if b, err = search(); err != nil {
			b = pureGo{why: err.Error()}
		}
	default:
		if b, err = open(name); err != nil {
			return Info{}, &invalid.Error{
				Where: "$" + EnvLibrary, Want: "a BLAS library, or " + PureGo, Got: name,
				Err: err, Hint: "Unset it to use the first library that is found.",
			}
		}
	}
	current = b
	blas32.Use(b)
	blas64.Use(b)
	gorgonia.Use(b)
	return b.info(), nil
}

// Current describes the BLAS that Use chose.
func Current() Info { return current.info() }

type pureGo struct {
	gonum.Implementation
	why string
}

func (g pureGo) info() Info { return Info{Name: "gonum", Why: g.why} }

// Float is a number that the routines multiply.
type Float interface{ float32 | float64 }

// Transpose says whether op(A) is A or its transpose.
type Transpose = blas.Transpose

// The two forms of an operand.
const (
	NoTrans = blas.NoTrans
	Trans   = blas.Trans
)

// Gemm computes C = alpha op(A) op(B) + beta C on row-major matrices, where op(A) is m x k and op(B) k x n.
func Gemm[T Float](tA, tB Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int,
) {
	switch a := any(a).(type) {
	case []float32:
		blas32.Implementation().Sgemm(tA, tB, m, n, k, float32(alpha), a, lda, any(b).([]float32), ldb,
			float32(beta), any(c).([]float32), ldc)
	case []float64:
		blas64.Implementation().Dgemm(tA, tB, m, n, k, float64(alpha), a, lda, any(b).([]float64), ldb,
			float64(beta), any(c).([]float64), ldc)
	}
}

// dotChunk is the length of the parts that Dot sums separately, so that the sum is the same
// for any number of workers.
const dotChunk = 1 << 13

// Dot returns the inner product of x and y. Parts are summed in the precision of T, and added in float64.
func Dot[T Float](x, y []T) float64 {
	if len(x) <= dotChunk {
		return dot(x, y)
	}
	parts := make([]float64, (len(x)+dotChunk-1)/dotChunk)
	parallel.For(len(parts), 4, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			end := min((p+1)*dotChunk, len(x))
			parts[p] = dot(x[p*dotChunk:end], y[p*dotChunk:end])
		}
	})
	var sum float64
	for _, p := range parts {
		sum += p
	}
	return sum
}

func dot[T Float](x, y []T) float64 {
	if x, single := any(x).([]float32); single {
		return float64(blas32.Implementation().Sdot(len(x), x, 1, any(y).([]float32), 1))
	}
	return blas64.Implementation().Ddot(len(x), any(x).([]float64), 1, any(y).([]float64), 1)
}

// AddScaled adds alpha x to y.
func AddScaled[T Float](y []T, alpha T, x []T) {
	switch x := any(x).(type) {
	case []float32:
		blas32.Implementation().Saxpy(len(x), float32(alpha), x, 1, any(y).([]float32), 1)
	case []float64:
		blas64.Implementation().Daxpy(len(x), float64(alpha), x, 1, any(y).([]float64), 1)
	}
}

// numericModules are the modules whose version may change a number.
var numericModules = []string{"gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum"}

// Versions returns versions by name: "go", "platform", "lago-train", the numeric libraries and,
// if the binary was built in a repository, "revision" and, as "true" or "false", "modified".
func Versions() map[string]string {
	v := map[string]string{"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["lago-train"] = info.Main.Version
	for _, s := range info.Settings {
		if name, ok := strings.CutPrefix(s.Key, "vcs."); ok && name != "time" && name != "vcs" {
			v[name] = s.Value
		}
	}
	for _, dep := range info.Deps {
		if slices.Contains(numericModules, dep.Path) {
			v[dep.Path] = dep.Version
		}
	}
	return v
}
