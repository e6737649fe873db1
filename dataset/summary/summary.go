package summary

import (
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Summary is what there is to say of a data set. Its JSON keys are stable.
type Summary struct {
	Name        string  `json:"name"`
	Source      string  `json:"source"`
	Fingerprint string  `json:"fingerprint"`
	Samples     int     `json:"samples"`
	Dimensions  int     `json:"dimensions"`
	Attributes  int     `json:"attributes"`
	Undescribed int     `json:"undescribed"` // entries of the descriptions that are not described
	Parts       []Part  `json:"parts"`       // train, val, test
	Groups      []Group `json:"groups"`      // empty where groups are unknown
	Classes     []Class `json:"classes"`
}

// Part sums up one of train, val and test.
type Part struct {
	Name    string `json:"name"`
	Classes int    `json:"classes"`
	Samples int    `json:"samples"`
	// How many samples its classes have: the fewest, the median and the most.
	Min    int     `json:"min"`
	Median float64 `json:"median"`
	Max    int     `json:"max"`
}

// Group names the attributes of one group.
type Group struct {
	Name       string   `json:"name"`
	Attributes []string `json:"attributes"`
}

// Class sums up one class.
type Class struct {
	Name      string `json:"name"`
	Part      string `json:"part"` // empty for a class that the split leaves out
	Samples   int    `json:"samples"`
	Described int    `json:"described"` // attributes that its description gives a value for
}

// Of sums up d, which dataset.Check must have accepted.
func Of(d *dataset.Dataset) Summary {
	s := Summary{
		Name:        d.Name,
		Source:      d.Source,
		Fingerprint: d.Fingerprint(),
		Samples:     d.Features.Rows,
		Dimensions:  d.Features.Cols,
		Attributes:  len(d.Attributes),
		Groups:      groups(d),
		Classes:     classes(d),
	}
	for _, c := range s.Classes {
		s.Undescribed += s.Attributes - c.Described
	}
	for _, part := range d.Split.Subsets() {
		s.Parts = append(s.Parts, sumUp(part, s.Classes))
	}
	return s
}

func groups(d *dataset.Dataset) []Group {
	gs := make([]Group, len(d.Groups))
	for k, name := range d.Groups {
		gs[k].Name = name
	}
	for _, a := range d.Attributes {
		if a.Group >= 0 {
			gs[a.Group].Attributes = append(gs[a.Group].Attributes, a.Name)
		}
	}
	return gs
}

func classes(d *dataset.Dataset) []Class {
	cs := make([]Class, len(d.Classes))
	for z, n := range d.SamplesPerClass() {
		cs[z] = Class{Name: d.Classes[z], Samples: n}
		for _, p := range d.Descriptions.Row(z) {
			if !math.IsNaN(p) {
				cs[z].Described++
			}
		}
	}
	for _, part := range d.Split.Subsets() {
		for _, z := range part.Classes {
			cs[z].Part = part.Name
		}
	}
	return cs
}

func sumUp(part dataset.Subset, all []Class) Part {
	p := Part{Name: part.Name, Classes: len(part.Classes)}
	if p.Classes == 0 {
		return p
	}
	n := make([]int, p.Classes)
	for i, z := range part.Classes {
		n[i] = all[z].Samples
		p.Samples += n[i]
	}
	slices.Sort(n)
	p.Min, p.Max = n[0], n[len(n)-1]
	p.Median = float64(n[(len(n)-1)/2]+n[len(n)/2]) / 2
	return p
}
