// Package tuning chooses settings on the validation classes, by the same search for LAGO
// and for every baseline, and evaluates what was chosen. It is shared by the questions that
// need tuned methods; it prints nothing.
package tuning
