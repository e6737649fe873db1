package lab

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// Plan is arms by parts by stages.
type Plan struct {
	Arms  []Arm
	Stage config.Stages
	Folds int // of the seen classes, over which settings are chosen; 0 is 1
}

// Arm is a method with settings, or several settings of which the validation classes choose:
// those of the variants of LAGO.
type Arm struct {
	Name   string          // in results
	Title  string          // in tables and figures
	Starts []config.Config // all of which are trained, with all seeds
	Parts  []View          // nil for those of the lab
	// Corrections are those of which the validation classes choose for each of Starts; nil for that of the
	// settings.
	Corrections [][]model.Correction

	// settings that a search tries, in equal parts around each start; 0 and 1 take the starts alone
	Tune  int
	Fixed []string // keys of settings that it does not vary
}

// MinBudget is the least Tune with a search: two settings to choose from.
const MinBudget = 2

// LAGOMethod is the name of LAGO with the variant that does best on the validation classes.
// Variants and baselines have their own names.
const LAGOMethod = "lago"

// Entry is an arm in one part, with those of its starts that the data allow.
type Entry struct {
	Arm    int
	Part   View
	Folds  []View          // none where too few classes are seen: the number of epochs is then fixed
	Starts []config.Config // with what they leave to the data
	Seeds  int
}

// Entries lists the arms of a plan in their parts, and the starts that the data do not allow. The error is
// that of the data, or that they allow no start at all.
func (p Plan) Entries(l *Lab) (all []Entry, missing []Missing, err error) {
	for i, arm := range p.Arms {
		parts := arm.Parts
		if parts == nil {
			parts = l.Parts
		}
		for _, part := range parts {
			e := Entry{Arm: i, Part: part}
			if e.Folds, err = l.Folds(part, max(p.Folds, 1)); err != nil {
				return nil, nil, err
			}
			// a dev stage alone is about the given validation classes
			if val := len(part.Data.Split.Val); p.Folds <= 1 && val < check.FewVal &&
				(p.Stage == config.DevThenTest || val == 0) {
				if e.Folds = l.SeenFolds(part); e.Folds == nil && p.needsFolds(arm) {
					if e.Folds = []View{part}; val == 0 {
						return nil, nil, noFolds(part)
					}
				}
			}
			first := part // of the data that settings are left to
			if e.Folds != nil {
				first = e.Folds[0]
			}
			for _, c := range arm.Starts {
				if out := leftOut(l, c.Method); out != nil {
					if !slices.Contains(missing, *out) {
						missing = append(missing, *out)
					}
					continue
				}
				found, err := methods.Find(c.Method.Name)
				if err != nil {
					return nil, nil, err
				}
				if e.Seeds = c.Seeds; !found.Seeded {
					e.Seeds = 1
				}
				e.Starts = append(e.Starts, c.On(first.Data))
			}
			if e.Starts != nil {
				all = append(all, e)
			}
		}
	}
	if len(all) == 0 && len(missing) > 0 {
		err = NotAllowed(missing)
	}
	return all, missing, err
}

// needsFolds reports whether an arm has nothing without validation classes.
func (p Plan) needsFolds(a Arm) bool {
	return p.Stage == config.OnlyDev ||
		p.Stage == config.DevThenTest && (len(a.Starts) > 1 || a.Tune >= MinBudget)
}

// noFolds is the error of too few seen classes to choose anything by.
func noFolds(part View) error {
	return &invalid.Error{
		Where: part.Data.Name, Field: "seen classes",
		Want: fmt.Sprintf("validation classes, or at least %d seen classes to take them from", check.FewSeen),
		Got:  fmt.Sprintf("%d without validation classes", len(part.Data.Split.Seen())),
		Hint: "lago-train run trains without, for a fixed number of epochs.",
	}
}

// NotAllowed is the error of a method that the data set does not allow.
func NotAllowed(missing []Missing) error {
	return &invalid.Error{
		Field: "variant", Want: "one that the data set allows", Got: missing[0].Error(),
		Hint: model.WithoutGroups(),
	}
}

// leftOut returns nil if the data of a lab allows the method, otherwise why not.
func leftOut(l *Lab, m methods.Named) *Missing {
	if v := m.Variant(); v.Semantic() && l.Data.Groups == nil {
		return &Missing{Name: string(v), State: LeftOut, Why: "the data set has no attribute groups"}
	}
	return nil
}

// CheckArms returns an *invalid.Error if an arm occurs twice.
func CheckArms(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return &invalid.Error{Field: "methods", Want: "each method once", Got: name + " twice"}
		}
	}
	return nil
}

// BaselineArm is the arm of a baseline with its defaults and, of common, the preprocessing and what all
// methods have: also the correction, if common has that of the paper, or one of the given keys sets it.
func BaselineArm(name string, common config.Config, tune int, given []string) (Arm, error) {
	e, err := methods.Find(name)
	if err != nil {
		return Arm{}, err
	}
	c := common.WithMethodOf(config.Defaults(e.Default()))
	settings := c.Settings()
	for _, key := range methods.CorrectionKeys {
		if slices.Contains(given, key) || key == "correction" && common.Paper() {
			text := fmt.Sprint(common.Value(key))
			if err := settings.Set(setting.Assignment{Key: key, Text: text}); err != nil {
				return Arm{}, &invalid.Error{
					Field: key, Want: "one that all methods can have",
					Got: text + ", which " + name + " cannot",
				}
			}
		}
	}
	return Arm{Name: e.Name, Title: e.Title, Starts: []config.Config{c}, Tune: tune}, nil
}

// SearchedBudget is the number of settings that a baseline tries beside variants that are not searched.
const SearchedBudget = 16

// FullPlan is the full protocol for variants with their settings, and for baselines, which try SearchedBudget
// settings with the preprocessing, seeds, epochs, patience and held-out samples of like. They try
// corrections, too, unless that of like is of the paper or was given.
func FullPlan(variants []config.Config, baselines []string, like config.Config,
	given []string,
) (Plan, error) {
	p := Plan{Stage: config.DevThenTest}
	for _, c := range variants {
		label := c.Method.Label()
		p.Arms = append(p.Arms, Arm{Name: label, Title: label, Starts: []config.Config{c}})
	}
	for _, name := range baselines {
		arm, err := BaselineArm(name, like, SearchedBudget, given)
		if err != nil {
			return p, err
		}
		arm.Fixed = append([]string{"preprocess", "ridge"}, given...)
		if like.Paper() {
			arm.Fixed = append(arm.Fixed, methods.CorrectionKeys...)
		}
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
// Without variants it is otherwise.
func ForBaselines(variants []config.Config, otherwise config.Config) config.Config {
	for i, c := range variants {
		if i == 0 || c.Method.Variant() == model.SemanticHard {
			otherwise = c
		}
	}
	return otherwise
}
