// Package inspect reports on data sets for people and programs: Check lists what is wrong
// with one, Summarize what it contains.
//
// The problems themselves are found by the packages that read data sets and by
// dataset.Check.
package inspect
