// Package train trains LAGO and the baselines. LAGO's epochs alternate between W and V,
// each with its own Adam; a run is evaluated after each epoch, stops early and keeps the
// weights of the best epoch.
//
// Run trains one Trial in its folder: a finished run is reused, and an interrupted one
// resumes from its checkpoint with bit-identical results. The package handles one run at
// a time; package lab schedules several.
package train
