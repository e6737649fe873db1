package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// identity lists the settings that identify data and seed, not the configuration.
var identity = []string{"dataset", "fingerprint", "stage", "seed"}

// differing returns the names of the settings in which configurations differ.
func differing(list []*configuration, but ...string) []string {
	if len(list) == 0 {
		return nil
	}
	var names []string
	for i, first := range protocol.OfTrial(list[0].trial()) {
		if slices.Contains(identity, first.Name) || slices.Contains(but, first.Name) {
			continue
		}
		for _, c := range list {
			if protocol.OfTrial(c.trial())[i].Value != first.Value {
				names = append(names, first.Name)
				break
			}
		}
	}
	return names
}

// labels names configurations by their variant and the settings in which those of the
// variant differ, as in "k-soft, k 30".
func labels(list []*configuration, but ...string) []string {
	result := make([]string, len(list))
	for i, c := range list {
		var same []*configuration
		for _, other := range list {
			if other.variant() == c.variant() {
				same = append(same, other)
			}
		}
		names := differing(same, but...)
		parts := []string{string(c.variant())}
		for _, s := range protocol.OfTrial(c.trial()) {
			if slices.Contains(names, s.Name) {
				parts = append(parts, fmt.Sprintf("%s %v", s.Name, s.Value))
			}
		}
		result[i] = strings.Join(parts, ", ")
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
	preset := protocol.PresetFor(c.trial().Dataset, c.variant())
	standard := protocol.OfTrial(preset.Trial(c.trial().Stage, "", 0, preset.DevEpochs()))
	if c.trial().Stage == train.Test { // the dev stage finds them
		but = append(but, "epochs", "patience")
	}
	var flags []string
	for i, s := range protocol.OfTrial(c.trial()) {
		if slices.Contains(identity, s.Name) || slices.Contains(but, s.Name) || s.Name == "variant" || s.Value == standard[i].Value {
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
	return strings.Join(flags, " ")
}

// shellQuote quotes a word for the shell if necessary.
func shellQuote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// settingsSection lists every configuration with its accuracy.
func settingsSection(_ *folder, d *datasetRuns) Section {
	all := d.configurations()
	names := differing(all, "variant")
	var common []string
	for _, s := range protocol.OfTrial(all[0].trial()) {
		if s.Name != "variant" && !slices.Contains(names, s.Name) && !slices.Contains(identity, s.Name) {
			common = append(common, fmt.Sprintf("%s %v", s.Name, s.Value))
		}
	}
	s := Section{Name: "settings", Title: "Settings", Text: "The settings of each configuration, and its accuracy on the classes that its stage is evaluated on."}
	if len(common) > 0 {
		s.Text += " All have in common: " + strings.Join(common, ", ") + "."
	}
	s.Table = &Table{Header: append([]string{"variant", "stage", "accuracy (%)", "seeds", "epochs run", "best epoch", "ended by"}, names...)}
	for _, c := range all {
		row := c.outcome()
		for _, s := range protocol.OfTrial(c.trial()) {
			if slices.Contains(names, s.Name) {
				row = append(row, fmt.Sprint(s.Value))
			}
		}
		s.Table.Rows = append(s.Table.Rows, row)
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
		string(c.variant()), string(c.trial().Stage), plusMinus(c.PerClass), fmt.Sprint(len(c.runs)), distinct(epochs), distinct(best), distinct(status),
	}
}

// distinct joins values, or returns one if all are the same.
func distinct(values []string) string {
	if len(slices.Compact(slices.Clone(values))) == 1 {
		return values[0]
	}
	return strings.Join(values, ", ")
}
