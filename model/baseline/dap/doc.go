// Package dap is attribute-based classification in its first form, the two methods of
// Lampert, Nickisch and Harmeling ("Learning To Detect Unseen Object Classes by
// Between-Class Attribute Transfer", CVPR 2009, and "Attribute-Based Classification
// for Zero-Shot Visual Object Categorization", TPAMI 2014):
//
//   - DAP, direct attribute prediction: a classifier for each attribute, p(a_m|x);
//   - IAP, indirect attribute prediction: a classifier between the classes learned
//     from, whose probabilities say how likely an attribute is,
//     p(a_m|x) = sum over y of p(a_m|y) p(y|x).
//
// Both name a class by the attributes that it has or has not, a_m^z in {0, 1}:
//
//	p(z|x) ~ product over m of p(a_m = a_m^z | x) / p(a_m = a_m^z).
//
// The classifiers are logistic regressions with an L2 penalty, at their optimum, whose
// probabilities need no calibration; those of 2009 are support vector machines, which
// do. LAGO becomes DAP where each attribute is a group of its own and descriptions are 0
// or 1 (supplement D.4 of its paper); a test holds the two to each other.
//
// An attribute that the classes learned from all have, or all lack, can't be learned.
// It counts as even odds, p(a_m|x) = p(a_m) = 1/2, and says nothing.
package dap
