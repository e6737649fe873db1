// Package bilinear is what several methods come to: a bilinear map from features to
// descriptions,
//
//	score(x, z) = x W u_z,
//
// with the features x of a sample (D), the description u_z of a class (M), and a
// matrix W (D x M). The methods differ in how they find W, which is not done here:
// ESZSL solves for it (package eszsl), ALE, SJE and DeViSE learn it by ranking
// (package ranking).
package bilinear
