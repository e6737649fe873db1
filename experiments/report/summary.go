package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// Summary is what the command says of a report.
type Summary struct {
	Page           string        `json:"page"`
	Figures        []string      `json:"figures"` // files of pictures
	Configurations []Scored      `json:"configurations"`
	Missing        []lab.Missing `json:"missing"`
}

// Scored is a configuration and its accuracy per class, as fractions.
type Scored struct {
	Dataset       string      `json:"dataset"`
	Stage         train.Stage `json:"stage"`
	Configuration string      `json:"configuration"`
	Accuracy      lab.Summary `json:"accuracy"`
	RunDirs       []string    `json:"run_dirs"`
}

// Summary lists what the folder holds.
func (r *Runs) Summary() *Summary {
	s := &Summary{Figures: []string{}, Configurations: []Scored{}, Missing: r.Missing}
	for _, d := range r.Datasets {
		for _, c := range d.Configurations() {
			scored := Scored{Dataset: r.title(d), Stage: c.Trial().Stage, Configuration: c.Label, Accuracy: c.PerClass}
			for _, t := range c.Trials {
				scored.RunDirs = append(scored.RunDirs, t.Dir)
			}
			s.Configurations = append(s.Configurations, scored)
		}
	}
	return s
}

// WriteText writes where the report is, and what it does without.
func (s *Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	trials := 0
	for _, c := range s.Configurations {
		trials += len(c.RunDirs)
	}
	fmt.Fprintf(&b, "%s shows %s of %s\n", s.Page, count(trials, "trial"), count(len(s.Configurations), "configuration"))
	for _, file := range s.Figures {
		fmt.Fprintf(&b, "  %s\n", file)
	}
	if len(s.Missing) > 0 {
		fmt.Fprintf(&b, "%s missing:\n", count(len(s.Missing), "trial"))
	}
	for _, m := range s.Missing {
		fmt.Fprintf(&b, "  %s: %s\n", m.Dir, m.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
