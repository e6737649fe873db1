// Package durable makes names of files and folders last: a rename is done when it
// is on disk, not only when the system has heard of it.
//
// Content is not its business; who renames a file syncs it first.
package durable
