// Package model holds the equations of LAGO (Atzmon & Chechik, "Probabilistic AND-OR
// Attribute Grouping for Zero-Shot Learning", UAI 2018): from the features of a sample to
// attribute probabilities, group scores and class probabilities,
//
//	X -> A -> G -> Z
//
// To read the model, start at wmachine.go: build. The map:
//
//	A[n,m]   = sigmoid(X W + b)                  linear, sigmoid        detectors.go
//	U, p[m]  descriptions of the classes, prior  Config.Describe        description.go
//	p[m] per group, which depends on Gamma       groupedPrior           prior.go
//	Gamma    = softmax over k of (zeta V[m,:])   softGroups             gamma.go
//	Uc, pc, Ac  none of the group                noneOf                 none_of_group.go
//	G[k,n,z] soft OR within a group (Eq. 5)      softOr                 softor.go, softor_fixed.go
//	log p(z|x) soft AND across groups (Eq. 4)    softAnd                softand.go
//	CXE, BXE (Eq. 6)                             crossEntropy,          loss.go
//	                                             attributeEntropy
//	|W|^2, |W U^T|^2 (Eq. 6)                     penalties              penalties.go
//	|Gamma - Gamma_sem|^2 (Eq. 6)                groupPrior             gamma.go
//	loss (Eq. 6)                                 build                  wmachine.go, vmachine.go
//
// There are two training graphs because what is fixed becomes a table. While W trains
// (WMachine), Gamma is fixed: Gamma U/p and Uc/pc are tables, computed once per phase,
// and U is no node of the graph. While V trains (VMachine), W is fixed: the detections A
// of all samples are computed once per phase, and U is a constant node, from which Uc and
// pc follow as Gamma changes. (The prior per group is the one p that also follows from
// Gamma; gradients by V include it.) With one graph for both, each gradient would also be
// computed for the parameter that does not train.
//
// Ops are fused (kernel.go): the same expressions in Gorgonia's stock ops are 8 to 10
// times slower, because they materialise several tensors of samples x K x Z. Tests
// compare each op, and the whole loss with its gradients, with a formulation in stock
// ops, with finite differences and with golden cases from an independent implementation.
// The gradients of |W|^2 and |W U^T|^2 are added inside the op linear, which writes the
// gradient by W once.
//
// Nothing but training needs a graph: evaluation, prediction and explanation share
// Parameters.Logits, Sigmoid and Forward, which run the same code as the ops do forward,
// in float32 to score and in float64 to explain.
//
// The package has some 3,000 lines because the ops, their gradients, the forward path and
// the explanations share unexported tables and kernels, which no user should see.
//
// A Classifier is any trained method, LAGO or a baseline (package baseline). Files
// and epochs are in package train.
package model
