// Package kernelalign is the method of Zhang and Koniusz, "Zero-Shot Kernel Learning"
// (CVPR 2018): a projection W (D x M) is learned by which a kernel is 1 between a
// sample and its class, and 0 between it and the other classes. The objective is
// the mean over the samples x, of the class c, of
//
//	(k(W'x, y_c) - 1)^2 + beta / (Z - 1) sum over z != c of k(W'x, y_z)^2,
//
// to which Ort adds the same with k(x, W y_z) in the place of k(W'x, y_z), and
// Orthogonality the penalty |W'W - I|^2 (of Frobenius) times its weight.
//
// Ort is the authors' way to orthogonality. |x - W y|^2 differs from |W'x - y|^2 by
// |x|^2 - |W'x|^2, which is the same for all classes, and by |W y|^2 - |y|^2, which is
// 0 where the columns of W are orthonormal: to ask for both kernels holds W to that,
// softly. To a kernel of the inner product, x'W y, the two are the same for any W,
// and Ort does nothing.
//
// Features are centred on the mean of the training samples and scaled to length 1.
// So are descriptions, on the mean of the training classes.
//
// This is written from the paper's abstract, which names the principle, the
// orthogonality, and the polynomial, the Gaussian and the Cauchy kernel, and from the
// program that the authors released, which is the Gaussian kernel with Ort: from there
// are the objective, the preparation of features and descriptions, RMSProp with its
// constants, the start of W, and the order in which classes score. What is ours:
//
//   - the constants of the other kernels, so that each is 1 between equal vectors of
//     length 1 (the program has none of them);
//   - the explicit penalty, which serves the kernels that Ort does nothing to;
//   - batches of several samples, where the program takes one a step;
//   - the mean of the descriptions, which the program takes over all classes, those
//     of the test too: here no class that is judged has a say in it.
//
// When to stop is for those to say who have classes to validate on.
package kernelalign
