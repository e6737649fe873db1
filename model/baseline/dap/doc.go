// Package dap has the two methods of Lampert, Nickisch and Harmeling ("Learning To Detect
// Unseen Object Classes by Between-Class Attribute Transfer", CVPR 2009, and
// "Attribute-Based Classification for Zero-Shot Visual Object Categorization", TPAMI
// 2014):
//
//   - DAP, direct attribute prediction: a classifier p(a_m|x) for each attribute;
//   - IAP, indirect attribute prediction: a classifier p(y|x) of the training classes, and
//     p(a_m|x) = sum over y of p(a_m|y) p(y|x).
//
// Both score a class by its binary attributes a_m^z in {0, 1}, its description above a
// threshold:
//
//	p(z|x) ~ product over m of p(a_m = a_m^z | x) / p(a_m = a_m^z).
//
// The classifiers minimise |w|^2 / 2 + c (sum over samples of the log loss). Logistic
// regression is ours: its probabilities need no calibration, which the support vector
// machines of 2009 do. LAGO with singleton groups and binary descriptions is DAP
// (supplement D.4 of its paper); a test compares the two.
//
// An attribute that all training classes have, or none of them, cannot be learned. It
// gets p(a_m|x) = p(a_m) = 1/2 and has no effect.
package dap
