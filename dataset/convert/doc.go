// Package convert writes a data set as a folder in the open layout, and verifies that
// nothing was lost: the folder is read again, and appears only if the fingerprints with all
// splits of its classes agree.
//
// Package openlayout writes the files. Other layouts are read, not written.
package convert
