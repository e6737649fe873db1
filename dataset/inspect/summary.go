package inspect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
)

// Summary describes a data set. Its JSON keys are stable.
type Summary struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"`
	Fingerprint string   `json:"fingerprint"`
	Samples     int      `json:"samples"`
	HeldOut     int      `json:"held_out"` // samples of seen classes, for generalised zero-shot learning
	Dimensions  int      `json:"dimensions"`
	Attributes  int      `json:"attributes"`
	Undescribed int      `json:"undescribed"` // entries of the descriptions that are missing
	Subsets     []Subset `json:"subsets"`     // train, val, test
	Groups      []Group  `json:"groups"`      // empty if groups are unknown
	Classes     []Class  `json:"classes"`
}

// Subset describes the train, val or test classes.
type Subset struct {
	Name    string  `json:"name"`
	Classes int     `json:"classes"`
	Samples int     `json:"samples"`
	Min     int     `json:"min"` // samples of the class with fewest
	Median  float64 `json:"median"`
	Max     int     `json:"max"`
}

// Group lists the attributes of one group.
type Group struct {
	Name       string   `json:"name"`
	Attributes []string `json:"attributes"`
}

// Class describes one class.
type Class struct {
	Name      string `json:"name"`
	Subset    string `json:"subset"` // train, val, test, or empty if the split leaves the class out
	Samples   int    `json:"samples"`
	Described int    `json:"described"` // attributes with a value
}

// Summarize describes d, which dataset.Check must have accepted.
func Summarize(d *dataset.Dataset) Summary {
	s := Summary{
		Name: d.Name, Source: d.Source, Fingerprint: d.Fingerprint(),
		Samples: d.Features.Rows, HeldOut: len(d.TestSeen), Dimensions: d.Features.Cols, Attributes: len(d.Attributes),
		Groups: make([]Group, len(d.Groups)), Classes: make([]Class, len(d.Classes)),
	}
	for k, name := range d.Groups {
		s.Groups[k].Name = name
	}
	for _, a := range d.Attributes {
		if a.Group >= 0 {
			s.Groups[a.Group].Attributes = append(s.Groups[a.Group].Attributes, a.Name)
		}
	}
	for z, n := range d.SamplesPerClass() {
		s.Classes[z] = Class{Name: d.Classes[z], Samples: n, Described: dataset.Described(d.Descriptions.Row(z))}
		s.Undescribed += s.Attributes - s.Classes[z].Described
	}
	for _, subset := range d.Split.Subsets() {
		sum := Subset{Name: subset.Name, Classes: len(subset.Classes)}
		n := make([]int, sum.Classes)
		for i, z := range subset.Classes {
			s.Classes[z].Subset = subset.Name
			n[i] = s.Classes[z].Samples
			sum.Samples += n[i]
		}
		slices.Sort(n)
		if last := len(n) - 1; last >= 0 {
			sum.Min, sum.Max = n[0], n[last]
			sum.Median = float64(n[last/2]+n[len(n)/2]) / 2
		}
		s.Subsets = append(s.Subsets, sum)
	}
	return s
}

// WriteText writes s as text with tables.
func (s Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	groups := "without groups"
	if len(s.Groups) > 0 {
		groups = "in " + format.Count(len(s.Groups), "group")
	}
	fmt.Fprintf(&b, `%s: %s of %s, %s each
source: %s
fingerprint: %s
descriptions: %s %s; %d missing
held out for generalised zero-shot learning: %s of seen classes
`, format.Printable(s.Name), format.Count(s.Samples, "sample"), format.Count(len(s.Classes), "class"), format.Count(s.Dimensions, "feature"),
		format.Printable(s.Source), s.Fingerprint, format.Count(s.Attributes, "attribute"), groups, s.Undescribed, format.Count(s.HeldOut, "sample"))

	subsets := format.NewTable("subset", "classes", "samples", "min per class", "median", "max")
	for _, p := range s.Subsets {
		subsets.Row(p.Name, p.Classes, p.Samples, p.Min, p.Median, p.Max)
	}
	fmt.Fprint(&b, subsets)
	if len(s.Groups) > 0 {
		const width = 72 // of the names
		table := format.NewTable("group", "attributes", "names")
		table.Wrap(width, 3)
		for _, g := range s.Groups {
			names := make([]string, len(g.Attributes))
			for i, name := range g.Attributes {
				names[i] = strings.TrimPrefix(name, g.Name+"::")
			}
			table.Row(g.Name, len(names), strings.Join(names, ", "))
		}
		fmt.Fprint(&b, table)
	}
	classes := format.NewTable("class", "subset", "samples", "attributes described")
	for _, c := range s.Classes {
		classes.Row(c.Name, c.Subset, c.Samples, c.Described)
	}
	fmt.Fprint(&b, classes)
	_, err := io.WriteString(w, b.String())
	return err
}
