// Package impute completes descriptions of classes that leave attributes out, as
// people do who describe a class by a handful of them.
//
// An attribute that is left out counts as what the described ones let one expect,
// by the classes that a model learned from. With Neutral, expectations stay within
// a group of attributes: a bird that is olive on the wings is hardly grey there, and
// of its bill nothing is said. A group of which nothing is said is the paper's
// "don't care": the class has it as the average class has, so that it speaks neither
// for the class nor against it. With Inferred, everything that is said of a class
// counts: a bird with olive wings has an olive back more often than others.
//
// It knows probabilities and groups of attributes, and no model: how p(z|x) follows
// from a description is said in package model.
package impute
