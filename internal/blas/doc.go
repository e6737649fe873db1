// Package blas decides who multiplies matrices: an optimised BLAS library of the
// machine where there is one, gonum's pure Go where there is none.
//
// OpenBLAS, MKL or Accelerate is opened at run time through purego, so that
// programs build without cgo and run on machines that have none of them. Use,
// called once in main and in TestMain, sets the choice for gonum (blas32,
// blas64 and what builds on them, such as mat and lapack64) and for Gorgonia
// with its tensors.
//
// The routines a library takes over are GEMM, SYRK, TRSM, TRMM and GEMV, in both
// precisions: the products of the model and what a Cholesky factorisation
// leans on. Everything else, products too small to pay for the call, and wrong
// arguments go to gonum, which panics as it documents.
//
// A library keeps to one thread; large products are cut into parts that goroutines
// share (package parallel). The cuts depend on the sizes alone, so the same machine
// and library give the same bits for any number of workers. Another library may
// round otherwise; so may NaN and infinity in one operand against zero in the
// other, which gonum skips.
//
// It is not a BLAS interface: callers use gonum's.
package blas
