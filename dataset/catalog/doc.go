// Package catalog finds a data set by its name: one that the program makes, or a
// folder of the user's. Whatever it returns has passed dataset.Check.
//
// It knows where data sets are and says what is missing where one is not; how a
// folder is read is package xlsa17's.
package catalog
