// Package npy reads the header of a NumPy array: the name of the type of its values,
// their order, its shape, and where the values begin. The format is that of NumPy's
// documentation (numpy.lib.format, versions 1.0 to 3.0), and a header in any other
// form is an error. The libraries for it that were tried end in a panic or in zeros
// on damaged files and know no float16; what is needed of the format takes less than
// guarding one of them would.
//
// It reads no values and writes nothing. Which types and shapes will do, and how
// values are decoded, is the user's to say: see packages features and integers.
package npy
