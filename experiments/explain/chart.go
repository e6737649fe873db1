package explain

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/format"
)

// chart draws how contributions add up to the log odds of the predicted class over another one:
// each bar begins where the one before ends. Positions are percentages of the width.
type chart struct {
	Class, Against string
	Steps          []step // the last is the sum
	Ticks          []tick
	Zero           float64
}

// step is a contribution and the sum up to it.
type step struct {
	Name        string
	Kind        string // "": a group; "others", "correction" or "total"
	By, Sum     float64
	Left, Width float64
}

// Favours says which class a step favours, for its colour.
func (s step) Favours() string {
	if s.By < 0 {
		return "against"
	}
	return "for"
}

type tick struct {
	Value string
	Left  float64
}

// mostTicks is the number of intervals of a scale at most.
const mostTicks = 6

// chart draws the first groups, the sum of all others, and the correction.
func (c Comparison) chart(shown int) *chart {
	h := &chart{Class: className(c.Class), Against: className(c.Against)}
	var sum, low, high float64
	add := func(name, kind string, by float64) {
		sum += by
		low, high = min(low, sum), max(high, sum)
		h.Steps = append(h.Steps, step{Name: name, Kind: kind, By: by, Sum: sum})
	}
	for _, g := range c.Groups[:shown] {
		add(g.title(), "", g.Contribution)
	}
	if rest := c.Groups[shown:]; len(rest) > 0 {
		var by float64
		for _, g := range rest {
			by += g.Contribution
		}
		add(format.Count(len(rest), "other group")+" together", "others", by)
	}
	if c.Correction != 0 {
		add("correction by seen classes", "correction", c.Correction)
	}
	h.Steps = append(h.Steps, step{Name: "sum", Kind: "total", By: c.LogOdds, Sum: c.LogOdds})
	low, high = min(low, c.LogOdds), max(high, c.LogOdds)
	if high-low < 1 { // so that what is negligible is not large
		high = low + 1
	}
	at := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	for i, s := range h.Steps {
		from := at(s.Sum - s.By)
		h.Steps[i].Left, h.Steps[i].Width = min(from, at(s.Sum)), math.Abs(at(s.Sum)-from)
	}
	unit := math.Pow(10, math.Floor(math.Log10((high-low)/mostTicks)))
	for _, times := range []float64{2, 2.5, 2} { // 2, 5, 10
		if (high-low)/unit > mostTicks {
			unit *= times
		}
	}
	for k := math.Ceil(low/unit) + 0; k*unit <= high; k++ { // + 0, since -0 would be written as such
		h.Ticks = append(h.Ticks, tick{fmt.Sprintf("%.3g", k*unit), at(k * unit)})
	}
	h.Zero = at(0)
	return h
}

// signed writes a contribution.
func signed(v float64) string { return fmt.Sprintf("%+.2f", v) }
