// Package eszsl is ESZSL, "An embarrassingly simple approach to zero-shot learning"
// (Romera-Paredes and Torr, ICML 2015): a bilinear map from features to
// descriptions that is fitted in closed form,
//
//	W = (X'X + gamma I)^-1 X'Y U (U'U + lambda I)^-1,    score(x, z) = x W u_z,
//
// with the features X (samples x D), the classes Y (samples x Z, one-hot) and their
// descriptions U (Z x M). It is the method that the LAGO paper compares its own with
// in most detail: what K = 1 comes close to (section 3.4), and what noise is
// measured against (supplement B).
//
// Its paper writes Y with -1 and 1. The program of its authors has a one for the
// class and zeros elsewhere, and so have the authors of LAGO, whose number it is
// that ours is to be compared with; so does this package.
//
// It fits and scores. Which gamma and lambda serve is for those to find out who have
// classes to validate on: package experiments.
package eszsl
