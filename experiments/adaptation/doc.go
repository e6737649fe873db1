// Package adaptation adapts the predictions of trained models to batches of unlabelled samples
// (see model/adapt), and chooses on validation classes whether and how.
//
// A choice is made on samples of the validation classes, which are treated as unlabelled,
// scored by models that were not trained on these classes. It is also made under stress:
// with absent and imbalanced classes and small batches. Adaptation is off where its gain on
// the validation classes may be chance, or where it loses with absent or imbalanced classes.
// The settings chosen are stored in model files.
package adaptation
