// Package version tells which versions of the program and of the libraries that
// make its numbers are in the binary, for the record of a run.
package version
