// Package preprocess changes the coordinates of the features that detectors are
// trained on, by an affine map fitted on the samples that one trains on. Adam's
// steps depend on the coordinates, and so does what it finds in a few epochs;
// whitened with a ridge, it moves in the metric in which ridge regression works.
//
// The paper has none. A Transform belongs to the model that was trained behind it, and
// is stored with it. The package neither selects features nor reduces them.
package preprocess
