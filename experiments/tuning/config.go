package tuning

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// CompareConfig says which methods are compared, and by what protocol.
type Config struct {
	Methods []string // of CompareMethods
	// LAGO are the settings of the variants that Methods has need of.
	LAGO []protocol.
		// Budget is how many settings of each method are tried on the val classes, its
		// defaults among them; 0 takes the defaults as they are. What is solved in closed
		// form is searched whole, whatever the budget.
		Config

	Budget   int
	Fixed    []Fixed
	Seeds    int
	Seed     uint64 // the first of them
	Epochs   int    // of the dev stage, at most
	Patience int
	HoldOut  bool
	// Preprocess and Ridge are those of the baselines; their authors have none.
	Preprocess preprocess.Kind
	Ridge      float64
	// Given are the names of settings that LAGO's search leaves as they are.
	Given []string
}

// Fixed is a setting of a baseline that is not tuned.
type Fixed struct {
	Method, Setting string
	Value           json.RawMessage
}

// ParseFixed reads "method.setting=value".
func ParseFixed(s string) (Fixed, error) {
	name, value, ok := strings.Cut(s, "=")
	method, setting, ok2 := strings.Cut(name, ".")
	if !ok || !ok2 || method == "" || setting == "" || value == "" {
		return Fixed{}, &invalid.Error{Want: "method.setting=value, as in ale.lr=0.1", Got: strconv.Quote(s)}
	}
	f := Fixed{method, setting, json.RawMessage(value)}
	if !json.Valid(f.Value) { // a word
		quoted, err := json.Marshal(value)
		if err != nil {
			return f, err
		}
		f.Value = quoted
	}
	m, err := methods.Find(method)
	f.Method = m.Name
	return f, err
}

// CompareMethods lists what can be compared: LAGO, its variants, and the baselines.
func Names() []string {
	names := []string{LAGOMethod}
	for _, v := range model.Variants {
		names = append(names, string(v))
	}
	return append(names, methods.Names()...)
}

// VariantsOf lists the variants of LAGO that methods have need of.
func VariantsOf(names []string) []model.Variant {
	if slices.Contains(names, LAGOMethod) {
		return model.Variants
	}
	return slices.DeleteFunc(slices.Clone(model.Variants), func(v model.Variant) bool {
		return !slices.Contains(names, string(v))
	})
}

// Check returns an error for the first field that nothing can be compared with.
func (c Config) Check() error {
	if len(c.Methods) == 0 {
		return errors.New("methods: expected at least one")
	}
	for i, name := range c.Methods {
		if !slices.Contains(Names(), name) {
			return &invalid.Error{
				Where: "methods", Want: "some of " + strings.Join(Names(), ", "), Got: strconv.Quote(name),
				Hint: invalid.DidYouMean(name, Names()),
			}
		}
		if slices.Contains(c.Methods[:i], name) {
			return fmt.Errorf("methods: expected each once, found %s twice", name)
		}
	}
	for _, f := range c.Fixed {
		if !slices.Contains(c.Methods, f.Method) {
			return fmt.Errorf("%s.%s: expected a setting of one of the methods %s", f.Method, f.Setting, strings.Join(c.Methods, ", "))
		}
	}
	if c.Budget < 0 {
		return fmt.Errorf("tune: expected 0 or more settings, found %d", c.Budget)
	}
	if c.Budget > 0 && c.Budget < MinBudget && len(c.LAGO) > 0 {
		return fmt.Errorf("tune: expected 0, or at least %d settings, for LAGO's own search, found %d", MinBudget, c.Budget)
	}
	if c.Seeds < 1 {
		return fmt.Errorf("seeds: expected at least 1, found %d", c.Seeds)
	}
	return train.Training{Epochs: c.Epochs, Patience: c.Patience}.CheckEpochs()
}
