package robustness

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
)

// Distortion makes descriptions worse, by degrees: by noise or, if Given is set, by leaving out attributes.
// It is the same for every model, and what is distorted at one degree is so at all worse ones.
type Distortion struct {
	Ratios     []float64 `json:"ratios,omitempty"`      // noise: shares of entries that are replaced
	NoiseSeeds int       `json:"noise_seeds,omitempty"` // noise: number of seeds of the noise
	// partial: shares of each class's attributes that are given
	Shares    []float64 `json:"shares,omitempty"`
	Given     Order     `json:"given,omitempty"`      // partial: random, strongest, groups or questions
	MaskSeeds int       `json:"mask_seeds,omitempty"` // partial: number of masks
}

// Order is the order in which the attributes of a class are given.
type Order string

// The orders.
const (
	AtRandom  Order = "random"
	Strongest Order = "strongest" // the highest p(a|z) first
	Groups    Order = "groups"    // whole groups at random, the same for all classes
	Questions Order = "questions" // whole groups, first those that tell most, by the seen classes
)

// sorted returns the degrees in ascending order, with that of no distortion.
func (d Distortion) sorted() (degrees []float64, undistorted float64) {
	if d.Given != "" {
		undistorted = 1
	}
	_, list, _ := d.degrees()
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(list), undistorted)))), undistorted
}

// degrees returns the degrees, what they are called, and the number of random seeds.
func (d Distortion) degrees() (name string, list []float64, seeds int) {
	if d.Given == "" {
		return "ratios", d.Ratios, d.NoiseSeeds
	}
	return "shares", d.Shares, d.MaskSeeds
}

// distort returns what makes the descriptions of the test classes worse, by a degree and a seed.
func (d Distortion) distort(data *dataset.Dataset) func(degree float64, seed uint64) dataset.Matrix[float64] {
	u := data.Describe(data.Split.Test)
	switch d.Given {
	case "":
		return func(ratio float64, seed uint64) dataset.Matrix[float64] { return saltAndPepper(u, ratio, seed) }
	case Groups, Questions:
		return d.Given.groups(data)
	}
	return func(share float64, seed uint64) dataset.Matrix[float64] { return d.Given.only(u, share, seed) }
}

// saltAndPepper returns descriptions of which each entry is replaced by 0 or 1, with equal
// probability, with the probability of the ratio. The draws are the same at every ratio.
func saltAndPepper(u dataset.Matrix[float64], ratio float64, seed uint64) dataset.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 0x5a17))
	noisy := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		chance, salt := rng.Float64(), rng.IntN(2)
		if chance < ratio {
			p = float64(salt)
		}
		noisy.Data[i] = p
	}
	return noisy
}

// only returns descriptions with a share of the described attributes of each class, at least one, and NaN for
// the others. The order of the attributes is the same for every share.
func (o Order) only(u dataset.Matrix[float64], share float64, seed uint64) dataset.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 0x9a97))
	part := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i := range part.Data {
		part.Data[i] = math.NaN()
	}
	for z := range u.Rows {
		order := slices.DeleteFunc(rng.Perm(u.Cols), func(m int) bool { return math.IsNaN(u.Row(z)[m]) })
		if o == Strongest {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u.Row(z)[b], u.Row(z)[a]) })
		}
		for _, m := range order[:shareOf(order, share)] {
			part.Row(z)[m] = u.Row(z)[m]
		}
	}
	return part
}

// shareOf returns how many of a list a share is, at least one unless there are none.
func shareOf(list []int, share float64) int {
	return min(max(int(math.Round(share*float64(len(list)))), 1), len(list))
}

// groups returns what gives the test classes a share of the groups, at least one, and NaN for the others.
func (o Order) groups(d *dataset.Dataset) func(share float64, seed uint64) dataset.Matrix[float64] {
	sets := make([][]int, len(d.Groups))
	for m, g := range d.GroupOf() {
		sets[g] = append(sets[g], m)
	}
	var asked []int
	if o == Questions {
		for _, q := range impute.Fit(d.Describe(d.Split.Seen())).Order(sets) {
			asked = append(asked, q.Index)
		}
	}
	return func(share float64, seed uint64) dataset.Matrix[float64] {
		order := asked
		if o == Groups {
			order = rand.New(rand.NewPCG(seed, 0x9a97)).Perm(len(sets))
		}
		part := d.Describe(d.Split.Test)
		for _, k := range order[shareOf(order, share):] {
			for _, m := range sets[k] {
				for z := range part.Rows {
					part.Row(z)[m] = math.NaN()
				}
			}
		}
		return part
	}
}
