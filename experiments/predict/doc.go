// Package predict predicts the classes of samples with a trained model.
//
// Samples stream through in blocks: one block is read while another is scored and a
// third is written, so memory does not grow with the number of samples. Package
// candidates gathers the classes to choose from; package evaluation measures accuracy,
// and package explain says which attributes led to a prediction.
package predict
