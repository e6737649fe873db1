package subsets

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Axis is what a data set has less of.
type Axis string

// The axes.
const (
	Classes    Axis = "classes"    // seen ones, train and validation in proportion
	Samples    Axis = "samples"    // of each seen class
	Attributes Axis = "attributes" // of all classes
	Groups     Axis = "groups"     // with all their attributes
	Entries    Axis = "entries"    // described attributes of each class, others for each
)

// Axes are all of them.
var Axes = []Axis{Classes, Samples, Attributes, Groups, Entries}

// Words names the axis in titles.
func (a Axis) Words() string {
	switch a {
	case Classes:
		return "seen classes"
	case Samples:
		return "samples of each seen class"
	case Entries:
		return "described attributes of each class"
	}
	return string(a)
}

// least is the smallest size: of seen classes two train and two validation classes.
func (a Axis) least() int {
	if a == Classes {
		return 4
	}
	return 1
}

// size is that of the whole data set.
func (a Axis) size(d *dataset.Dataset) int {
	most := 0
	switch a {
	case Classes:
		most = len(d.Split.Seen())
	case Samples:
		for _, z := range d.Split.Seen() {
			most = max(most, d.SamplesPerClass()[z])
		}
	case Attributes:
		most = len(d.Attributes)
	case Groups:
		most = len(d.Groups)
	case Entries:
		for z := range d.Classes {
			most = max(most, dataset.Described(d.Descriptions.Row(z)))
		}
	}
	return most
}

// subset returns a data set with n of them. Those of a seed contain those of smaller n.
func (a Axis) subset(d *dataset.Dataset, n int, seed uint64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x5b5e7))
	part := *d
	switch a {
	case Classes:
		train, val := draw(rng, d.Split.Train), draw(rng, d.Split.Val)
		vals := int(math.Round(float64(n*len(val)) / float64(len(train)+len(val))))
		vals = min(max(vals, 2), len(val))
		n = min(n-vals, len(train))
		part.Split.Train, part.Split.Val = slices.Sorted(slices.Values(train[:n])), slices.Sorted(slices.Values(val[:vals]))
		part.DevSplits = nil
		seen := part.Split.Seen()
		part.TestSeen = slices.DeleteFunc(slices.Clone(d.TestSeen), func(i int) bool { return !slices.Contains(seen, d.Labels[i]) })
	case Samples:
		part.TestSeen = nil // held out, they are in no stage
		seen, given := d.Split.Seen(), make([]int, len(d.Classes))
		for _, i := range rng.Perm(len(d.Labels)) {
			if z := d.Labels[i]; slices.Contains(seen, z) {
				if given[z]++; given[z] > n {
					part.TestSeen = append(part.TestSeen, i)
				}
			}
		}
		slices.Sort(part.TestSeen)
	case Attributes:
		return withAttributes(d, rng.Perm(len(d.Attributes))[:n])
	case Groups:
		groups := rng.Perm(len(d.Groups))[:n]
		var list []int
		for m, attribute := range d.Attributes {
			if slices.Contains(groups, attribute.Group) {
				list = append(list, m)
			}
		}
		return withAttributes(d, list)
	case Entries:
		part.Descriptions = dataset.NewMatrix[float64](d.Descriptions.Rows, d.Descriptions.Cols)
		for z := range d.Classes {
			row, u := part.Descriptions.Row(z), d.Descriptions.Row(z)
			given := 0
			for _, m := range rng.Perm(len(u)) {
				if row[m] = u[m]; math.IsNaN(u[m]) {
					continue
				}
				if given++; given > n {
					row[m] = math.NaN()
				}
			}
		}
	}
	return &part
}

// draw returns a list in random order.
func draw(rng *rand.Rand, list []int) []int {
	drawn := slices.Clone(list)
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn
}

// withAttributes returns a data set with some of the attributes, and the groups that these have.
func withAttributes(d *dataset.Dataset, list []int) *dataset.Dataset {
	slices.Sort(list)
	part := *d
	part.Attributes, part.Groups = nil, nil
	part.Descriptions = dataset.NewMatrix[float64](len(d.Classes), len(list))
	for i, m := range list {
		attribute := d.Attributes[m]
		for z := range d.Classes {
			part.Descriptions.Row(z)[i] = d.Descriptions.Row(z)[m]
		}
		if attribute.Group >= 0 {
			name := d.Groups[attribute.Group]
			if attribute.Group = slices.Index(part.Groups, name); attribute.Group < 0 {
				attribute.Group = len(part.Groups)
				part.Groups = append(part.Groups, name)
			}
		}
		part.Attributes = append(part.Attributes, attribute)
	}
	return &part
}
