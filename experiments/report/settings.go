package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// ofVariants lists the settings of which each variant has its own.
var ofVariants = []string{"lr", "bias_factor", "lr_v", "beta", "lambda", "alpha", "psi", "zeta", "k"}

// settingsOf lists the settings of a trial, without those that identify the data, the
// variant and the seed.
func settingsOf(t train.Trial, but ...string) []protocol.TrialSetting {
	but = append([]string{"dataset", "fingerprint", "variant", "stage", "seed"}, but...)
	return slices.DeleteFunc(protocol.OfTrial(t), func(s protocol.TrialSetting) bool { return slices.Contains(but, s.Name) })
}

// differing returns the names of the settings in which configurations differ.
func differing(list []*configuration, but ...string) []string {
	var names []string
	for i, first := range settingsOf(list[0].trial(), but...) {
		if slices.ContainsFunc(list, func(c *configuration) bool { return settingsOf(c.trial(), but...)[i] != first }) {
			names = append(names, first.Name)
		}
	}
	return names
}

// valueOf returns a setting of a trial as text, absent if it has no effect.
func valueOf(t train.Trial, s protocol.TrialSetting) string {
	setting, err := protocol.Find(s.Name)
	applies := err == nil && setting.AppliesTo(protocol.Config{Variant: t.Model.Variant, Preprocess: t.Preprocess})
	switch {
	case !applies, s.Name == "patience" && t.Stage == train.Test:
		return absent
	case s.Name == "ridge" && t.Ridge == 0:
		return "auto" // from the scale of the features
	}
	return fmt.Sprint(s.Value)
}

// labels names configurations by their variant and the settings in which those of the
// variant differ, as in "k-soft, k 30".
func labels(list []*configuration, but ...string) []string {
	result := make([]string, len(list))
	for i, c := range list {
		same := slices.DeleteFunc(slices.Clone(list), func(other *configuration) bool { return other.variant() != c.variant() })
		names := differing(same, but...)
		result[i] = string(c.variant())
		for _, s := range settingsOf(c.trial()) {
			value := valueOf(c.trial(), s)
			if slices.Contains(names, s.Name) && value != absent {
				result[i] += fmt.Sprintf(", %s %s", s.Name, value)
			}
		}
	}
	return result
}

// command returns a shell command for a data set and the folder of the report.
func (f *folder) command(d *datasetRuns, words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return fmt.Sprintf("lago-train %s --dataset %s --out %s", strings.Join(words, " "), shellQuote(d.name), shellQuote(f.dir))
}

// flags returns the flags that reproduce a configuration: its settings that differ from
// the preset, except some, and its seeds.
func (c *configuration) flags(but ...string) string {
	return strings.Join(c.changes(but...), " ")
}

// protocolFlags returns the epochs, patience, seeds and held-out samples of the best
// configuration, none without one.
func protocolFlags(choices []choice) string {
	c, ok := best(choices, func(choice) bool { return true })
	if !ok {
		return ""
	}
	var others []string
	for _, s := range settingsOf(c.shown().trial(), "epochs", "patience", "hold_out") {
		others = append(others, s.Name)
	}
	return c.shown().flags(others...)
}

// changes returns these flags one by one.
func (c *configuration) changes(but ...string) []string {
	preset := protocol.PresetFor(c.trial().Dataset, c.variant())
	if c.trial().Stage == train.Test { // the dev stage finds them
		but = append(but, "epochs", "patience")
	}
	var flags []string
	standard := settingsOf(preset.Trial(c.trial().Stage, "", 0, preset.DevEpochs()), but...)
	for i, s := range settingsOf(c.trial(), but...) {
		if s == standard[i] {
			continue
		}
		separator := " "
		if _, isBool := s.Value.(bool); isBool {
			separator = "="
		}
		flags = append(flags, fmt.Sprintf("--%s%s%v", strings.ReplaceAll(s.Name, "_", "-"), separator, s.Value))
	}
	first, last := c.trial().Training.Seed, c.runs[len(c.runs)-1].Training.Seed
	if n := last - first + 1; n != uint64(preset.Seeds) {
		flags = append(flags, fmt.Sprintf("--seeds %d", n))
	}
	if first != preset.Seed {
		flags = append(flags, fmt.Sprintf("--seed %d", first))
	}
	return flags
}

// shellQuote quotes a word for the shell if necessary.
func shellQuote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// configurationsSection lists every configuration with its accuracy and the settings in
// which they differ.
func configurationsSection(_ *folder, d *datasetRuns) Section {
	all := d.configurations()
	names := differing(all)
	s := Section{
		Name: "configurations", Title: "Configurations",
		Text:  "The accuracy of each configuration on the classes that its stage is evaluated on, the settings that differ between configurations, and the folder of each seed.",
		Table: &Table{Header: append([]string{"variant", "stage", "accuracy (%)", "epochs run", "best epoch", "ended by"}, names...)},
	}
	for _, c := range all {
		row := c.outcome()
		for _, s := range settingsOf(c.trial()) {
			if slices.Contains(names, s.Name) {
				row = append(row, valueOf(c.trial(), s))
			}
		}
		s.Table.Rows, s.Table.Runs = append(s.Table.Rows, row), append(s.Table.Runs, c.runs)
	}
	return s
}

// sharedSection lists the settings that all configurations have in common.
func sharedSection(_ *folder, d *datasetRuns) Section {
	all := d.configurations()
	s := Section{Name: "settings", Title: "Shared settings", Text: "The settings that all configurations to which they apply have in common."}
	var rows [][]string
	for _, setting := range settingsOf(all[0].trial(), differing(all)...) {
		for _, c := range all {
			if value := valueOf(c.trial(), setting); value != absent {
				rows = append(rows, []string{setting.Name, value})
				break
			}
		}
	}
	if len(rows) > 0 {
		s.Table = &Table{Header: []string{"setting", "value"}, Rows: rows}
	}
	return s
}

// outcome summarises the runs of a configuration.
func (c *configuration) outcome() []string {
	var epochs, best, status []string
	for _, r := range c.runs {
		epochs = append(epochs, fmt.Sprint(r.Result.Epochs))
		best = append(best, fmt.Sprint(r.Result.BestEpoch))
		status = append(status, string(r.Result.Status))
	}
	return []string{
		string(c.variant()), string(c.trial().Stage), plusMinus(c.PerClass), distinct(epochs), distinct(best), distinct(status),
	}
}

// distinct joins values, or returns one if all are the same.
func distinct(values []string) string {
	if len(slices.Compact(slices.Clone(values))) == 1 {
		return values[0]
	}
	return strings.Join(values, ", ")
}
