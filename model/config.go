package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model/impute"
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

// Check returns an *invalid.Error for the first field without which the equations are not
// defined.
func (c Config) Check() error {
	names := setting.List{
		setting.Choice("variant", &c.Variant, "", Variants...),
		setting.Choice("prior", &c.Prior, "", Priors...),
		setting.Choice("complement", &c.Complement, "", Complements...),
	}
	if err := names.Check(); err != nil {
		return err
	}
	if c.Variant == KSoft && c.K < 1 {
		return expected("k", c.K, "at least 1 group for k-soft")
	}
	if c.Psi != 0 && c.Variant != SemanticSoft {
		return &invalid.Error{Field: "psi", Want: "0 for " + string(c.Variant), Got: fmt.Sprint(c.Psi), Hint: "Only semantic-soft has a group prior."}
	}
	return nil
}

// Grouping returns K and, unless the variant is k-soft, the group of each of m attributes.
// semantic is the group of each attribute by the data set, nil if it has no groups.
func (c Config) Grouping(m int, semantic []int) (k int, of []int, err error) {
	switch c.Variant {
	case Singletons:
		if c.IdentityV(m) && c.Complement == DeMorgan {
			return 0, nil, expected("complement", DeMorgan, "%s or %s for singletons of %d attributes", Const, NoComplement, m)
		}
		return m, dataset.Matrix[float64]{Rows: m}.AllRows(), nil
	case KSoft:
		if c.K > m {
			return 0, nil, expected("k", c.K, "at most the number of attributes, %d", m)
		}
		return c.K, nil, checkSize("k", c.K, m)
	}
	if len(semantic) != m {
		err := expected("groups", len(semantic), "a group for each of the %d attributes, as %s needs", m, c.Variant)
		err.Hint = "A data set names groups by prefixes of its attributes, as in wing_colour::red."
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

// checkSize returns an error where V would be too large.
func checkSize(field string, k, m int) error {
	if most := mostGrouping / m; k > most {
		return expected(field, k, "at most %d groups for %d attributes", most, m)
	}
	return nil
}

// expected is the error of a field that is not as wanted.
func expected(field string, got any, want string, args ...any) *invalid.Error {
	return &invalid.Error{Field: field, Want: fmt.Sprintf(want, args...), Got: fmt.Sprint(got)}
}

// check returns K, or an error where the classes do not fit the parameters.
func (c Config) check(classes *Description, attributes int) (k int, err error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if attributes != classes.U.Cols {
		return 0, expected("descriptions", classes.U.Cols, "%d attributes, as many as the model has", attributes)
	}
	k, _, err = c.Grouping(attributes, classes.Groups)
	return k, err
}

// Description describes the candidate classes, which are the train classes during
// training, and the validation or test classes during evaluation.
type Description struct {
	U       dataset.Matrix[float64] // Z x M, p(a_m|z), without missing entries, as soft OR needs it
	Targets dataset.Matrix[float64] // Z x M, U before it is scaled for soft OR: the targets of BXE(a)
	P       []float64               // M, the prior p(a_m); of PerGroup the per-attribute prior, from which groupedPrior computes p
	Groups  []int                   // M, the group of each attribute by the data set, nil if it has none

	// Undescribed marks the attributes that no candidate class describes. U and P are 0
	// there, and they do not count. It is nil for none.
	Undescribed []bool // M
}

// Describe makes the description of candidate classes from their rows of the data set,
// Z x M in [0, 1], with NaN for missing entries. groups is the group of each attribute,
// which the two semantic variants need: they scale the entries of each group of a class
// to a sum of at most 1 (supplement A), since soft OR takes the attributes of a group to
// exclude each other.
//
// Missing entries are imputed from the candidate classes (package impute). A
// Pipeline imputes them from the train classes first.
func (c Config) Describe(u dataset.Matrix[float64], groups []int) (*Description, error) {
	if u.Rows < 1 || u.Cols < 1 {
		return nil, expected("descriptions", fmt.Sprintf("%d classes and %d attributes", u.Rows, u.Cols), "at least one of each")
	}
	if i := slices.IndexFunc(u.Data, func(p float64) bool { return p < 0 || p > 1 }); i >= 0 {
		found := fmt.Sprintf("%g at row %d, column %d", u.Data[i], i/u.Cols, i%u.Cols)
		return nil, expected("descriptions", found, "probabilities from 0 to 1, or NaN for a missing entry")
	}
	k, _, err := c.Grouping(u.Cols, groups)
	if c.Variant.Semantic() && err != nil {
		return nil, err
	}
	if len(groups) != u.Cols {
		groups = nil
	}
	imputer, err := impute.New(u, groups)
	if err != nil {
		return nil, err
	}
	full, err := imputer.Impute(u)
	if err != nil {
		return nil, err
	}
	d := &Description{U: dataset.Convert[float64](full), Groups: groups}
	for i, p := range d.U.Data {
		if math.IsNaN(p) { // for all classes
			if d.Undescribed == nil {
				d.Undescribed = make([]bool, d.U.Cols)
			}
			d.Undescribed[i%d.U.Cols] = true
			d.U.Data[i] = 0
		}
	}
	d.Targets = d.U
	if c.Variant.Semantic() {
		d.Targets = dataset.Convert[float64](d.U)
		scaleGroups(d.U, k, groups)
	}
	d.P = c.prior(d)
	return d, nil
}

// scaleGroups scales the entries of a class within a group to sum to 1 where they
// sum to more.
func scaleGroups(u dataset.Matrix[float64], k int, of []int) {
	sums := make([]float64, k)
	for z := range u.Rows {
		clear(sums)
		row := u.Row(z)
		for m, p := range row {
			sums[of[m]] += p
		}
		for m := range row {
			if s := sums[of[m]]; s > 1 {
				row[m] /= s
			}
		}
	}
}

// prior returns p(a_m), the mean of U over the classes. The uniform prior is its mean
// over the described attributes.
func (c Config) prior(d *Description) []float64 {
	p := dataset.Means(d.U, 0)
	var mean, described float64
	for m := range p {
		if !d.undescribed(m) {
			mean += p[m]
			described++
		}
	}
	for m := range p {
		if c.Prior == Uniform && !d.undescribed(m) {
			p[m] = mean / described
		}
	}
	return p
}

func (d *Description) undescribed(m int) bool { return d.Undescribed != nil && d.Undescribed[m] }

// ratio returns p(a_m|z) / p(a_m) with the prior p, M x Z. It is 0 for an attribute with
// p(a_m) = 0, which no candidate class has.
func (d *Description) ratio(p []float64) dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Cols, d.U.Rows)
	for z := range d.U.Rows {
		for m, u := range d.U.Row(z) {
			if p[m] > 0 {
				r.Data[m*r.Cols+z] = u / p[m]
			}
		}
	}
	return r
}

// withPrior returns U with the prior p as its last row, (Z+1) x M, from which Uc and pc
// are computed together.
func (d *Description) withPrior(p []float64) dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Rows+1, d.U.Cols)
	copy(r.Data, d.U.Data)
	copy(r.Row(d.U.Rows), p)
	return r
}
