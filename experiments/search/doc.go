// Package search prints and stores what a search of settings found. The search itself
// is in package tuning, which the comparison uses too.
package search
