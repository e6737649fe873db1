// Package synclassifier is SynC, "Synthesized Classifiers for Zero-Shot Learning"
// (Changpinyo, Chao, Gong and Sha, CVPR 2016): the classifier of a class is a convex
// combination of the classifiers v_r of R phantom classes,
//
//	w_c = sum over r of s_cr v_r,    score(x, c) = w_c x,
//
// weighted by how close the class is to a phantom, with descriptions a_c and b_r,
//
//	s_cr = exp(-d(a_c, b_r)) / sum over r of exp(-d(a_c, b_r)),    d(a, b) = |a - b|^2 / sigma^2.
//
// The v_r are those for which the classifiers of the classes learned from are best,
//
//	min over v of  mean over samples of loss(w_1 x, ..., w_C x)  +  lambda/2 sum over c of |w_c|^2.
//
// As in the authors' program, samples are scaled to length 1 and descriptions to a
// length such that the median distance between two classes is 1, and there are no
// biases. The paper also learns the b_r; the authors write (IJCV 2020, "Classifier and
// Exemplar Synthesis for Zero-Shot Learning", note 3) that it hardly helps and mostly
// keep them, as this package does.
package synclassifier
