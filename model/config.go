package model

import (
	"fmt"
	"math"
)

// Config is what makes one model of the family. The zero value of a weight
// leaves its term out of the loss.
type Config struct {
	Variant    Variant    `json:"variant"`
	Prior      Prior      `json:"prior"`
	Complement Complement `json:"complement"`
	Zeta       float64    `json:"zeta"` // Gamma = softmax(zeta V); from about 1000 on, exactly one-hot
	K          int        `json:"k"`    // groups of k-soft; the other variants find theirs in the data

	Alpha  float64 `json:"alpha"`  // weight of BXE(a), the explicit supervision of attributes
	Beta   float64 `json:"beta"`   // weight of |W|^2
	Lambda float64 `json:"lambda"` // weight of |W U^T|^2
	Psi    float64 `json:"psi"`    // weight of |Gamma - Gamma_sem|^2
}

// Error says which part of a model cannot be made, and why.
type Error struct {
	Field string
	Want  string
	Got   any
}

func (e *Error) Error() string {
	return fmt.Sprintf("model: %s: expected %s, found %v", e.Field, e.Want, e.Got)
}

// Check returns an *Error for the first field that no model can be made of.
func (c Config) Check() error {
	if err := new(Variant).UnmarshalText([]byte(c.Variant)); err != nil {
		return &Error{"variant", "singletons, semantic-hard, k-soft or semantic-soft", string(c.Variant)}
	}
	if err := new(Prior).UnmarshalText([]byte(c.Prior)); err != nil {
		return &Error{"prior", "uniform or per-attribute", string(c.Prior)}
	}
	if err := new(Complement).UnmarshalText([]byte(c.Complement)); err != nil {
		return &Error{"complement", "const, demorgan or none", string(c.Complement)}
	}
	if !(c.Zeta > 0) || math.IsInf(c.Zeta, 0) {
		return &Error{"zeta", "a finite number above 0", c.Zeta}
	}
	if c.Variant == KSoft && c.K < 1 {
		return &Error{"k", "at least 1 group for k-soft", c.K}
	}
	if c.Psi != 0 && c.Variant != SemanticSoft {
		return &Error{"psi", "0 but for semantic-soft, the only variant with groups to hold to", c.Psi}
	}
	for _, w := range []struct {
		name  string
		value float64
	}{{"alpha", c.Alpha}, {"beta", c.Beta}, {"lambda", c.Lambda}, {"psi", c.Psi}} {
		if !(w.value >= 0) || math.IsInf(w.value, 0) {
			return &Error{w.name, "a finite number, 0 or above", w.value}
		}
	}
	return nil
}

// groups returns K and, where the variant knows them, the group of each of m
// attributes. semantic is what the data set says, nil if it says nothing.
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
			return 0, nil, &Error{"k", fmt.Sprintf("at most the number of attributes, %d", m), c.K}
		}
		return c.K, nil, nil
	}
	if len(semantic) != m {
		return 0, nil, &Error{
			"groups", fmt.Sprintf("a group for each of the %d attributes, which %s needs", m, c.Variant),
			fmt.Sprintf("%d: does the data set name its groups?", len(semantic)),
		}
	}
	for i, g := range semantic {
		if g < 0 {
			return 0, nil, &Error{"groups", fmt.Sprintf("a group for attribute %d, 0 or above", i), g}
		}
		k = max(k, g+1)
	}
	return k, semantic, nil
}
