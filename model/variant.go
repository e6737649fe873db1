package model

import (
	"fmt"
	"slices"
	"strings"
)

// Variant says how attributes are grouped and whether the grouping is learned
// (section 4.2 of the paper).
type Variant string

// The four variants of the paper.
const (
	Singletons   Variant = "singletons"    // each attribute a group of its own; trains W
	SemanticHard Variant = "semantic-hard" // the groups of the data set; trains W
	KSoft        Variant = "k-soft"        // K groups, from nearly uniform; trains W and V
	SemanticSoft Variant = "semantic-soft" // from the groups of the data set; trains W and V
)

// Variants lists them in the order of the paper.
var Variants = []Variant{Singletons, SemanticHard, KSoft, SemanticSoft}

// Learned says whether the grouping V is trained too.
func (v Variant) Learned() bool { return v == KSoft || v == SemanticSoft }

// Semantic says whether the variant needs the data set to name its groups.
func (v Variant) Semantic() bool { return v == SemanticHard || v == SemanticSoft }

// Prior says what p(a_m) is.
type Prior string

// The two priors of the paper's ablation.
const (
	Uniform      Prior = "uniform"       // the mean over attributes, for each of them
	PerAttribute Prior = "per-attribute" // the mean over the classes at hand
)

// Complement says what p(none of the group | x) is.
type Complement string

// The two complements of the paper's ablation, and none at all, which is what makes
// one group of all attributes a network of two layers (supplement D.4).
const (
	Const        Complement = "const"    // one
	DeMorgan     Complement = "demorgan" // the product over the group of 1 - Gamma A
	NoComplement Complement = "none"     // zero: soft OR goes without the term
)

// Complements lists them.
var Complements = []Complement{Const, DeMorgan, NoComplement}

// UnmarshalText reads one of the four names; it is how flags and config files
// are read.
func (v *Variant) UnmarshalText(text []byte) error { return parseName(v, text, Variants...) }

// UnmarshalText reads "uniform" or "per-attribute".
func (p *Prior) UnmarshalText(text []byte) error { return parseName(p, text, Uniform, PerAttribute) }

// UnmarshalText reads "const", "demorgan" or "none".
func (c *Complement) UnmarshalText(text []byte) error { return parseName(c, text, Complements...) }

func parseName[T ~string](to *T, text []byte, names ...T) error {
	if !slices.Contains(names, T(text)) {
		all := make([]string, len(names))
		for i, n := range names {
			all[i] = string(n)
		}
		return fmt.Errorf("expected one of %s, found %q", strings.Join(all, ", "), text)
	}
	*to = T(text)
	return nil
}
