package tuning

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/train"
)

// candidate is one combination of settings of a method. Of a baseline, config has the
// preprocessing, and seed, epochs, patience and held-out samples.
type candidate struct {
	config protocol.Config
	spec   methods.Spec // zero for LAGO
}

// trials returns the trials of a stage on a view, one per seed.
func (c candidate) trials(v lab.View, stage train.Stage, epochs, seeds int) []train.Trial {
	config := c.config
	config.Seeds = seeds
	list := config.Trials(v, stage, epochs)
	if c.spec.Method == "" {
		return list
	}
	for i, t := range list {
		list[i] = train.Trial{
			Dataset: v.Data.Name, Fingerprint: t.Fingerprint, Stage: stage,
			Preprocess: t.Preprocess, Ridge: t.Ridge, HoldOut: t.HoldOut, Baseline: c.spec.Canonical(),
			Training: train.Training{Epochs: t.Training.Epochs, Patience: t.Training.Patience, Seed: t.Training.Seed},
		}
	}
	return list
}

// has reports whether the candidate's method has a setting of the table that is not part of
// the data or protocol: for a baseline the preprocessing.
func (c candidate) has(s protocol.Setting) bool {
	if c.spec.Method != "" {
		return s.Key == "preprocess" || s.Key == "ridge"
	}
	return s.Group != protocol.DataGroup && s.Group != protocol.ProtocolGroup && !slices.Contains([]string{"variant", "epochs", "patience"}, s.Key)
}

// settings lists the settings of the candidate that apply to it.
func (c candidate) settings() map[string]any {
	all := map[string]any{}
	for _, s := range protocol.All() {
		if c.has(s) && s.AppliesTo(c.config) {
			all[s.Key] = s.Value(c.config)
		}
	}
	if c.spec.Method != "" {
		maps.Copy(all, c.spec.Canonical().Values())
	}
	return all
}

// searchSpace returns what a search of the candidate's method varies: for LAGO the paper's
// space (supplement A) with preprocessing, alpha and prior; for a baseline its settings, with
// the same preprocessing. Fixed settings are left out.
func (c candidate) searchSpace(attributes int, fixed []string) space {
	var s space
	for _, setting := range protocol.All() {
		values := setting.SearchValues(c.config.Variant, attributes)
		if values == nil || !c.has(setting) || slices.Contains(fixed, setting.Key) {
			continue
		}
		_, whole := setting.Value(protocol.Config{}).(int)
		s = append(s, dimension{
			key: setting.Key, values: values, whole: whole,
			get:     func(c candidate) any { return setting.Value(c.config) },
			set:     func(c *candidate, v any) { setting.SetValue(&c.config, v) },
			applies: func(c candidate) bool { return setting.AppliesTo(c.config) },
		})
	}
	if c.spec.Method == "" {
		return s
	}
	for _, setting := range c.spec.Settings.Settings() {
		if len(setting.Search) > 0 && !slices.Contains(fixed, setting.Name) {
			s = append(s, specDimension(setting.Name, setting.Search))
		}
	}
	return s
}

// specDimension is a setting of a baseline.
func specDimension(name string, search []any) dimension {
	d := dimension{key: name}
	for _, v := range search {
		n, whole := v.(int)
		if d.whole = whole; whole {
			v = float64(n)
		}
		d.values = append(d.values, v)
	}
	d.get = func(c candidate) any { return c.spec.Values()[name] }
	d.set = func(c *candidate, v any) {
		data, err := json.Marshal(v)
		if err == nil {
			c.spec, err = c.spec.Set(name, data)
		}
		if err != nil {
			panic("tuning: a value of the space is refused: " + err.Error())
		}
	}
	d.applies = func(c candidate) bool { return c.spec.Applies(name) }
	return d
}

// baselineCandidate returns a baseline with its defaults and, of config, the preprocessing
// and what is common to all methods.
func baselineCandidate(m methods.Method, config protocol.Config) candidate {
	config.Variant = model.SemanticHard // whose settings do not matter
	return candidate{config, methods.Spec{Method: m.Name, Settings: m.Default}}
}
