package setting

import (
	"slices"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Flag is how a setting is given on a command line, which is nothing to the configuration that has it.
type Flag struct {
	Alias    string   // another name of the flag, which the help lists if it is one letter
	Short    bool     // in the short help
	Needed   []string // settings of which one must be given beside this one
	Excluded []string // settings that must not be given beside this one
}

// Common shows the setting in the short help.
func (s Setting) Common() Setting {
	s.Short = true
	return s
}

// OrAs adds another name of the flag.
func (s Setting) OrAs(name string) Setting {
	s.Alias = name
	return s
}

// Needs refuses the setting without one of some others.
func (s Setting) Needs(others ...string) Setting {
	s.Needed = others
	return s
}

// Excludes refuses the setting beside others.
func (s Setting) Excludes(others ...string) Setting {
	s.Excluded = others
	return s
}

// Common shows all settings in the short help.
func (l List) Common() List {
	for i := range l {
		l[i].Short = true
	}
	return l
}

// Needs refuses each of the settings unless one of others is given.
func (l List) Needs(keys ...string) List {
	for i := range l {
		l[i].Needed = keys
	}
	return l
}

// elsewhere has the keys of settings by the names that other programs have for them.
var elsewhere = map[string][]string{
	"batch_size": {"batch"}, "learning_rate": {"lr"}, "max_epochs": {"epochs"}, "num_epochs": {"epochs"},
	"model_type": {"method"},
	"n_jobs":     {"jobs"}, "workers": {"jobs"}, "num_workers": {"jobs"}, "random_state": {"seed"},
	"random_seed": {"seed"}, "early_stopping": {"patience"},
	"data": {"dataset", "data_dir"}, "input": {"dataset", "features"}, "output": {"to", "out"},
	"output_dir": {"out"}, "runs": {"from", "out"},
	"checkpoint": {"model"}, "ckpt": {"model"}, "trials": {"budget", "tune"}, "n_trials": {"budget", "tune"},
	"baselines": {"methods"}, "method": {"methods"},
	"among": {"candidates"}, "write": {"to"}, "out": {"to"}, "methods": {"method"},
	"levels": {"ratios"}, "k": {"ks"}, "verbose": {"log_level"}, "threshold": {"min_confidence"},
	"topk": {"top"}, "top_k": {"top"}, "normalize": {"preprocess"},
}

// Nearest returns the keys of the settings that a key may mean: those of other programs' names, otherwise
// those that differ by a few letters.
func (l List) Nearest(key string) []string {
	known := slices.DeleteFunc(slices.Clone(elsewhere[key]), func(key string) bool { return !l.Has(key) })
	if len(known) > 0 {
		return known
	}
	return invalid.Nearest(key, l.Keys())
}
