//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios && !static

package blas

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
)

func init() { search, open = searchUsual, openLibrary }

// usual returns the names of libraries, in the order in which they are tried.
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

// searchUsual opens the first of the usual libraries that works. Its error has the reason of each.
func searchUsual() (backend, error) {
	var why []string
	for _, name := range usual() {
		l, err := openLibrary(name)
		if err == nil {
			return l, nil
		}
		why = append(why, err.Error())
	}
	return nil, fmt.Errorf("no library found: %s", strings.Join(why, "; "))
}

// openLibrary loads a library by its path, or by its name as the system's loader finds it. It
// stays loaded until the process ends.
func openLibrary(name string) (backend, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err == nil && limit.Cur < leastAddresses {
		return nil, fmt.Errorf("%s: not used with an address space below %d kB (ulimit -v)", name,
			leastAddresses>>10)
	}
	handle, err := load(name)
	if err != nil {
		return nil, err
	}
	l := new(library)
	for name, to := range map[string]*uintptr{
		"sgemm_": &l.single.gemm, "dgemm_": &l.double.gemm, "dgemv_": &l.double.gemv,
		"dsyrk_": &l.double.syrk, "dtrsm_": &l.double.trsm, "dtrmm_": &l.double.trmm,
	} {
		if *to, err = purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("not a BLAS library: %w", err)
		}
	}
	l.description = identify(handle, name)
	if err := l.try(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

// leastAddresses is the address space in which a library is used, in bytes. OpenBLAS maps buffers
// for each thread that calls it, and where it cannot, retries without end: some product of a run then
// never ends. It cannot be stopped, nor found by a first product, which may well end.
const leastAddresses = 4 << 30

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
	if err := cmp.Or(purego.Dlclose(handle), os.Setenv(envCore, core)); err != nil {
		return 0, err
	}
	handle, err = purego.Dlopen(name, mode)
	return handle, errors.Join(err, os.Unsetenv(envCore))
}

// envCore is the variable that selects the kernels of OpenBLAS when it loads.
const envCore = "OPENBLAS_CORETYPE"

// betterCore returns the kernels that an OpenBLAS should be loaded with again, or "". It
// knows processors by their model, and runs one that is newer than itself with the
// kernels of a Prescott of 2004, at half the speed or less.
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

// try multiplies two small matrices, so that a library with another calling convention
// is found here and not by a wrong result.
func (l *library) try() error {
	a := []float64{1, 2, 3, 4, 5, 6} // 2 x 3
	b := []float64{1, 0, 2, 1, 0, 3} // 3 x 2
	c := []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	l.double.multiply(blas.NoTrans, blas.NoTrans, 2, 2, 3, 2, a, 3, b, 2, 0, c, 2)
	for i, want := range []float64{10, 22, 28, 46} {
		if c[i] != want {
			return errors.New("not a usable BLAS library: a product of 2 x 3 and 3 x 2 matrices was wrong")
		}
	}
	return nil
}

// identify describes a library and sets it up: on one thread, since products
// are split over goroutines, which parallel runs share. It was opened by name.
func identify(handle uintptr, name string) Info {
	i := Info{Name: "BLAS", Path: name}
	set := func(function string, value int32) {
		var f func(int32)
		if bind(handle, function, &f) {
			f(value)
		}
	}
	var config func() string
	var versionString func(to *byte, size int32)
	switch {
	case bind(handle, "openblas_get_config", &config):
		i.Name = "OpenBLAS"
		i.Version = strings.TrimPrefix(strings.TrimSpace(config()), "OpenBLAS ")
		set("openblas_set_num_threads", 1)
	case bind(handle, "MKL_Get_Version_String", &versionString):
		i.Name = "MKL"
		text := make([]byte, 256)
		versionString(&text[0], int32(len(text)))
		i.Version = strings.TrimSpace(unix.ByteSliceToString(text))
		set("MKL_Set_Num_Threads", 1)
		// Results that do not depend on the alignment of the operands. This must come before any product.
		const cbwrAuto = 2 // MKL_CBWR_AUTO of mkl_types.h: the fastest code of this processor
		set("MKL_CBWR_Set", cbwrAuto)
	case strings.Contains(name, "Accelerate"):
		i.Name = "Accelerate"
	}
	return i
}

// bind makes *fn call the named function of the library, if there is one.
func bind(handle uintptr, name string, fn any) bool {
	address, err := purego.Dlsym(handle, name)
	if err != nil {
		return false
	}
	purego.RegisterFunc(fn, address)
	return true
}
