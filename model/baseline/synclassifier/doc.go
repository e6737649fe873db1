// Package synclassifier is SynC (Changpinyo, Chao, Gong and Sha, "Synthesized Classifiers
// for Zero-Shot Learning", CVPR 2016). The classifier of a class is a convex combination
// of the classifiers v_r of R phantom classes,
//
//	w_c = sum over r of s_cr v_r,    score(x, c) = w_c' x,
//
// weighted by the similarity of the descriptions a_c of the class and b_r of the phantom,
//
//	s_cr = exp(-d(a_c, b_r)) / sum over r of exp(-d(a_c, b_r)),    d(a, b) = |a - b|^2 / sigma^2.
//
// The phantoms are the training classes. The w_c of these minimise
//
//	mean over samples of 1/C sum over c of max(0, 1 - y_c w_c'x)^2  +  lambda/2 sum over c of |w_c|^2
//
// with y_c = 1 for the class of the sample, else -1: the loss "one versus other", that of
// SynC in the tables of Xian et al. (2018) and of the LAGO paper. The v_r follow by the
// pseudo-inverse of the similarities.
//
// As in the authors' program, samples are scaled to length 1, descriptions are scaled so
// that the median distance of two classes is 1, and there are no biases. The paper also
// learns the b_r; the authors report (IJCV 2020, "Classifier and Exemplar Synthesis for
// Zero-Shot Learning", note 3) that it hardly helps, and mostly keep them fixed.
package synclassifier
