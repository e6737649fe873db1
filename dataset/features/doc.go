// Package features reads matrices of features, a row a sample, from the files in
// which they come, block by block, so that no more of them need be in memory than
// is worked on:
//
//	.npy    a NumPy array, samples x D, of float16, float32 or float64, in C or
//	        Fortran order and any byte order; as numpy.save writes it
//	.csv    numbers parted by commas, a line a sample, with or without a line of
//	        names above them
//	.mat    the variable features, D x samples, of a MATLAB v5 file, as in the
//	        xlsa17 layout; this one is held in memory whole
//
// Values are given as float32, whatever they are stored as, and must be finite.
// What a file says of its own size is compared with the size that it has before
// memory is taken for it.
//
// It does not know which class a sample is of, nor what a data set is: see package
// openlayout.
package features
