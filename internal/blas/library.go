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
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lago-train/lago-train/internal/parallel"
)

func init() { search, open = searchUsual, openLibrary }

// library is a BLAS library behind gonum's interfaces, and gonum itself for what the
// library does not compute.
type library struct {
	gonum.Implementation
	single routines[float32] // gemm only
	double routines[float64]

	description Info
}

func (l *library) info() Info { return l.description }

// Below these numbers of multiplications gonum is faster than a call into a library,
// which takes about 100 ns.
const (
	leastProduct = 1 << 7
	leastVector  = 1 << 14
)

func pays(m, n, k int) bool { return m*n*k >= leastProduct }

func (l *library) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int,
) {
	if !l.single.product(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		l.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

func (l *library) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int,
) {
	if !l.double.product(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		l.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dgemv computes y = alpha op(A) x + beta y.
func (l *library) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64,
	incX int, beta float64, y []float64, incY int,
) {
	sizeY, sizeX := stored(t, m, n)
	if m*n < leastVector || !transpose(t) || !matrix(m, n, lda, len(a)) || !vector(sizeX, incX, len(x)) ||
		!vector(sizeY, incY, len(y)) {
		l.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	f := l.double.frame(m, n, 0, alpha, a, lda, x, incX, beta, y, incY)
	f.transA = flipTranspose(t)
	f.addresses = [15]uintptr{
		address(&f.transA), address(&f.n), address(&f.m),
		address(&f.alpha), address(f.a), address(&f.lda), address(f.b), address(&f.ldb),
		address(&f.beta), address(f.c), address(&f.ldc),
		charLength,
	}
	l.double.call(l.double.gemv, f, 12)
}

// Dsyrk computes one triangle of C = alpha op(A) op(A)' + beta C.
func (l *library) Dsyrk(u blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int,
) {
	rowsA, colsA := stored(t, n, k)
	if !pays(n, n, k) || !uplo(u) || !transpose(t) || !matrix(rowsA, colsA, lda, len(a)) ||
		!matrix(n, n, ldc, len(c)) {
		l.Implementation.Dsyrk(u, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	f := l.double.frame(0, n, k, alpha, a, lda, nil, 0, beta, c, ldc)
	f.uplo, f.transA = flipUplo(u), flipTranspose(t)
	f.addresses = [15]uintptr{
		address(&f.uplo), address(&f.transA), address(&f.n), address(&f.k),
		address(&f.alpha), address(f.a), address(&f.lda),
		address(&f.beta), address(f.c), address(&f.ldc),
		charLength, charLength,
	}
	l.double.call(l.double.syrk, f, 12)
}

// Dtrsm computes B = alpha op(A)^-1 B, or B = alpha B op(A)^-1.
func (l *library) Dtrsm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int,
) {
	if !l.double.triangular(l.double.trsm, s, u, t, d, m, n, alpha, a, lda, b, ldb) {
		l.Implementation.Dtrsm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrmm computes B = alpha op(A) B, or B = alpha B op(A).
func (l *library) Dtrmm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int,
) {
	if !l.double.triangular(l.double.trmm, s, u, t, d, m, n, alpha, a, lda, b, ldb) {
		l.Implementation.Dtrmm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
	}
}

const (
	// leastSplit is the number of multiplications from which a product is worth more than one goroutine.
	leastSplit = 1 << 22
	// partLength is the least number of rows or columns of the result in one part, so
	// that packing the other operand again for each costs little.
	partLength = 128
	mostParts  = 16
)

// product computes C = alpha op(A) op(B) + beta C in parts along its longer side, in parallel. The number of
// parts depends on the sizes alone, so that results do not depend on the number of workers. It reports false
// if gonum is to compute it.
func (r *routines[T]) product(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int,
	beta T, c []T, ldc int,
) bool {
	rowsA, colsA := stored(tA, m, k)
	rowsB, colsB := stored(tB, k, n)
	if !pays(m, n, k) || !transpose(tA) || !transpose(tB) || !matrix(rowsA, colsA, lda, len(a)) ||
		!matrix(rowsB, colsB, ldb, len(b)) || !matrix(m, n, ldc, len(c)) {
		return false
	}
	p := 1
	if m*n*k >= leastSplit {
		p = min(max(max(m, n)/partLength, 1), mostParts)
	}
	if p == 1 {
		r.multiply(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return true
	}
	parallel.For(p, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if m >= n { // rows of A and C
				from, to := i*m/p, (i+1)*m/p
				r.multiply(tA, tB, to-from, n, k, alpha, a[from*pick(tA == blas.NoTrans, lda, 1):], lda,
					b, ldb, beta, c[from*ldc:], ldc)
			} else { // columns of B and C
				from, to := i*n/p, (i+1)*n/p
				r.multiply(tA, tB, m, to-from, k, alpha, a, lda, b[from*pick(tB == blas.NoTrans, 1, ldb):],
					ldb, beta, c[from:], ldc)
			}
		}
	})
	return true
}

// routines are the entry points of one precision. They are the Fortran ones: each of
// their arguments is a pointer, so that a call needs no floating-point register, which
// purego would fill through reflection and with allocations.
//
// Fortran stores matrices by column. A row-major matrix read by column is its transpose, so each method
// requests the transposed product, which then stands row by row in the result.
type routines[T float32 | float64] struct {
	gemm, gemv, syrk, trsm, trmm uintptr

	frames sync.Pool // of *frame[T]
}

// frame is the memory of one call: the scalars, which are passed by address, the operands, and the list of
// all addresses. It is on the heap, which does not move, and so is all that a, b and c point to.
//
// Sizes have 64 bits, low half first on the architectures of this file, so that libraries
// with 32-bit and with 64-bit integers both read them.
type frame[T float32 | float64] struct {
	side, uplo, transA, transB, diag byte
	m, n, k, lda, ldb, ldc           int64
	alpha, beta                      T
	a, b, c                          *T

	addresses [15]uintptr
}

// charLength is the hidden argument that Fortran compilers append for each
// character argument. C implementations leave it unread.
const charLength = 1

// frame returns a frame of sizes, scalars and operands, 0 for those that a routine does not take.
func (r *routines[T]) frame(m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int,
) *frame[T] {
	f, ok := r.frames.Get().(*frame[T])
	if !ok {
		f = new(frame[T])
	}
	f.m, f.n, f.k, f.lda, f.ldb, f.ldc = int64(m), int64(n), int64(k), int64(lda), int64(ldb), int64(ldc)
	f.alpha, f.beta = alpha, beta
	f.a, f.b, f.c = unsafe.SliceData(a), unsafe.SliceData(b), unsafe.SliceData(c)
	return f
}

// call runs a routine on the addresses in f and puts f back.
func (r *routines[T]) call(routine uintptr, f *frame[T], arguments int) {
	purego.SyscallN(routine, f.addresses[:arguments]...)
	runtime.KeepAlive(f)
	f.a, f.b, f.c = nil, nil, nil
	r.frames.Put(f)
}

func address[V any](v *V) uintptr { return uintptr(unsafe.Pointer(v)) }

// multiply computes C = alpha op(A) op(B) + beta C, as C' = op(B)' op(A)'.
func (r *routines[T]) multiply(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int,
	beta T, c []T, ldc int,
) {
	f := r.frame(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	f.transA, f.transB = byte(tA), byte(tB)
	f.addresses = [...]uintptr{
		address(&f.transB), address(&f.transA),
		address(&f.n), address(&f.m), address(&f.k),
		address(&f.alpha), address(f.b), address(&f.ldb), address(f.a), address(&f.lda),
		address(&f.beta), address(f.c), address(&f.ldc),
		charLength, charLength,
	}
	r.call(r.gemm, f, 15)
}

// triangular runs r.trsm or r.trmm: B = alpha op(A)^-1 B or B = alpha op(A) B,
// or the same with A on the right. Transposed, A changes sides. It reports false if gonum is to compute it.
func (r *routines[T]) triangular(routine uintptr, s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m,
	n int, alpha T, a []T, lda int, b []T, ldb int,
) bool {
	k := pick(s == blas.Left, m, n) // rows of A
	if !pays(m, n, k) || !(s == blas.Left || s == blas.Right) || !uplo(u) || !transpose(t) ||
		!(d == blas.NonUnit || d == blas.Unit) || !matrix(k, k, lda, len(a)) || !matrix(m, n, ldb, len(b)) {
		return false
	}
	f := r.frame(m, n, 0, alpha, a, lda, b, ldb, 0, nil, 0)
	f.side, f.uplo = pick[byte](s == blas.Left, 'R', 'L'), flipUplo(u)
	f.transA, f.diag = byte(t), byte(d)
	f.addresses = [15]uintptr{
		address(&f.side), address(&f.uplo), address(&f.transA), address(&f.diag),
		address(&f.n), address(&f.m),
		address(&f.alpha), address(f.a), address(&f.lda), address(f.b), address(&f.ldb),
		charLength, charLength, charLength, charLength,
	}
	r.call(routine, f, 15)
	return true
}

func pick[V any](first bool, one, other V) V {
	if first {
		return one
	}
	return other
}

func flipTranspose(t blas.Transpose) byte { return pick[byte](t == blas.NoTrans, 'T', 'N') }
func flipUplo(u blas.Uplo) byte           { return pick[byte](u == blas.Upper, 'L', 'U') }

// The functions here check arguments against what gonum documents. If one returns false, the call goes to
// gonum, which computes or panics, so a library never reads or writes beyond a slice.

// matrix reports whether a row-major rows x cols matrix lies in its slice. Libraries
// take sizes as 32-bit integers.
func matrix(rows, cols, ld, length int) bool {
	return 0 < rows && 0 < cols && cols <= ld &&
		rows <= math.MaxInt32 && ld <= math.MaxInt32 &&
		(rows-1)*ld+cols <= length
}

func vector(n, inc, length int) bool { return matrix(n, 1, max(inc, -inc), length) }

func transpose(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func uplo(u blas.Uplo) bool { return u == blas.Upper || u == blas.Lower }

// stored returns the rows and columns in memory of A, where op(A) is rows x cols.
func stored(t blas.Transpose, rows, cols int) (int, int) {
	if t == blas.NoTrans {
		return rows, cols
	}
	return cols, rows
}

func usual() []string {
	if runtime.GOOS == "darwin" {
		return []string{
			"libopenblas.dylib", "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
			"/usr/local/opt/openblas/lib/libopenblas.dylib",
			"libmkl_rt.2.dylib", "libmkl_rt.dylib",
			"/System/Library/Frameworks/Accelerate.framework/Accelerate",
		}
	}
	return []string{"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so"}
}

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
