// Package version reads the versions of the program and of the libraries that can change
// its numbers from the binary, for the record of a run.
package version
