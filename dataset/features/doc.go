// Package features reads matrices of features, one row per sample, in blocks of rows, so
// that large files need not be held in memory:
//
//	.npy    a NumPy array, samples x D, of float16, float32 or float64, little-endian and
//	        in C order, as numpy.save writes it
//	.csv    numbers separated by commas, one line per sample, with or without a line of
//	        column names; also from standard input
//	.mat    the variable features, D x samples, of a MATLAB v5 file, as in the xlsa17
//	        layout; this one is held in memory
//
// Values are returned as float32 and must be finite.
//
// The package does not know the classes of the samples, nor what a data set is: see
// package openlayout.
package features
