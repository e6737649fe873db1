package preprocess

import "fmt"

// Kind is a way to condition features.
type Kind string

// The kinds of preprocessing.
const (
	None        Kind = "none"        // features as they are
	Standardize Kind = "standardize" // mean 0 and variance 1 in each dimension
	Whiten      Kind = "whiten"      // X (X'X + g I)^(-1/2) sqrt(n), with a ridge g
)

// UnmarshalText reads one of the names.
func (k *Kind) UnmarshalText(text []byte) error {
	switch Kind(text) {
	case None, Standardize, Whiten:
		*k = Kind(text)
		return nil
	}
	return fmt.Errorf("expected one of %s, %s, %s, found %q", None, Standardize, Whiten, text)
}
