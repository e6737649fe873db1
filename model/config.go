package model

import (
	"fmt"

	"github.com/lago-train/lago-train/internal/invalid"

	"github.com/lago-train/lago-train/internal/finite"
)

// Variant says how attributes are grouped and whether the grouping is learned
// (section 4.2 of the paper).
type Variant string

// The four variants of the paper.
const (
	Singletons   Variant = "singletons"    // one group per attribute; trains W
	SemanticHard Variant = "semantic-hard" // the groups of the data set; trains W
	KSoft        Variant = "k-soft"        // K groups, nearly uniform at the start; trains W and V
	SemanticSoft Variant = "semantic-soft" // the groups of the data set at the start; trains W and V
)

// Variants lists the variants in the order of the paper.
var Variants = []Variant{Singletons, SemanticHard, KSoft, SemanticSoft}

// Learned reports whether the grouping V is trained.
func (v Variant) Learned() bool { return v == KSoft || v == SemanticSoft }

// Semantic reports whether the variant needs the groups of the data set.
func (v Variant) Semantic() bool { return v == SemanticHard || v == SemanticSoft }

// Prior says what p(a_m) is.
type Prior string

// The two priors of the paper's ablation, and one between them.
const (
	Uniform      Prior = "uniform"       // the mean over classes and attributes
	PerAttribute Prior = "per-attribute" // the mean over the candidate classes
	PerGroup     Prior = "per-group"     // the mean over the candidate classes and, weighted by Gamma, over the attributes of the group
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

// UnmarshalText reads the name of a variant.
func (v *Variant) UnmarshalText(text []byte) error { return invalid.SetOneOf(v, text, Variants...) }

// UnmarshalText reads the name of a prior.
func (p *Prior) UnmarshalText(text []byte) error { return invalid.SetOneOf(p, text, Priors...) }

// UnmarshalText reads the name of a complement.
func (c *Complement) UnmarshalText(text []byte) error {
	return invalid.SetOneOf(c, text, Complements...)
}

// Config is one model of the family. A weight of 0 leaves its term out of the loss.
type Config struct {
	Variant    Variant    `json:"variant"`
	Prior      Prior      `json:"prior"`
	Complement Complement `json:"complement"`
	Zeta       float64    `json:"zeta"` // Gamma = softmax(zeta V); from about 1000 on, exactly one-hot
	K          int        `json:"k"`    // groups of k-soft; the other variants take theirs from the data

	Alpha  float64 `json:"alpha"`  // weight of BXE(a), the explicit supervision of attributes
	Beta   float64 `json:"beta"`   // weight of |W|^2
	Lambda float64 `json:"lambda"` // weight of |W U^T|^2
	Psi    float64 `json:"psi"`    // weight of |Gamma - Gamma_sem|^2, the group prior strength
}

// Check returns an *invalid.Error for the first invalid field.
func (c Config) Check() error {
	if err := isOneOf("variant", c.Variant, Variants); err != nil {
		return err
	}
	if err := isOneOf("prior", c.Prior, Priors); err != nil {
		return err
	}
	if err := isOneOf("complement", c.Complement, Complements); err != nil {
		return err
	}
	if !(c.Zeta > 0 && finite.Is(c.Zeta)) {
		return &invalid.Error{Field: "zeta", Want: "a finite number above 0", Got: fmt.Sprint(c.Zeta)}
	}
	if c.Variant == KSoft && c.K < 1 {
		return &invalid.Error{Field: "k", Want: "at least 1 group for k-soft", Got: fmt.Sprint(c.K)}
	}
	if c.Psi != 0 && c.Variant != SemanticSoft {
		return &invalid.Error{Field: "psi", Want: "0 for " + string(c.Variant), Got: fmt.Sprint(c.Psi), Hint: "Only semantic-soft has a group prior."}
	}
	for _, w := range []struct {
		name  string
		value float64
	}{{"alpha", c.Alpha}, {"beta", c.Beta}, {"lambda", c.Lambda}, {"psi", c.Psi}} {
		if !(w.value >= 0 && finite.Is(w.value)) {
			return &invalid.Error{Field: w.name, Want: "a finite number, 0 or above", Got: fmt.Sprint(w.value)}
		}
	}
	return nil
}

func isOneOf[T ~string](field string, value T, options []T) error {
	found, err := invalid.OneOf(string(value), options...)
	if e, ok := err.(*invalid.Error); ok {
		e.Field = field
		return e
	}
	if found != value { // by case; a name in code must be exact
		return &invalid.Error{Field: field, Want: string(found), Got: string(value)}
	}
	return nil
}

// groups returns K and, unless the variant is k-soft, the group of each of m attributes.
// semantic is the group of each attribute by the data set, nil if it has no groups.
func (c Config) groups(m int, semantic []int) (k int, of []int, err error) {
	switch c.Variant {
	case Singletons:
		of = make([]int, m)
		for i := range of {
			of[i] = i
		}
		return m, of, nil
	case KSoft:
		if c.K > m {
			return 0, nil, &invalid.Error{Field: "k", Want: fmt.Sprintf("at most the number of attributes, %d", m), Got: fmt.Sprint(c.K)}
		}
		return c.K, nil, nil
	}
	if len(semantic) != m {
		return 0, nil, &invalid.Error{
			Field: "groups", Want: fmt.Sprintf("a group for each of the %d attributes, as %s needs", m, c.Variant), Got: fmt.Sprint(len(semantic)),
			Hint: "A data set names groups by prefixes of its attributes, as in wing_colour::red.",
		}
	}
	for i, g := range semantic {
		if g < 0 {
			return 0, nil, &invalid.Error{Field: "groups", Want: fmt.Sprintf("a group for attribute %d, 0 or above", i), Got: fmt.Sprint(g)}
		}
		k = max(k, g+1)
	}
	return k, semantic, nil
}

// check returns K, or an error where the classes do not fit the parameters.
func (c Config) check(classes *Description, attributes int) (k int, err error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if attributes != classes.U.Cols {
		return 0, &invalid.Error{
			Field: "descriptions", Want: fmt.Sprintf("%d attributes, as many as the model has", attributes), Got: fmt.Sprint(classes.U.Cols),
		}
	}
	k, _, err = c.groups(attributes, classes.Groups)
	return k, err
}
