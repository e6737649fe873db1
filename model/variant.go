package model

import (
	"image/color"
	"slices"

	"github.com/lago-train/lago-train/internal/format"
)

// Variant says how attributes are grouped and whether the grouping is learned
// (section 4.2 of the paper).
type Variant string

// The four variants of the paper.
const (
	Singletons   Variant = "singletons"
	SemanticHard Variant = "semantic-hard"
	KSoft        Variant = "k-soft"
	SemanticSoft Variant = "semantic-soft"
)

// GroupSource says which groups a variant starts from.
type GroupSource int

// The sources.
const (
	DataGroups      GroupSource = iota // those of the data set
	AttributeGroups                    // one per attribute
	FreeGroups                         // K groups, which a setting says, without members
)

// VariantInfo is what the program knows of a variant: a new variant is one more entry of variants.
type VariantInfo struct {
	Name    Variant
	Title   string      // in the tables of the paper
	Groups  GroupSource // V starts one-hot by group
	Noise   float64     // width of the uniform V of FreeGroups
	Learned bool        // V is trained, in turns with W
	// defaults of settings, by key, that differ from the general ones of package train/lago
	Defaults map[string]float64
	Colour   color.NRGBA // in figures: of Okabe & Ito (2008), for colour-blind readers
}

// variants are in the order of the paper.
var variants = []VariantInfo{
	{
		Name: Singletons, Title: "LAGO-Singletons", Groups: AttributeGroups,
		Defaults: map[string]float64{"bias_factor": 30, "alpha": 0.3}, Colour: color.NRGBA{0, 158, 115, 255},
	},
	{Name: SemanticHard, Title: "LAGO-Semantic-Hard", Colour: color.NRGBA{0, 114, 178, 255}},
	{
		Name: KSoft, Title: "LAGO-K-Soft", Groups: FreeGroups, Noise: 1e-3, Learned: true,
		Defaults: map[string]float64{"lr": 3e-3, "bias_factor": 10, "lr_v": 0.05, "zeta": 1, "alpha": 1},
		Colour:   color.NRGBA{213, 94, 0, 255},
	},
	{
		Name: SemanticSoft, Title: "LAGO-Semantic-Soft", Learned: true,
		Defaults: map[string]float64{"bias_factor": 5, "lr_v": 0.03, "zeta": 3, "psi": 1e-4, "alpha": 0.3},
		Colour:   color.NRGBA{204, 121, 167, 255},
	},
}

// Variants lists the variants in the order of the paper.
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

// HasPrior reports whether psi keeps V near the groups of the data set.
func (i VariantInfo) HasPrior() bool { return i.Semantic() && i.Learned }

// Free reports whether a setting says the number of groups.
func (i VariantInfo) Free() bool { return i.Groups == FreeGroups }

// WithoutGroups says what to do with a data set that has no groups.
func WithoutGroups() string {
	free := VariantsWith(func(v VariantInfo) bool { return !v.Semantic() })
	return "Without groups, the variants " + format.List(format.Strings(free), "and") + " and all baselines work. " +
		"A data set names groups by prefixes of its attributes, as in wing_colour::red."
}
