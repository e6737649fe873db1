package ablation

import (
	"math"

	"github.com/lago-train/lago-train/model"
)

// Finding is something that the paper reads from its table A.2 (section 4.4), and
// whether it holds here.
type Finding struct {
	Text  string `json:"finding"`
	Holds bool   `json:"holds"`
}

// findings judges means, and not whether their differences are larger than chance.
// It returns none where a row has no accuracy.
func findings(rows []Row) []Finding {
	mean := map[Design]float64{}
	for _, r := range rows {
		if len(r.Accuracy.Values) == 0 {
			return []Finding{}
		}
		mean[r.Design] = r.Accuracy.Mean
	}
	// span is the lowest and the highest mean of the designs that are in.
	span := func(in func(Design) bool) (low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for d, m := range mean {
			if in(d) {
				low, high = min(low, m), max(high, m)
			}
		}
		return low, high
	}
	uniformAbove := true // in each pair of designs that differ in the prior alone
	for d, m := range mean {
		if d.Prior == model.Uniform {
			uniformAbove = uniformAbove && m > mean[Design{model.PerAttribute, d.Complement, d.Supervision}]
		}
	}
	uniformLow, uniformHigh := span(func(d Design) bool { return d.Prior == model.Uniform })
	perAttributeLow, perAttributeHigh := span(func(d Design) bool { return d.Prior == model.PerAttribute })
	constLow, constHigh := span(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.Const })
	deMorganLow, deMorganHigh := span(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.DeMorgan })
	return []Finding{
		{
			"uniform, const and implicit, the design of LAGO, is the best of all",
			mean[Design{model.Uniform, model.Const, Implicit}] == uniformHigh && uniformHigh > perAttributeHigh,
		},
		{"each design is better with a uniform prior than with a per-attribute one", uniformAbove},
		{
			"best and worst are closer together with a uniform prior than with a per-attribute one",
			uniformHigh-uniformLow < perAttributeHigh-perAttributeLow,
		},
		{"with a uniform prior, const is above De-Morgan", constLow > deMorganHigh},
		{
			"with a uniform prior, supervision changes less with const than with De-Morgan",
			constHigh-constLow < deMorganHigh-deMorganLow,
		},
	}
}
