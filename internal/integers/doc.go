// Package integers reads whole numbers that other programs wrote: labels of samples,
// or a list of classes. A file is an .npy of any integer type and byte order, or text
// with numbers parted by commas, spaces or lines.
//
// It does not know what the numbers stand for. Features and scores, which are
// floats, are package features' to read.
package integers
