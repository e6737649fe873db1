// Package split divides the classes of a data set into train, val and test, and
// tells what leaks from one part into another: classes of the same name but for case
// or a number before it, classes described alike, and samples that are in two parts.
// Any of these lets a model name a class that it was not to know.
//
// It can't tell which classes the network knew that the features are from: a class
// of ImageNet is none that such features have never seen, whatever part it is in.
package split
