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

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
)

// Prior says what p(a_m) is.
type Prior string

// The two priors of the paper's ablation, and one between them.
const (
	Uniform      Prior = "uniform"       // the mean over classes and attributes
	PerAttribute Prior = "per-attribute" // the mean over classes
	// the mean over classes and, weighted by Gamma, over the attributes of the group
	PerGroup Prior = "per-group"
)

// Priors lists the priors.
var Priors = []Prior{Uniform, PerAttribute, PerGroup}

// Complement says what Ac, the probability p(ac_k|x) of the paper's complementary
// attribute, "none of the group", is.
type Complement string

// The two complements of the paper's ablation, and none. Without one, a single group of
// all attributes is a network of two layers (supplement D.4).
const (
	Const        Complement = "const"    // Ac = 1
	DeMorgan     Complement = "demorgan" // Ac = prod_m (1 - Gamma[m,k] A[m])
	NoComplement Complement = "none"     // Ac = 0
)

// Complements lists the complements.
var Complements = []Complement{Const, DeMorgan, NoComplement}

// Config is one model of the family. A weight of 0 leaves its term out of the loss.
type Config struct {
	Variant    Variant    `json:"variant"`
	Prior      Prior      `json:"prior"`
	Complement Complement `json:"complement"`
	Zeta       float64    `json:"zeta"` // Gamma = softmax(zeta V); from about 1000 on, exactly one-hot
	K          int        `json:"k"`    // groups of k-soft; the other variants take theirs from the data
	// FreezePrior keeps p(a_m) as it was in training, the mean over the train classes, so that no candidate
	// changes the scores of another.
	FreezePrior bool `json:"freeze_prior"`
	// Smoothing is s of s + (1 - 3 s) p, which each description p is replaced by, after imputation: label
	// smoothing, from 0 to below 1/3. With 0.1, yes is 0.8 and no is 0.1. Without, a class that has an
	// attribute of a group is nearly ruled out where its detector fails. In U of semantic variants no
	// is 0.3 s, and all attributes of a group of which a class has none share 1 - s, see scaleGroups.
	Smoothing float64 `json:"smoothing"`

	Alpha  float64 `json:"alpha"`  // weight of BXE(a), the explicit supervision of attributes
	Beta   float64 `json:"beta"`   // weight of |W|^2
	Lambda float64 `json:"lambda"` // weight of |W U^T|^2
	Psi    float64 `json:"psi"`    // weight of |Gamma - Gamma_sem|^2, the weight of the group penalty
}

// Check returns an *invalid.Error for the first field without which the equations are not defined.
func (c Config) Check() error {
	names := setting.List{
		setting.Choice("variant", &c.Variant, "", Variants...),
		setting.Choice("prior", &c.Prior, "", Priors...),
		setting.Choice("complement", &c.Complement, "", Complements...),
	}
	if err := names.Check(); err != nil {
		return err
	}
	if !(c.Smoothing >= 0 && c.Smoothing < 1.0/3) {
		return expected("smoothing", c.Smoothing, "a number from 0 to below 1/3")
	}
	v := c.Variant.Info()
	if v.HasK() && c.K < 1 {
		return expected("k", c.K, "at least 1 group for %s", c.Variant)
	}
	if c.Psi != 0 && !v.HasGroupPenalty() {
		err := expected("psi", c.Psi, "0 for %s", c.Variant)
		err.Hint = fmt.Sprintf("Only %s has a group penalty.", SemanticSoft)
		return err
	}
	return nil
}

// Grouping returns K and, unless the groups are free, the group of each of m attributes.
// semantic is the group of each attribute by the data set, nil if it has no groups.
func (c Config) Grouping(m int, semantic []int) (k int, of []int, err error) {
	switch c.Variant.Info().Groups {
	case AttributeGroups:
		if m > mostSingletons {
			err := expected("attributes", m, "at most %d for %s, which have a group for each", mostSingletons,
				c.Variant)
			err.Hint = "Use " + string(KSoft) + " or " + string(SemanticHard) + "."
			return 0, nil, err
		}
		return m, allIndices(m), nil
	case FreeGroups:
		if c.K > m {
			return 0, nil, expected("k", c.K, "at most the number of attributes, %d", m)
		}
		return c.K, nil, checkSize("k", c.K, m)
	}
	if len(semantic) != m {
		err := expected("groups", len(semantic), "a group for each of the %d attributes, as %s needs", m,
			c.Variant)
		err.Hint = WithoutGroups()
		return 0, nil, err
	}
	if i := slices.IndexFunc(semantic, func(g int) bool { return g < 0 }); i >= 0 {
		return 0, nil, expected("groups", semantic[i], "a group for attribute %d, 0 or above", i)
	}
	k = slices.Max(semantic) + 1
	return k, semantic, checkSize("groups", k, m)
}

