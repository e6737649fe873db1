// Package preprocess transforms features by a chain of steps, fitted on the training
// samples: signed square root, L2 normalisation, standardisation and ridge whitening. The
// paper uses none. Adam scales each coordinate by itself, so after a few epochs its result
// depends on the basis of the features. Ridge whitening brings the directions of the features
// to a similar variance, so that they are learned at a similar rate. Square root and L2
// normalisation reduce the weight of a few large activations.
//
// A Transform belongs to the model trained on its output and is saved with it. The
// package neither selects features nor reduces their number.
package preprocess
