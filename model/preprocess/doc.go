// Package preprocess fits affine transforms of the features on the training samples:
// standardisation and ridge whitening. The paper uses none. Adam's steps depend on the
// coordinates, and so does its result after a few epochs; after ridge whitening, it
// descends in the metric of ridge regression.
//
// A Transform belongs to the model trained on its output and is saved with it. The
// package neither selects features nor reduces their number.
package preprocess
