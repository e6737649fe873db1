// Package model holds the equations of LAGO (Atzmon & Chechik, UAI 2018): how the
// features of a sample become probabilities of attributes, these the scores of
// groups, and these the probability of a class,
//
//	X -> A -> G -> Z
//
// as graphs in Gorgonia. W and b (the detectors) and V (the grouping) are nodes
// to learn; the descriptions U of the classes at hand are constants. Three kinds
// of machine are compiled from the same ops: a WMachine differentiates by W and
// b, a VMachine by V, and a Detector followed by a Judge only looks forward.
//
// The files follow the model from left to right: detectors.go (A), groups.go
// (Gamma), noneof.go (the complement), softor.go and softor_frozen.go (G),
// softand.go (log p(z|x)), loss.go; description.go says what the classes are
// described by, and machine.go puts all of it together.
//
// A Classifier is what a trained method amounts to: given descriptions of any
// classes, it scores samples for them. The package knows no file, flag or epoch.
package model
