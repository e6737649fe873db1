// Package train trains the methods of package methods, LAGO and the baselines, in one loop:
// a run is evaluated after each epoch, stops early and keeps the weights of the best epoch.
//
// Fit trains a Trial in memory. Run trains it in its folder: a finished run is reused, and an
// interrupted one resumes from its checkpoint with bit-identical results. The package handles
// one run at a time; package lab schedules several.
package train
