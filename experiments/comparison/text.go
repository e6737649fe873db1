package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/atomicfile"
)

// ComparisonFile is where a comparison on a data set is stored below the folder of
// its trials.
func File(root, dataset string) string {
	return filepath.Join(root, fmt.Sprintf("compare-%s.json", strings.ToLower(dataset)))
}

// Store writes the comparison as JSON, whole or not at all.
func (r *Result) Store(path string) error { return atomicfile.WriteJSON(path, r) }

// ReadComparison reads what Store wrote.
func Read(path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Result)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: expected what lago-train compare stores: %w", path, err)
	}
	for _, m := range r.Methods {
		if m.Val == nil || m.Test == nil {
			return nil, fmt.Errorf("%s: %s: expected val and test, found null", path, m.Name)
		}
	}
	return r, nil
}

// WriteText writes the table, who is ahead of LAGO, and the settings.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Methods on %s: per-class accuracy (%%), settings chosen on the val classes\n", r.Dataset)
	t := lab.NewTable("method", "val", "s.e.m.", "test", "s.e.m.", "published", "seconds", "seeds", "tried")
	for _, m := range r.Methods {
		t.AppendRow(table.Row{
			m.Label(), lab.Points(m.Val.PerClass, m.Val.PerClass.Mean), lab.Points(m.Val.PerClass, m.Val.PerClass.SEM),
			lab.Points(m.Test.PerClass, m.Test.PerClass.Mean), lab.Points(m.Test.PerClass, m.Test.PerClass.SEM),
			orDash(m.Published), fmt.Sprintf("%.1f", m.Seconds), len(m.Test.PerClass.Values), m.Tried,
		})
	}
	fmt.Fprintln(&b, t.Render())
	r.writeAhead(&b)
	fmt.Fprintln(&b, "settings chosen:")
	for _, m := range r.Methods {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, settingsText(m))
	}
	for _, o := range r.LeftOut {
		fmt.Fprintf(&b, "%s is left out: %s\n", o.Variant, o.Why)
	}
	lab.WriteMissing(&b, r.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) writeAhead(b *strings.Builder) {
	lago := slices.ContainsFunc(r.Methods, func(m tuning.Method) bool { return m.Variant != "" })
	if !lago || len(r.Methods) == 1 {
		return
	}
	if len(r.Ahead) == 0 {
		fmt.Fprintln(b, "no baseline is ahead of LAGO on the test classes")
		return
	}
	fmt.Fprintf(b, "ahead of LAGO on the test classes: %s\n", strings.Join(r.Ahead, ", "))
}

// settingsText lists the settings by name.
func settingsText(m tuning.Method) string {
	parts := []string{fmt.Sprintf("%d epochs", m.Epochs)}
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		parts = append(parts, fmt.Sprintf("%s %v", name, m.Settings[name]))
	}
	return strings.Join(parts, ", ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
