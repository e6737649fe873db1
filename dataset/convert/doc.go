// Package convert turns a data set of one folder layout into that of another, or one
// that the program makes into a folder, and proves that nothing was lost: it reads
// what it wrote and compares fingerprints before the folder appears.
//
// How a layout is read and written is the business of packages openlayout and xlsa17.
package convert
