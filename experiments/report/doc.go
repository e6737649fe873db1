// Package report shows what a folder of runs holds: one HTML page that opens anywhere
// without a network, with figures that can also be written to files.
//
// It reads what runs logged and what compare, noise and partial stored, and trains
// nothing. A configuration is a set of runs that differ in their seed only; runs of
// different configurations are never averaged. A section without data suggests the command that produces them.
package report
