// Package problems gathers what is wrong with the files of a data set, so that a
// reader can tell all of it at once without burying one cause under thousands of
// symptoms of another.
//
// It joins errors and knows nothing of what they are about.
package problems
