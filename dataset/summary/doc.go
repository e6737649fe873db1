// Package summary describes a data set in a form that people and programs can
// read: sizes, the classes of each part, the groups with their attributes, and
// how many samples each class has.
//
// It judges nothing: what must hold of a data set is in dataset.Check.
package summary
