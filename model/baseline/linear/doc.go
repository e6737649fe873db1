// Package linear fits linear classifiers, W (K x D) and optional biases b (K), to the
// minimum of
//
//	mean over samples of loss(W x + b)  +  penalty/2 |W|^2
//
// for a convex differentiable loss, with L-BFGS of gonum/optimize in float64. Package dap
// fits classifiers of attributes and classes with it, package synclassifier those that
// SynC combines. Scoring is baseline.Project.
package linear
