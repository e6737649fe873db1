// Package train trains the methods of package methods, LAGO and the baselines, in one loop:
// a run is evaluated after each epoch, stops early and keeps the weights of the best epoch.
//
// Run trains a Trial in its folder: a finished run is reused, and an interrupted one resumes from
// its checkpoint with bit-identical results. Load reads its model. The package handles one run at a
// time; package lab schedules several.
package train
