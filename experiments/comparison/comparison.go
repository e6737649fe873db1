package comparison

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Result is table 1 of the paper on one data set: every method by one protocol.
type Result struct {
	Dataset string          `json:"dataset"`
	Methods []tuning.Method `json:"methods"`
	// Ahead lists the baselines with a higher test accuracy than LAGO.
	Ahead   []string           `json:"ahead_of_lago"`
	Missing []lab.Missing      `json:"missing"`
	LeftOut []protocol.LeftOut `json:"left_out"` // variants that the data set does not allow
}

// Run trains and evaluates every method of c by one protocol, see tuning.Run, and stores
// the result in the folder of the lab for Find.
func Run(ctx context.Context, l *lab.Lab, c tuning.Config) (*Result, error) {
	m, err := tuning.Run(ctx, l, c)
	if err != nil {
		return nil, err
	}
	r := &Result{Dataset: l.Data.Name, Methods: m.Rows, Missing: m.Missing, LeftOut: m.LeftOut}
	r.Ahead = r.ahead()
	return r, l.Store(kind, c, r)
}

// ahead lists the baselines with a higher test accuracy than the best row of LAGO.
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

// kind is the first word of the names of stored comparisons.
const kind = "compare"

// Find returns the comparison on a data set that was stored last in a folder, and its
// file. The error is fs.ErrNotExist if there is none.
func Find(root, dataset, fingerprint string) (*Result, string, error) {
	r := new(Result)
	path, err := lab.FindStored(root, kind, dataset, fingerprint, r)
	if err != nil {
		return nil, path, err
	}
	for _, m := range r.Methods {
		if m.Val == nil || m.Test == nil {
			return nil, path, &invalid.Error{Where: path, Field: m.Name, Want: "val and test", Got: "null"}
		}
	}
	return r, path, nil
}

// WriteText writes the table, the baselines ahead of LAGO, and the settings.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Methods on %s: per-class accuracy, settings chosen on the validation classes, s.e.m. over seeds\n", r.Dataset)
	t := format.NewTable("method", "validation", "s.e.m.", "test", "s.e.m.", "published", "seconds", "seeds", "tried")
	t.Right(2, 3, 4, 5, 6, 7)
	for _, m := range r.Methods {
		t.Row(m.Label(), m.Val.PerClass.MeanText(), m.Val.PerClass.SEMText(), m.Test.PerClass.MeanText(), m.Test.PerClass.SEMText(),
			cmp.Or(m.Published, "-"), fmt.Sprintf("%.1f", m.Seconds), len(m.Test.PerClass.Values), m.Tried)
	}
	b.WriteString(t.String())
	lago := slices.ContainsFunc(r.Methods, func(m tuning.Method) bool { return m.Variant != "" })
	switch {
	case !lago || len(r.Methods) == 1:
	case len(r.Ahead) == 0:
		fmt.Fprintln(&b, "no baseline is ahead of LAGO on the test classes")
	default:
		fmt.Fprintf(&b, "ahead of LAGO on the test classes: %s\n", strings.Join(r.Ahead, ", "))
	}
	fmt.Fprintln(&b, "settings chosen:")
	for _, m := range r.Methods {
		parts := []string{format.Count(m.Epochs, "epoch")}
		for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
			parts = append(parts, fmt.Sprintf("%s %v", name, m.Settings[name]))
		}
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, strings.Join(parts, ", "))
	}
	for _, o := range r.LeftOut {
		fmt.Fprintf(&b, "%s is left out: %s\n", o.Variant, o.Why)
	}
	b.WriteString(lab.MissingText(r.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}
