// Package invalid describes bad input: a flag, a file, a configuration key or an
// argument that the program cannot use. Error says where the input came from, what was
// expected, what was found and what to do about it; List collects the errors of one
// file; OneOf parses a name and suggests the nearest valid ones.
//
// Failures that are not caused by input, such as a full disk, are not its subject.
package invalid
