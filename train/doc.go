// Package train drives the machines of package model: it alternates epochs of W
// and of V, each with an Adam of its own, judges every epoch, stops early, keeps
// the weights of the best epoch, and writes what it does into a run's folder.
//
// A Trainer is the loop alone. Run puts it into a folder, so that a finished
// run is never done twice and a killed one goes on from its checkpoint to the
// same bits. It knows one run at a time, and neither grids nor flags.
package train
