package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/protocol"
)

// settings lists every configuration with what it scored.
func settings(_ *Runs, d *Dataset) Section {
	all := d.Configurations()
	names := slices.DeleteFunc(differing(all), func(name string) bool { return name == "variant" })
	var common []string
	for _, setting := range protocol.Settings(all[0].Trial()) {
		if setting.Name != "variant" && !slices.Contains(names, setting.Name) && !slices.Contains(identity, setting.Name) {
			common = append(common, setting.Name+" "+value(setting))
		}
	}
	s := Section{Name: "settings", Title: "Settings", Text: "What defines each configuration, and what it scored on the classes that its stage judges."}
	if len(common) > 0 {
		s.Text += " All have in common: " + strings.Join(common, ", ") + "."
	}
	s.Table = &Table{Header: append([]string{"variant", "stage", "accuracy (%)", "seeds", "epochs run", "best epoch", "ended by"}, names...)}
	for _, c := range all {
		s.Table.Rows = append(s.Table.Rows, append(c.outcome(), c.values(names)...))
	}
	return s
}

// Configurations lists those of both stages.
func (d *Dataset) Configurations() []*Configuration { return slices.Concat(d.Dev, d.Test) }

// outcome is what the trials came to.
func (c *Configuration) outcome() []string {
	var ran, kept, status []string
	for _, t := range c.Trials {
		ran = append(ran, fmt.Sprint(t.Result.Epochs))
		kept = append(kept, fmt.Sprint(t.Result.BestEpoch))
		status = append(status, string(t.Result.Status))
	}
	return []string{
		string(c.Variant()), string(c.Trial().Stage), plusMinus(c.PerClass), fmt.Sprint(len(c.Trials)), distinct(ran), distinct(kept), distinct(status),
	}
}

// values are those of the named settings.
func (c *Configuration) values(names []string) []string {
	var list []string
	for _, s := range protocol.Settings(c.Trial()) {
		if slices.Contains(names, s.Name) {
			list = append(list, value(s))
		}
	}
	return list
}

// distinct joins values over seeds, one where they are all the same.
func distinct(values []string) string {
	if len(slices.Compact(slices.Clone(values))) == 1 {
		return values[0]
	}
	return strings.Join(values, ", ")
}
