// Package candidates gathers the classes that a prediction chooses from: classes of a
// data set, and new ones that a file describes by the same attributes.
package candidates
