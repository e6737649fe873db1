// Package atomicfile writes files atomically: after a crash, a reader finds the old
// content or the new, never a part of it.
//
// It is not a lock. Two writers of one path do not mix their bytes; the one that
// renames last wins.
package atomicfile
