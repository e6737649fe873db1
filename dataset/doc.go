// Package dataset says what a zero-shot data set is: features of samples, one
// class each, a description of every class by attributes, and a split of the
// classes into those that are trained on and those that are only described.
//
// The packages below it make one: xlsa17 reads folders in the layout of the
// release of Xian et al., openlayout those of .npy and .csv files, glyphs draws
// letters, simulate draws numbers, and catalog finds any of them by name. Check
// holds for all of them.
//
// It knows nothing of models: what a description means for p(z|x), and what
// stands in for an attribute that a class leaves undescribed, is said in
// package model.
package dataset
