package split

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
)

// Report describes a split. Its JSON keys are stable.
type Report struct {
	Name      string   `json:"name"`
	Samples   int      `json:"samples"` // of all subsets
	Subsets   []Subset `json:"subsets"` // train, val, test
	LeftOut   []string `json:"left_out"`
	Leaks     []Leak   `json:"leaks"`
	Uncovered []string `json:"uncovered"` // attributes of val or test classes that no train class has
	// HeldOutUnseen counts held-out samples of seen classes (test_seen) whose classes are
	// test classes by this split.
	HeldOutUnseen int `json:"held_out_unseen"`
}

// Subset describes the train, val or test classes.
type Subset struct {
	Name    string   `json:"name"`
	Classes []string `json:"classes"`
	Samples int      `json:"samples"`
}

// Describe returns the report of a split of d. tolerance is that of Leaks.
func Describe(d *dataset.Dataset, s dataset.Split, tolerance float64) Report {
	r := Report{Name: d.Name, LeftOut: []string{}, Leaks: append([]Leak{}, Leaks(d, s, tolerance)...), Uncovered: []string{}}
	samples := d.SamplesPerClass()
	for _, subset := range s.Subsets() {
		p := Subset{Name: subset.Name, Classes: []string{}}
		for _, z := range subset.Classes {
			p.Classes = append(p.Classes, d.Classes[z])
			p.Samples += samples[z]
		}
		r.Samples += p.Samples
		r.Subsets = append(r.Subsets, p)
	}
	for z, subset := range subsets(d, s) {
		if subset == "" {
			r.LeftOut = append(r.LeftOut, d.Classes[z])
		}
	}
	for _, m := range Uncovered(d, s) {
		r.Uncovered = append(r.Uncovered, d.Attributes[m].Name)
	}
	for _, i := range d.TestSeen {
		if slices.Contains(s.Test, d.Labels[i]) {
			r.HeldOutUnseen++
		}
	}
	return r
}

// WriteText writes r as text with a table. Of one kind of leaks it writes the first few.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	classes := 0
	for _, p := range r.Subsets {
		classes += len(p.Classes)
	}
	table := format.NewTable("subset", "classes", "samples", "share of classes", "share of samples")
	table.Right(4, 5)
	for _, p := range r.Subsets {
		table.Row(p.Name, len(p.Classes), p.Samples,
			format.Percent(float64(len(p.Classes))/float64(max(classes, 1))), format.Percent(float64(p.Samples)/float64(max(r.Samples, 1))))
	}
	fmt.Fprint(&b, table)
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(&b, "in no subset: %s\n", format.Printable(strings.Join(r.LeftOut, ", ")))
	}
	r.writeLeaks(&b)
	if len(r.Uncovered) > 0 {
		fmt.Fprintf(&b, "attributes of val or test classes that no train class has: %s\n", format.Printable(strings.Join(r.Uncovered, ", ")))
	}
	if r.HeldOutUnseen > 0 {
		fmt.Fprintf(&b, "%s of test classes held out as samples of seen classes: change test_seen in labels.csv, or leave these classes seen\n", format.Count(r.HeldOutUnseen, "sample"))
	}
	fmt.Fprintln(&b, "not checked: whether the network that computed the features was trained on test classes (most networks know those of ImageNet)")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) writeLeaks(b *strings.Builder) {
	const most = 10 // of one kind
	if len(r.Leaks) == 0 {
		fmt.Fprintln(b, "leaks: none found")
		return
	}
	fmt.Fprintf(b, "leaks: %d\n", len(r.Leaks))
	count := make(map[string]int)
	for _, l := range r.Leaks {
		if count[l.Kind]++; count[l.Kind] <= most {
			fmt.Fprintf(b, "  %s: %s\n", l.Kind, l)
		}
	}
	for _, kind := range []string{byName, byDescription, bySample, heldOut} {
		if more := count[kind] - most; more > 0 {
			fmt.Fprintf(b, "  %s: %d more\n", kind, more)
		}
	}
}
