// Package atomicfile writes files that appear whole or not at all: a reader, or
// a run that goes on after a crash, finds the old content or the new, never a
// part of it.
//
// It is not a lock. Two writers of one path do not mix their bytes, and the one
// that renames last wins.
package atomicfile
