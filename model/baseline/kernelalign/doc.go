// Package kernelalign is kernel alignment (Zhang and Koniusz, "Zero-Shot Kernel Learning",
// CVPR 2018). It learns a projection W (D x M) by which a kernel k is 1 between a sample
// and its class and 0 between the sample and the other classes:
//
//	min over W of  mean over samples x, of class c, of
//	  (k(W'x, y_c) - 1)^2 + beta / (Z - 1) sum over z != c of k(W'x, y_z)^2    (1)
//	  + (1) with k(x, W y_z) in place of k(W'x, y_z)                           (2)
//	  + orthogonality |W'W - I|^2                                              (3)
//
// Features x are centred on the mean of the training samples and scaled to length 1.
// Descriptions y are centred on the mean of the training classes and scaled to length 1.
//
// Term (2), the setting ort, is the authors' soft constraint on W: |x - W y|^2 differs
// from |W'x - y|^2 by |x|^2 - |W'x|^2, which is the same for all classes, and by
// |W y|^2 - |y|^2, which is 0 if the columns of W are orthonormal. Kernels of the inner
// product x'W y are the same in both spaces, and (2) has no effect.
//
// The sources are the paper's abstract, which names the principle, the orthogonality and
// the polynomial, Gaussian and Cauchy kernels, and the authors' released program, which
// has the Gaussian kernel with (2). The objective, the normalisation of features and
// descriptions, RMSProp with its constants, the initial W and the ranking of the classes
// follow that program. Ours are:
//
//   - the constants of the other kernels, chosen so that each is 1 between equal vectors
//     of length 1;
//   - the penalty (3), for the kernels on which (2) has no effect;
//   - minibatches, where the program takes one sample per step;
//   - the mean of the descriptions over training classes only, where the program includes
//     the test classes.
package kernelalign
