// Package version reports the versions of the program and of its numeric libraries, for
// the record of a run.
package version
