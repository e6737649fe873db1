// Package impute fills missing entries of class descriptions, as in descriptions that
// people write with a handful of attributes.
//
// A missing entry is predicted by linear regression on the described ones, with the means
// and shrunken correlations of the training classes:
//
//	E[u_m | u_d] = mean_m + c_md C_dd^-1 (u_d - mean_d).
//
// With Neutral, only the attributes of the same group are used: a bird with olive wings
// hardly has grey ones, and nothing follows for its bill. A group without any described
// entry gets the means, so that it is neither evidence for the class nor against it, the
// paper's "don't care". With Inferred, all described attributes are used: birds with olive
// wings often have an olive back.
package impute
