// Package checkup tells all that is wrong with a data set as a list that people and
// programs can read: what its reader finds in the files, else what dataset.Check
// finds in the data, by each division of the classes.
//
// It finds nothing itself: packages openlayout, xlsa17 and dataset do.
package checkup
