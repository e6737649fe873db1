// Package split divides the classes of a data set into train, val and test, and finds what
// leaks between them: classes whose names differ only in case, punctuation or a leading
// number such as "001.", classes with the same description, and samples that are in two
// subsets. Each of these gives away what a model must not know of an unseen class.
//
// It does not know which classes the network that computed the features was trained on.
package split
