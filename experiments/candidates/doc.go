// Package candidates gathers the classes that a prediction chooses from: classes of a
// data set, and new ones that a file describes by the same attributes.
//
// It knows nothing of models but the data set that a saved one was trained on.
package candidates
