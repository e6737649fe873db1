//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios

package blas

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas"
)

// usual are the names that libraries go by, in the order in which they are
// tried.
func usual() []string {
	if runtime.GOOS == "darwin" {
		return []string{
			"libopenblas.dylib",
			"/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
			"/usr/local/opt/openblas/lib/libopenblas.dylib",
			"libmkl_rt.2.dylib",
			"libmkl_rt.dylib",
			"/System/Library/Frameworks/Accelerate.framework/Accelerate",
		}
	}
	return []string{"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so"}
}

// search opens the first of the usual libraries that works. Its error names
// each of them with what was wrong.
func search() (backend, error) {
	var why []string
	for _, name := range usual() {
		l, err := open(name)
		if err == nil {
			return l, nil
		}
		why = append(why, err.Error())
	}
	return nil, fmt.Errorf("no library found: %s", strings.Join(why, "; "))
}

// open loads a library by its path or, as the system's loader finds it, by its
// name. It stays loaded for the life of the process.
func open(name string) (backend, error) {
	handle, err := load(name)
	if err != nil {
		return nil, err
	}
	l := new(library)
	for _, entry := range []struct {
		name string
		to   *uintptr
	}{
		{"sgemm_", &l.single.gemm},
		{"sgemv_", &l.single.gemv},
		{"ssyrk_", &l.single.syrk},
		{"strsm_", &l.single.trsm},
		{"strmm_", &l.single.trmm},
		{"dgemm_", &l.double.gemm},
		{"dgemv_", &l.double.gemv},
		{"dsyrk_", &l.double.syrk},
		{"dtrsm_", &l.double.trsm},
		{"dtrmm_", &l.double.trmm},
	} {
		if *entry.to, err = purego.Dlsym(handle, entry.name); err != nil {
			return nil, fmt.Errorf("not a BLAS library: %w", err)
		}
	}
	l.product = identify(handle, name, l.double.gemm)
	if err := l.try(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

func load(name string) (uintptr, error) {
	const mode = purego.RTLD_NOW | purego.RTLD_LOCAL
	handle, err := purego.Dlopen(name, mode)
	if err != nil {
		return 0, err
	}
	core := betterCore(handle)
	if core == "" {
		return handle, nil
	}
	if err := purego.Dlclose(handle); err != nil {
		return 0, err
	}
	if err := os.Setenv(envCore, core); err != nil {
		return 0, err
	}
	handle, err = purego.Dlopen(name, mode)
	return handle, errors.Join(err, os.Unsetenv(envCore))
}

// envCore is the variable by which OpenBLAS takes its kernels, read as it loads.
const envCore = "OPENBLAS_CORETYPE"

// betterCore names the kernels that an OpenBLAS should be loaded with again, or
// nothing if it did well by itself. It knows processors by their model, and runs
// one that came after it with the kernels of a Prescott of 2004: half the speed
// or less.
func betterCore(handle uintptr) string {
	var core func() string
	if os.Getenv(envCore) != "" || !bind(handle, "openblas_get_corename", &core) || core() != "Prescott" {
		return ""
	}
	switch x := cpu.X86; {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL:
		return "SkylakeX"
	case x.HasAVX2 && x.HasFMA:
		return "Haswell"
	}
	return ""
}

// try multiplies two small matrices, so that a library whose calling convention
// is another one is found out here and not in a result.
func (l *library) try() error {
	a := []float64{1, 2, 3, 4, 5, 6} // 2 x 3
	b := []float64{1, 0, 2, 1, 0, 3} // 3 x 2
	c := []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	l.double.multiply(blas.NoTrans, blas.NoTrans, 2, 2, 3, 2, a, 3, b, 2, 0, c, 2)
	for i, want := range []float64{10, 22, 28, 46} {
		if c[i] != want {
			return errors.New("not a usable BLAS library: a product of 2 x 3 and 3 x 2 matrices came out wrong")
		}
	}
	return nil
}
