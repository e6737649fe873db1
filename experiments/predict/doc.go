// Package predict names samples by a trained model, among classes that it knows by
// the data set or that a file describes.
//
// Samples stream through: blocks are read, scored, ranked and written side by side,
// in memory that does not grow with their number. What a model is worth is not asked
// here but in package experiments (Evaluation), nor why it names a class (package
// explain).
package predict
