// Package published holds what the paper and its authors' released program
// report: the tables of test accuracy and of the ablation, the analysis of the
// groups, the space of the search, and the settings of each released run with
// what every seed scored.
//
// It is a table, not a measurement: nothing here was computed by this program.
package published
