// Package catalog finds a data set by its name: one that the program generates, or a
// folder below the data directory in either layout. Every data set that it returns
// satisfies dataset.Check.
//
// It does not read the files of a folder: see packages openlayout and xlsa17.
package catalog
