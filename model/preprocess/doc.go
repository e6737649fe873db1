// Package preprocess transforms features by a chain of steps, fitted on the training
// samples: signed square root, L2 normalisation, standardisation and ridge whitening. The
// paper uses none. Adam's steps depend on the coordinates, and so does its result after a
// few epochs; after ridge whitening, it descends in the metric of ridge regression. Square
// root and L2 normalisation reduce the weight of a few large activations.
//
// A Transform belongs to the model trained on its output and is saved with it. The
// package neither selects features nor reduces their number.
package preprocess
