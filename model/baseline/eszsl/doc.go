// Package eszsl is ESZSL (Romera-Paredes and Torr, "An embarrassingly simple approach to
// zero-shot learning", ICML 2015): a bilinear compatibility in closed form,
//
//	W = (X'X + gamma I)^-1 X'Y U (U'U + lambda I)^-1,    score(x, z) = x' W u_z,
//
// with the features X (samples x D), the one-hot classes Y (samples x Z) and their
// descriptions U (Z x M). The LAGO paper compares itself with ESZSL in most detail: K = 1
// approximates it (section 3.4), and supplement C measures noise against it.
//
// The paper defines Y with -1 and 1. The program of its authors uses 1 and 0, as do the
// authors of LAGO, whose accuracy ours is compared with, and this package.
package eszsl
