package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

// Fact is a line of the summary of a data set.
type Fact struct{ Name, Text string }

// summary says what was run on a data set, what was best, and when and with what it was
// trained.
func (d *datasetRuns) summary() []Fact {
	if len(d.configurations()) == 0 {
		return []Fact{{"Runs", "none of LAGO on the data set's own split"}}
	}
	runs := 0
	var variants, programs, machines []string
	var first, last time.Time
	for _, c := range d.configurations() {
		runs += len(c.runs)
		for _, r := range c.runs {
			record, _ := train.ReadRecord(r.Dir) // was read before
			programs = append(programs, program(record.Versions))
			machines = append(machines, strings.TrimRight(fmt.Sprintf("%s, %s %s", record.Versions["platform"], record.BLAS.Name, record.BLAS.Version), ", "))
			if first.IsZero() || r.Ended.Before(first) {
				first = r.Ended
			}
			if r.Ended.After(last) {
				last = r.Ended
			}
		}
	}
	choices := d.choices()
	for _, c := range choices {
		variants = append(variants, string(c.variant))
	}
	facts := []Fact{{"Runs", fmt.Sprintf("%s of %s: %s", format.Count(runs, "run"), format.Count(len(d.configurations()), "configuration"), strings.Join(variants, ", "))}}
	facts = append(facts, bestFacts(choices)...)
	return append(facts,
		Fact{"Trained", period(first.UTC(), last.UTC())},
		Fact{"Program", sortedSet(programs)},
		Fact{"Machine", sortedSet(machines)},
	)
}

// bestFacts describe the configuration with the best validation accuracy.
func bestFacts(choices []choice) []Fact {
	c, _ := best(choices, func(choice) bool { return true })
	if c.dev == nil {
		return []Fact{{"Best configuration", "not known without runs of the dev stage"}}
	}
	return []Fact{
		{"Best configuration", c.dev.label + " (highest mean validation accuracy of the variants below)"},
		{"Validation accuracy", c.dev.accuracy()},
		{"Test accuracy", c.test.accuracy()},
	}
}

// accuracy is that of a configuration, which may be nil, with its interval and chance.
func (c *configuration) accuracy() string {
	if c == nil {
		return "not run yet"
	}
	s := fmt.Sprintf("%s (95 %% over %d classes: %s", c.PerClass.MeanText(), c.Classes, c.Interval)
	if c.PerClass.SEM != nil {
		s += fmt.Sprintf("; s.e.m. over %d seeds: %s", len(c.runs), c.PerClass.SEMText())
	}
	return s + "); chance is " + format.Percent(c.Chance())
}

// program names the version of the program that trained a run.
func program(versions map[string]string) string {
	s := "lago-train " + cmp.Or(versions["lago-train"], "of unknown version")
	if revision := versions["revision"]; revision != "" {
		s += fmt.Sprintf(", revision %.8s", revision)
	}
	return strings.TrimRight(s+", "+versions["go"], ", ")
}

func period(first, last time.Time) string {
	const minute, clock = "2006-01-02 15:04", "15:04"
	from, to := first.Format(minute), last.Format(minute)
	switch {
	case from == to:
		return to + " UTC"
	case first.YearDay() == last.YearDay() && first.Year() == last.Year():
		to = last.Format(clock)
	}
	return from + " to " + to + " UTC"
}

func sortedSet(values []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(values))), "; ")
}
