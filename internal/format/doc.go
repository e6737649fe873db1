// Package format writes tables, numbers and counts for people, in one style for every
// command.
package format
