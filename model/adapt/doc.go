// Package adapt refines the predictions for a batch of unlabelled samples by fitting clusters
// to them (transductive prediction). Only scores and features are needed, so it works on the
// scores of any classifier.
//
// The samples x_n, preprocessed, centred and of length 1 (see Normalize), are modelled as a
// mixture of one spherical Gaussian per candidate class z, with mean mu_z and precision tau:
//
//	p(x_n, z) ~ share_z exp(s_nz / T) exp(-tau/2 |x_n - mu_z|^2)
//
// s_nz is the classifier's score of the sample, log p0(z|x_n) for LAGO. A mean has the prior
// N(0, 1/(Shrinkage tau)), worth Shrinkage samples at the mean of the batch: a class with
// little mass cannot form a cluster from single samples. The shares have a Dirichlet prior,
// worth one sample per class. Fit finds the maximum a posteriori by EM. It maximises
//
//	sum_n log sum_z share_z exp(s_nz/T + tau (x_n mu_z - |mu_z|^2/2))
//	  + sum_z log share_z - Shrinkage tau/2 sum_z |mu_z|^2
//
// in alternating steps, starting from equal shares and mu = 0:
//
//	P[n,z]  = softmax over z of s_nz/T + tau (x_n mu_z - |mu_z|^2/2) + log share_z
//	share_z = (sum_n P[n,z] + 1) / (N + Z)
//	mu_z    = sum_n P[n,z] x_n / (sum_n P[n,z] + Shrinkage)
//
// P is the posterior given the parameters and the other two lines are the exact maximum of
// its lower bound, so no round lowers the objective (Dempster, Laird and Rubin 1977).
// With unit means and no shrinkage these are the updates of a von Mises-Fisher mixture; the
// shrinkage is what keeps absent classes from dividing the classes that are present.
// TransCLIP (Zanella et al., NeurIPS 2024) is a relative with text embeddings as prior.
package adapt
