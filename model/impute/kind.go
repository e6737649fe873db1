package impute

import "fmt"

// Kind is how far what is said of a class counts for what is not.
type Kind string

const (
	Neutral  Kind = "neutral"  // within a group of attributes
	Inferred Kind = "inferred" // for all of them
)

// Kinds lists both.
var Kinds = []Kind{Neutral, Inferred}

// UnmarshalText reads the name of a kind.
func (k *Kind) UnmarshalText(text []byte) error {
	for _, known := range Kinds {
		if string(text) == string(known) {
			*k = known
			return nil
		}
	}
	return fmt.Errorf("expected neutral or inferred, found %q", text)
}
