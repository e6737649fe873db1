// Package tuning chooses settings on the validation classes: by the paper's search for
// LAGO, by a grid for the baselines. It is shared by the questions that need tuned
// methods; it prints nothing.
package tuning
