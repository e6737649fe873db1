package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/invalid"
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

// Check returns an *invalid.Error for the first field that no model can be made of.
func (c Config) Check() error {
	if err := new(Variant).UnmarshalText([]byte(c.Variant)); err != nil {
		return &invalid.Error{Field: "variant", Want: "singletons, semantic-hard, k-soft or semantic-soft", Got: fmt.Sprint(string(c.Variant))}
	}
	if err := new(Prior).UnmarshalText([]byte(c.Prior)); err != nil {
		return &invalid.Error{Field: "prior", Want: "uniform or per-attribute", Got: fmt.Sprint(string(c.Prior))}
	}
	if err := new(Complement).UnmarshalText([]byte(c.Complement)); err != nil {
		return &invalid.Error{Field: "complement", Want: "const, demorgan or none", Got: fmt.Sprint(string(c.Complement))}
	}
	if !(c.Zeta > 0) || math.IsInf(c.Zeta, 0) {
		return &invalid.Error{Field: "zeta", Want: "a finite number above 0", Got: fmt.Sprint(c.Zeta)}
	}
	if c.Variant == KSoft && c.K < 1 {
		return &invalid.Error{Field: "k", Want: "at least 1 group for k-soft", Got: fmt.Sprint(c.K)}
	}
	if c.Psi != 0 && c.Variant != SemanticSoft {
		return &invalid.Error{Field: "psi", Want: "0 but for semantic-soft, the only variant with groups to hold to", Got: fmt.Sprint(c.Psi)}
	}
	for _, w := range []struct {
		name  string
		value float64
	}{{"alpha", c.Alpha}, {"beta", c.Beta}, {"lambda", c.Lambda}, {"psi", c.Psi}} {
		if !(w.value >= 0) || math.IsInf(w.value, 0) {
			return &invalid.Error{Field: w.name, Want: "a finite number, 0 or above", Got: fmt.Sprint(w.value)}
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
			return 0, nil, &invalid.Error{Field: "k", Want: fmt.Sprintf("at most the number of attributes, %d", m), Got: fmt.Sprint(c.K)}
		}
		return c.K, nil, nil
	}
	if len(semantic) != m {
		return 0, nil, &invalid.Error{Field: "groups", Want: fmt.Sprintf("a group for each of the %d attributes, which %s needs", m, c.Variant), Got: fmt.Sprint(

			fmt.Sprintf("%d: does the data set name its groups?", len(semantic)))}
	}
	for i, g := range semantic {
		if g < 0 {
			return 0, nil, &invalid.Error{Field: "groups", Want: fmt.Sprintf("a group for attribute %d, 0 or above", i), Got: fmt.Sprint(g)}
		}
		k = max(k, g+1)
	}
	return k, semantic, nil
}