// mostGrouping is the size of V, attributes x groups, up to which training fits into the memory of
// common machines: it needs several matrices of this size.
const mostGrouping = 1 << 28

// mostSingletons is the number of attributes up to which V of singletons, its Gamma and their copies
// in float64 that explanations need take no more than 2 GB.
const mostSingletons = 1 << 13

func checkSize(field string, k, m int) error {
	if most := mostGrouping / m; k > most {
		return expected(field, k, "at most %d groups for %d attributes", most, m)
	}
	return nil
}

var expected = invalid.Expected

// check returns K, or an error where the classes do not fit the parameters.
func (c Config) check(classes *Description, attributes int) (k int, err error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if attributes != classes.U.Cols {
		return 0, expected("descriptions", classes.U.Cols, "%d attributes, as many as the model has",
			attributes)
	}
	k, _, err = c.Grouping(attributes, classes.Groups)
	return k, err
}

// Variant says how attributes are grouped and whether the grouping is learned (section 4.2 of the paper).
type Variant string

const (
	Singletons   Variant = "singletons"
	SemanticHard Variant = "semantic-hard"
	KSoft        Variant = "k-soft"
	SemanticSoft Variant = "semantic-soft"
)

// GroupSource says which groups a variant starts from.
type GroupSource int

const (
	DataGroups      GroupSource = iota // those of the data set
	AttributeGroups                    // one per attribute
	FreeGroups                         // K groups, which a setting says, without members
)

// VariantInfo is what the model knows of a variant: a new variant is one more entry of variants.
type VariantInfo struct {
	Name    Variant
	Groups  GroupSource // V starts one-hot by group
	Noise   float64     // width of the uniform V of FreeGroups
	Learned bool        // V is trained, in turns with W
	Paper   bool        // the paper has results of it
}

// variants are in the order of the paper.
var variants = []VariantInfo{
	{Name: Singletons, Groups: AttributeGroups, Paper: true},
	{Name: SemanticHard, Paper: true},
	{Name: KSoft, Groups: FreeGroups, Noise: 1e-3, Learned: true, Paper: true},
	{Name: SemanticSoft, Learned: true, Paper: true},
}

// Variants lists the variants that there are.
var Variants = VariantsWith(func(VariantInfo) bool { return true })

// VariantsWith lists the variants of which something holds.
func VariantsWith(holds func(VariantInfo) bool) (names []Variant) {
	for _, v := range variants {
		if holds(v) {
			names = append(names, v.Name)
		}
	}
	return names
}

// Info returns the entry of a variant, an empty one of an unknown name.
func (v Variant) Info() VariantInfo {
	i := slices.IndexFunc(variants, func(info VariantInfo) bool { return info.Name == v })
	if i < 0 {
		return VariantInfo{}
	}
	return variants[i]
}

// Learned reports whether the grouping V is trained.
func (v Variant) Learned() bool { return v.Info().Learned }

// Semantic reports whether the variant needs the groups of the data set.
func (v Variant) Semantic() bool { return v.Info().Semantic() }

// Semantic reports whether the variant needs the groups of the data set.
func (i VariantInfo) Semantic() bool { return i.Name != "" && i.Groups == DataGroups }

// HasGroupPenalty reports whether psi keeps V near the groups of the data set.
func (i VariantInfo) HasGroupPenalty() bool { return i.Semantic() && i.Learned }

// HasK reports whether the number of groups is a setting.
func (i VariantInfo) HasK() bool { return i.Groups == FreeGroups }

// WithoutGroups says what to do with a data set that has no groups.
func WithoutGroups() string {
	free := VariantsWith(func(v VariantInfo) bool { return !v.Semantic() })
	return "Without groups, the variants " + format.List(format.Strings(free), "and") +
		" and all baselines work. " +
		"A data set names groups by prefixes of its attributes, as in wing_colour::red."
}
