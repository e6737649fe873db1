// Package model holds the equations of LAGO (Atzmon & Chechik, "Probabilistic AND-OR
// Attribute Grouping for Zero-Shot Learning", UAI 2018): from the features of a sample to
// attribute probabilities, group scores and class probabilities,
//
//	X -> A -> G -> Z
//
// To read the model, start at machines.go: buildW. The map:
//
//	A[n,m]   = sigmoid(X W + b)                  logits, sigmoid      parameters.go
//	U, p[m]  descriptions of the classes, prior  Config.Describe      describe.go
//	Gamma    = softmax over k of (zeta V[m,:])   softGroups           parameters.go
//	p[m] per group, which depends on Gamma       perGroupPrior        describe.go
//	Uc, pc, Ac  none of the group                noneOfClasses        noneof.go
//	G[k,n,z] soft OR within a group (Eq. 5)      softOr               softor.go
//	log p(z|x) soft AND across groups (Eq. 4)    softAnd              loss.go
//	CXE, BXE (Eq. 6)                             crossEntropy,        loss.go
//	                                             attributeEntropy
//	|W|^2, |W U^T|^2 (Eq. 6)                     penalties            parameters.go
//	|Gamma - Gamma_sem|^2, loss (Eq. 6)          Machine.addUp        machines.go
//
// There are two training graphs because what is fixed becomes a table. U is a constant, and W and V are nodes
// of both. While W trains (NewWMachine), V is fixed: Gamma, U/p, Uc and pc are nodes whose ops remember their
// values until the next phase begins. While V trains (NewVMachine), W is a constant of the phase: the
// detections A of all samples and BXE(a), which follow from it, are computed outside the graph before the
// phase begins, and are inputs; of W itself the graph has |W|^2 and |W U^T|^2, remembered. With one graph for
// both, each gradient would also be computed for the parameter that does not train. The node of the loss is
// Eq. 6, whole, and Gorgonia differentiates it. docs/graph-w.svg and docs/graph-v.svg are pictures of both.
//
// The group penalty, the weights of the loss and its sum are Gorgonia's own ops. The others are fused
// (kernel.go), because in Gorgonia's they take longer, with their gradients, by these factors (64 samples of
// CUB's size, gonum's BLAS):
//
//	S = X W + b                 a step of W takes 1.03 to 1.06 times as long: Gorgonia allocates the
//	                            gradient of W at each step
//	A = sigmoid(S)              4
//	Gamma                       2.6, and softmax is NaN where a row is far below the first number of V
//	Uc, pc, Ac                 14, with a tensor of samples x M x K
//	G, while W trains          14 for hard groups, 1.1 for learned ones
//	G, while V trains           1.1, as a subgraph for each group
//	log p(z|x)                  5
//	CXE                         1.3, and exp(log p + c) overflows, or softmax is NaN as for Gamma
//	BXE                        13
//	|W|^2, |W U^T|^2            a step of W takes 1.05 times as long, 1.5 where classes are many
//
// Tests compare the whole loss and its gradients with a formulation in stock ops, with finite differences and
// with golden cases from an independent implementation.
//
// Nothing but training needs a graph: evaluation, prediction and explanation share Parameters.Logits, Sigmoid
// and Forward, which run the same code as the ops do forward, in float32 to score and in float64 to explain.
// Describe finds the attributes that no candidate class describes, and groups of nothing else. Ops and
// Forward get matrices without them (described): their entries of A, b and, without a group penalty, V are
// not read, and those of W only in |W|^2 and |W U^T|^2.
//
// A trained model is a Pipeline: preprocessing, imputation, and a Classifier, which is LAGO
// or a baseline (package baseline). Files and epochs are in package train.
package model
