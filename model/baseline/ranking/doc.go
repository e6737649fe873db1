// Package ranking is the three methods that learn a bilinear compatibility of samples
// and classes,
//
//	F(x, z) = x W u_z,
//
// by ranking the class of a sample above the others:
//
//   - ALE, attribute label embedding (Akata, Perronnin, Harchaoui and Schmid, "Label-
//     Embedding for Attribute-Based Classification", CVPR 2013, and "Label-Embedding
//     for Image Classification", TPAMI 2016): WeightedRanking;
//   - SJE, structured joint embedding (Akata, Reed, Walter, Lee and Schiele,
//     "Evaluation of Output Embeddings for Fine-Grained Image Classification",
//     CVPR 2015): StructuredHinge;
//   - DeViSE (Frome et al., "DeViSE: A Deep Visual-Semantic Embedding Model", NIPS
//     2013), of which only the map is learned, on features as they are:
//     PairwiseHinge.
//
// They differ in the loss of a sample and in nothing else. Where the authors sample
// terms of a loss, all of them are summed, as Xian, Lampert, Schiele and Akata ("Zero-
// Shot Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly",
// TPAMI 2018, section 3.1) write the three; the table of the LAGO paper has its
// numbers from there.
//
// W is learned by stochastic gradient descent with a constant rate, one sample after
// the other. There is no regulariser: it is stopping early that regularises, and
// when to stop is for those to say who have classes to validate on.
package ranking
