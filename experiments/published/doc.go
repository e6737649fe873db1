// Package published has the numbers that the LAGO paper and its authors' released program
// report: test accuracy, the ablation, the analysis of the groups, the search space, and
// the settings and per-seed scores of each released run. This program computed none of
// them.
package published
