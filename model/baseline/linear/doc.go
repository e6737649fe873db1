// Package linear fits linear classifiers, W (K x D) with biases b (K) or without: those
// that minimise
//
//	mean over samples of loss(W x + b)  +  penalty/2 |W|^2
//
// for a convex loss with a gradient. It is what methods have in common whose authors
// train such classifiers to the optimum: the classifiers of attributes of DAP and those
// of classes of IAP (package dap), and those that SynC synthesises others from (package
// synclassifier).
//
// The optimiser is L-BFGS of gonum/optimize, in float64. It knows no class, attribute or
// description: what a loss is of is for the caller to know.
package linear
