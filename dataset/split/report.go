package split

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/lago-train/lago-train/dataset"
)

// Report is what there is to say of a split. Its JSON keys are stable.
type Report struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"` // of all parts
	Parts   []Part `json:"parts"`   // train, val, test
	// LeftOut are the classes in no part.
	LeftOut []string `json:"left_out"`
	Leaks   []Leak   `json:"leaks"`
	// Uncovered are the attributes that a val or test class has and no train class.
	Uncovered []string `json:"uncovered"`
	// HeldOutUnseen counts the samples of test classes that the data set holds out as
	// samples of seen ones, which it can't by this split.
	HeldOutUnseen int `json:"held_out_unseen"`
}

// Part is one part of a split.
type Part struct {
	Name    string   `json:"name"`
	Classes []string `json:"classes"`
	Samples int      `json:"samples"`
}

// Describe returns the report of a split of d. tolerance is that of Leaks.
func Describe(d *dataset.Dataset, s dataset.Split, tolerance float64) Report {
	r := Report{Name: d.Name, LeftOut: []string{}, Leaks: Leaks(d, s, tolerance), Uncovered: []string{}}
	if r.Leaks == nil {
		r.Leaks = []Leak{} // [] in JSON
	}
	samples := d.SamplesPerClass()
	for _, part := range s.Subsets() {
		p := Part{Name: part.Name, Classes: []string{}}
		for _, z := range part.Classes {
			p.Classes = append(p.Classes, d.Classes[z])
			p.Samples += samples[z]
		}
		r.Samples += p.Samples
		r.Parts = append(r.Parts, p)
	}
	for z, part := range parts(d, s) {
		if part == "" {
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

// maxLeaks is how many leaks of one kind are told as text.
const maxLeaks = 10

// WriteText writes r as plain text with a table.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.partTable())
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(&b, "in no part: %s\n", strings.Join(r.LeftOut, ", "))
	}
	if len(r.Leaks) == 0 {
		fmt.Fprintln(&b, "leaks: none by names, descriptions or samples")
	} else {
		r.writeLeaks(&b)
	}
	if len(r.Uncovered) > 0 {
		fmt.Fprintf(&b, "attributes that a val or test class has and no train class: %s\n", strings.Join(r.Uncovered, ", "))
	}
	if r.HeldOutUnseen > 0 {
		fmt.Fprintf(&b, "%d samples of test classes are held out as those of seen ones (test_seen): choose these anew\n", r.HeldOutUnseen)
	}
	fmt.Fprintln(&b, "not known from files: which test classes the network saw that the features are from (those of ImageNet, for most)")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) writeLeaks(b *strings.Builder) {
	fmt.Fprintf(b, "leaks: %d\n", len(r.Leaks))
	told := make(map[string]int)
	for _, l := range r.Leaks {
		if told[l.Kind]++; told[l.Kind] <= maxLeaks {
			fmt.Fprintf(b, "  %s: %s\n", l.Kind, l)
		}
	}
	for _, kind := range []string{byName, byDescription, bySample, heldOut} {
		if more := told[kind] - maxLeaks; more > 0 {
			fmt.Fprintf(b, "  %s: %d more\n", kind, more)
		}
	}
}

func (r Report) partTable() string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row{"part", "classes", "samples", "share of classes", "share of samples"})
	classes := 0
	for _, p := range r.Parts {
		classes += len(p.Classes)
	}
	for _, p := range r.Parts {
		t.AppendRow(table.Row{p.Name, len(p.Classes), p.Samples, percent(len(p.Classes), classes), percent(p.Samples, r.Samples)})
	}
	return t.Render()
}

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }
