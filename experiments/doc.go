// Package experiments asks questions of many runs: what a variant scores over
// seeds by the paper's protocol, and the grids, searches and tables that are made
// of such runs. It starts runs through package train and reads what they logged;
// it knows no equation and no flag.
package experiments
