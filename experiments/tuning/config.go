package tuning

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
)

// LAGOMethod is the name of LAGO with the variant that does best on the validation
// classes. Variants and baselines have their own names.
const LAGOMethod = "lago"

// ESZSLMethod is the baseline of the paper's table A.1 and figure A.1.
const ESZSLMethod = "eszsl"

// Config says which methods are compared, and by what protocol.
type Config struct {
	Methods []string          // of Names
	LAGO    []protocol.Config // of the variants that Methods need, see VariantsOf
	// Common has the seeds, epochs of the dev stage, patience, held-out samples and, for
	// baselines, the preprocessing from which their search starts.
	Common protocol.Config
	Budget int      // different settings of each method to try; 0 takes those it starts from
	Folds  int      // of the seen classes, over which settings are chosen; 0 is 1
	Fixed  []Fixed  // settings of baselines
	Given  []string // keys of settings that no search varies

	Adapt bool `json:",omitempty"` // also adapt to the samples of the evaluated classes

	// OnRound, if set, is called at the start of each round with its number of trials.
	OnRound func(round string, trials int) `json:"-"`
	// OnAdapt, if set, is called before each method is adapted.
	OnAdapt func(method string) `json:"-"`
}

// settings is the number of settings of each search.
func (c Config) settings() int { return max(c.Budget, 1) }

// further is the number of further seeds of the best settings, 0 if a single one would have
// them: there is nothing to choose, and the dev stage repeats it over all seeds.
func (c Config) further() int {
	if divide(c.settings()).best < 2 {
		return 0
	}
	return FurtherSeeds
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
		return Fixed{}, &invalid.Error{Want: "METHOD.SETTING=VALUE, as in ale.lr=0.1", Got: strconv.Quote(s)}
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
	if err != nil {
		return f, err
	}
	f.Method = m.Name
	spec, err := methods.Spec{Method: m.Name, Settings: m.Default}.Set(setting, f.Value)
	if err == nil {
		err = spec.Check()
	}
	return f, err
}

// Names lists what can be compared: LAGO, its variants, and the baselines.
func Names() []string {
	return slices.Concat([]string{LAGOMethod}, format.Strings(model.Variants), methods.Names())
}

// VariantsOf lists the variants of LAGO that the named methods need.
func VariantsOf(names []string) []model.Variant {
	if slices.Contains(names, LAGOMethod) {
		return model.Variants
	}
	return slices.DeleteFunc(slices.Clone(model.Variants), func(v model.Variant) bool {
		return !slices.Contains(names, string(v))
	})
}

// Check returns an *invalid.Error for the first field that is wrong.
func (c Config) Check() error {
	for _, name := range c.Methods {
		known, err := invalid.OneOf(name, Names()...)
		if err != nil {
			return field("methods", err)
		}
		if known != name {
			return &invalid.Error{Field: "methods", Want: known, Got: name}
		}
	}
	if err := CheckMethods(c.Methods); err != nil {
		return err
	}
	for _, f := range c.Fixed {
		if !slices.Contains(c.Methods, f.Method) {
			return &invalid.Error{Field: "set", Want: "a setting of one of the methods " + strings.Join(c.Methods, ", "), Got: f.Method + "." + f.Setting}
		}
	}
	if c.Budget < 0 || c.Budget > 0 && c.Budget < MinBudget {
		return &invalid.Error{Field: "tune", Want: fmt.Sprintf("0, or at least %d settings", MinBudget), Got: strconv.Itoa(c.Budget)}
	}
	if c.Folds < 0 {
		return &invalid.Error{Field: "folds", Want: "at least 1", Got: strconv.Itoa(c.Folds)}
	}
	if c.Common.Seeds < 1 {
		return &invalid.Error{Field: "seeds", Want: "at least 1", Got: strconv.Itoa(c.Common.Seeds)}
	}
	return train.Training{Epochs: c.Common.DevEpochs(), Patience: c.Common.Patience}.CheckEpochs()
}

// CheckMethods returns an *invalid.Error unless there is a method, and none twice.
func CheckMethods(names []string) error {
	if len(names) == 0 {
		return &invalid.Error{Field: "methods", Want: "at least one", Got: "none"}
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return &invalid.Error{Field: "methods", Want: "each method once", Got: name + " twice"}
		}
	}
	return nil
}

// field adds the name of a field to an *invalid.Error.
func field(name string, err error) error {
	if e, ok := err.(*invalid.Error); ok {
		e.Field = name
	}
	return err
}
