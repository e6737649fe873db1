package render

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/table"
)

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
	Name, Kind  string // Kind is a PartKind, or "total"
	By, Sum     float64
	Left, Width float64
}

// chart draws the first groups, the sum of all others, and the correction.
func newChart(c *predictor.Comparison, shown int) *chart {
	h := &chart{Class: className(c.Class), Against: className(c.Against)}
	var sum, low, high float64
	for _, p := range Parts(c, shown) {
		sum += p.LogOdds
		low, high = min(low, sum), max(high, sum)
		h.Steps = append(h.Steps, step{Name: p.Name, Kind: string(p.Kind), By: p.LogOdds, Sum: sum})
	}
	h.Steps = append(h.Steps, step{Name: "sum", Kind: "total", By: c.LogOdds, Sum: c.LogOdds})
	low, high = min(low, c.LogOdds), max(high, c.LogOdds, low+0.5) // what is negligible is not large
	percent := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	for i, s := range h.Steps {
		left := min(s.Sum, s.Sum-s.By)
		h.Steps[i].Left, h.Steps[i].Width = percent(left), percent(max(s.Sum, s.Sum-s.By))-percent(left)
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if !t.IsMinor() {
			h.Ticks = append(h.Ticks, plot.Tick{Value: percent(t.Value), Label: t.Label})
		}
	}
	h.Zero = percent(0)
	return h
}

// groupTable shows the first groups, the sum of all others, and the correction.
func groupTable(c *predictor.Comparison, shown int) *table.Table {
	t := table.New("Groups that contribute most", "group", "effect", "◂ other  predicted ▸")
	total := "all groups"
	for _, p := range Parts(c, shown) {
		drawn := bar(p.LogOdds, max(math.Abs(c.Groups[0].Contribution), math.Abs(c.Correction)))
		switch p.Kind {
		case OfOthers:
			drawn = ""
		case OfCorrection:
			total = "all groups, corrected"
		}
		t.Row(p.Name, favour(c, p.LogOdds), drawn)
	}
	return t.Line().Row(total, favour(c, c.LogOdds), "")
}

// bar draws a contribution to the left or right of the middle.
func bar(contribution, widest float64) string {
	block := strings.Repeat("█", int(math.Round(barLength*math.Abs(contribution)/max(widest, math.SmallestNonzeroFloat64))))
	if contribution < 0 {
		return fmt.Sprintf("%*s│%*s", barLength, block, barLength, "")
	}
	return fmt.Sprintf("%*s│%-*s", barLength, "", barLength, block)
}
