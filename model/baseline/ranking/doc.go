// Package ranking has the three methods that learn a bilinear compatibility
//
//	F(x, z) = x' W u_z
//
// by ranking the class y of a sample above the other classes. They differ only in the
// loss of a sample, with the hinges h_z = max(0, margin + F(x, z) - F(x, y)):
//
//		DeViSE   sum over z != y of h_z
//		ALE      l_r / r  times that sum, where r counts the h_z > 0, and l_r = 1 + 1/2 + ... + 1/r
//		SJE      max over z != y of h_z
//
//	  - ALE, attribute label embedding: Akata, Perronnin, Harchaoui and Schmid, "Label-
//	    Embedding for Attribute-Based Classification", CVPR 2013, and "Label-Embedding
//	    for Image Classification", TPAMI 2016, section 3.2;
//	  - SJE, structured joint embedding: Akata, Reed, Walter, Lee and Schiele, "Evaluation
//	    of Output Embeddings for Fine-Grained Image Classification", CVPR 2015, section 3;
//	  - DeViSE: Frome et al., "DeViSE: A Deep Visual-Semantic Embedding Model", NIPS 2013,
//	    equation 1. Only the map is learned, on fixed features.
//
// The authors sample terms of these losses; here all terms are summed, as in Xian,
// Lampert, Schiele and Akata ("Zero-Shot Learning - A Comprehensive Evaluation of the
// Good, the Bad and the Ugly", TPAMI 2018, section 3.1), the source of the numbers in the
// LAGO paper.
//
// W is learned by stochastic gradient descent with a constant learning rate, one sample
// at a time, without a regulariser: early stopping regularises.
package ranking
