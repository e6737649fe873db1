// Package table reads CSV files: those of data sets, of class descriptions and of
// features. Reader returns one record at a time; Table holds a whole file whose first
// line names the columns, and reports each problem with its file, line and column to an
// invalid.List. Probability reads one entry of a class description.
//
// A byte order mark, Windows line ends, blank lines and space around cells are ignored.
// The length of a line is bounded, so that no input claims memory without end.
package table
