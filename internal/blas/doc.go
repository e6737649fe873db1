// Package blas multiplies matrices with an optimised BLAS library of the machine if
// there is one, and with gonum's pure Go otherwise.
//
// OpenBLAS, MKL or Accelerate is opened at run time through purego, so programs build
// without cgo and run on machines that have none of them. Use, called once in main and
// in TestMain, sets the choice for gonum (blas32, blas64, mat, lapack64) and for
// Gorgonia and its tensors. Callers use gonum's interfaces.
//
// The library computes GEMM and GEMV in both precisions, and in float64 SYRK, TRSM and
// TRMM, which a Cholesky factorisation needs. Everything else, products too small to
// pay for the call, and wrong arguments go to gonum, which panics as it documents.
//
// A library keeps to one thread; large products are cut into parts that goroutines
// share (package parallel). The cuts depend on the sizes alone, so results are
// bit-identical for any number of workers on the same machine and library. Other
// libraries may round differently and, unlike gonum, multiply zeros by NaN and infinity.
package blas
