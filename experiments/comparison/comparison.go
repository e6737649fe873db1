package comparison

import (
	"context"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
)

// Comparison is table 1 of the paper on one data set: every method by one protocol.
type Result struct {
	Dataset string          `json:"dataset"`
	Methods []tuning.Method `json:"methods"`
	// Ahead are the baselines with a higher test accuracy than LAGO.
	Ahead   []string           `json:"ahead_of_lago"`
	Missing []lab.Missing      `json:"missing"`  // failed trials
	LeftOut []protocol.LeftOut `json:"left_out"` // variants that the data set can't have
}

// Compare carries out the protocol for every method of c, see tuning.Run.
func Run(ctx context.Context, l *lab.Lab, c tuning.Config) (*Result, error) {
	m, err := tuning.Run(ctx, l, c)
	if err != nil {
		return nil, err
	}
	r := &Result{Dataset: l.Data.Name, Methods: m.Rows, Missing: m.Missing, LeftOut: m.LeftOut}
	r.Ahead = r.ahead()
	return r, nil
}

// ahead lists the baselines with a higher test accuracy than LAGO, the highest of its
// rows.
func (r *Result) ahead() []string {
	lago, found := -1.0, false
	for _, m := range r.Methods {
		if m.Variant != "" {
			lago, found = max(lago, m.Test.PerClass.Mean), true
		}
	}
	names := []string{}
	for _, m := range r.Methods {
		if found && m.Variant == "" && m.Test.PerClass.Mean > lago {
			names = append(names, m.Name)
		}
	}
	return names
}
