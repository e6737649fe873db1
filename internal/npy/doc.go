// Package npy reads and writes NumPy arrays, as numpy.load and numpy.save do (NumPy's
// documentation, numpy.lib.format, versions 1.0 to 3.0): matrices of float16, float32 or
// float64, and vectors of int32 or int64, little-endian and in C order. Other arrays are
// refused with the NumPy call that converts them. The declared shape is compared with the
// size of the file before memory is allocated.
//
// ReadIntegers also takes text files, because labels come in both forms.
package npy
