// Package dataset defines a zero-shot data set: the features and class of each sample, a
// description of each class by attributes, and a split of the classes into those that are
// trained on and those that are only described. Check holds for every data set.
//
// The packages below it make one: xlsa17 and openlayout read folders, glyphs and simulate
// generate data, and catalog finds any of them by name.
//
// It does not know models. What p(z|x) makes of a description, and how missing entries
// are imputed, is in package model.
package dataset
