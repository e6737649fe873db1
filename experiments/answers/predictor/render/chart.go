package render

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/table"
)

// total is the kind of the last step, the sum of all others.
const total PartKind = "total"

// chart draws how contributions add up to the log odds of the predicted class over another one:
// each bar begins where the one before ends. Positions are percentages of the width.
type chart struct {
	Class, Against string
	Steps          []step      // the last is the sum
	Ticks          []plot.Tick // Value is the position
	Zero           float64
}

// step is a contribution and the sum up to it.
type step struct {
	Part        // of the last the sum
	Sum         float64
	Left, Width float64
}

// leastSide is the room on the shorter side of zero, as a part of the other: for the name of its class.
const leastSide = 0.4

// newChart draws the first groups, the sum of all others, and the correction.
func newChart(c *predictor.Comparison, most int) *chart {
	h := &chart{Class: className(c.Class), Against: className(c.Against)}
	var sum, low, high float64
	for _, p := range Parts(c, most) {
		sum += p.LogOdds
		low, high = min(low, sum), max(high, sum)
		h.Steps = append(h.Steps, step{Part: p, Sum: sum})
	}
	h.Steps = append(h.Steps, step{Part: Part{Kind: total, Name: "sum", LogOdds: c.LogOdds}, Sum: c.LogOdds})
	low, high = min(low, c.LogOdds), max(high, c.LogOdds, low+0.5) // what is negligible is not large
	low, high = min(low, -leastSide*high), max(high, -leastSide*low)
	percent := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	for i, s := range h.Steps {
		left := min(s.Sum, s.Sum-s.LogOdds)
		h.Steps[i].Left, h.Steps[i].Width = percent(left), percent(max(s.Sum, s.Sum-s.LogOdds))-percent(left)
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if !t.IsMinor() {
			h.Ticks = append(h.Ticks, plot.Tick{Value: percent(t.Value), Label: t.Label})
		}
	}
	h.Zero = percent(0)
	return h
}

// groupTable is the chart as a table.
func groupTable(c *predictor.Comparison, most int) *table.Table {
	class, against := className(c.Class), className(c.Against)
	t := table.New(
		fmt.Sprintf("How the groups add up to the log odds of %s (▸) over %s (◂)", class, against),
		"group", "log odds", "sum so far", "◂         ▸").Right(2, 3)
	widest := math.Abs(c.Correction)
	for _, g := range c.Groups[:1] {
		widest = max(widest, math.Abs(g.Contribution))
	}
	sum := 0.0
	for _, p := range Parts(c, most) {
		sum += p.LogOdds
		drawn := ""
		if p.Kind != OfOthers {
			drawn = bar(p.LogOdds, widest)
		}
		t.Row(p.Name, signed(p.LogOdds), signed(sum), drawn)
	}
	return t.Line().Row("sum", signed(c.LogOdds), "", "")
}

// bar draws a contribution to the left or right of the middle.
func bar(contribution, widest float64) string {
	block := strings.Repeat("█",
		int(math.Round(barLength*math.Abs(contribution)/max(widest, math.SmallestNonzeroFloat64))))
	if contribution < 0 {
		return fmt.Sprintf("%*s│%*s", barLength, block, barLength, "")
	}
	return fmt.Sprintf("%*s│%-*s", barLength, "", barLength, block)
}
