package preprocess

import (
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Chain is a comma-separated list of preprocessing steps in the order in which they are
// applied, each at most once: "sqrt,l2,whiten". Chains are comparable in the form that
// UnmarshalText returns; Fit parses its argument in the same way.
type Chain string

// The steps. Each is a chain by itself.
const (
	None        Chain = "none"        // the identity, only alone
	SignedRoot  Chain = "sqrt"        // x <- sign(x) sqrt(|x|) in each dimension
	L2          Chain = "l2"          // samples scaled to norm sqrt(D); one of zeros stays
	Standardize Chain = "standardize" // mean 0 and variance 1 in each dimension
	Whiten      Chain = "whiten"      // X (X'X + g I)^(-1/2) sqrt(n), with a ridge g
)

// UnmarshalText parses a chain, ignoring case and spaces. The error is an *invalid.Error.
func (c *Chain) UnmarshalText(text []byte) error {
	var list []string
	for word := range strings.SplitSeq(string(text), ",") {
		var step Chain
		if err := invalid.SetOneOf(&step, []byte(strings.TrimSpace(word)), None, SignedRoot, L2, Standardize, Whiten); err != nil {
			return err
		}
		if slices.Contains(list, string(step)) {
			return &invalid.Error{Want: "each step at most once", Got: string(step) + " twice"}
		}
		list = append(list, string(step))
	}
	if len(list) > 1 && slices.Contains(list, string(None)) {
		return &invalid.Error{Want: "none alone, or a list of other steps", Got: strings.Join(list, ",")}
	}
	*c = Chain(strings.Join(list, ","))
	return nil
}

// Has reports whether a step is part of the chain.
func (c Chain) Has(step Chain) bool { return slices.Contains(c.steps(), step) }

// steps lists the steps; there are none of the identity.
func (c Chain) steps() []Chain {
	if c == None || c == "" {
		return nil
	}
	var list []Chain
	for step := range strings.SplitSeq(string(c), ",") {
		list = append(list, Chain(step))
	}
	return list
}

// chainOf joins steps.
func chainOf(steps []Chain) Chain {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = string(s)
	}
	return Chain(strings.Join(words, ","))
}
