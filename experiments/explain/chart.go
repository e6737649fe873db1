package explain

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"

	"github.com/lago-train/lago-train/internal/format"
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
	Name, Kind  string // Kind is "others", "correction" or "total", and "" for a group
	By, Sum     float64
	Left, Width float64
}

// chart draws the first groups, the sum of all others, and the correction.
func (c Comparison) chart(shown int) *chart {
	h := &chart{Class: className(c.Class), Against: className(c.Against)}
	var sum, rest, low, high float64
	add := func(name, kind string, by float64) {
		sum += by
		low, high = min(low, sum), max(high, sum)
		h.Steps = append(h.Steps, step{Name: name, Kind: kind, By: by, Sum: sum})
	}
	for i, g := range c.Groups {
		if i < shown {
			add(g.title(), "", g.Contribution)
		} else {
			rest += g.Contribution
		}
	}
	if others := len(c.Groups) - shown; others > 0 {
		add(format.Count(others, "other group")+" together", "others", rest)
	}
	if c.Correction != 0 {
		add("correction by seen classes", "correction", c.Correction)
	}
	h.Steps = append(h.Steps, step{Name: "sum", Kind: "total", By: c.LogOdds, Sum: c.LogOdds})
	low, high = min(low, c.LogOdds), max(high, c.LogOdds, low+0.5) // what is negligible is not large
	at := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	for i, s := range h.Steps {
		left := min(s.Sum, s.Sum-s.By)
		h.Steps[i].Left, h.Steps[i].Width = at(left), at(max(s.Sum, s.Sum-s.By))-at(left)
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if !t.IsMinor() {
			h.Ticks = append(h.Ticks, plot.Tick{Value: at(t.Value), Label: t.Label})
		}
	}
	h.Zero = at(0)
	return h
}

// groupTable shows the first groups, and the sum of all others.
func (c Comparison) groupTable(shown int) *table.Table {
	t := table.New("Groups that contribute most", "group", "effect", "◂ other  predicted ▸")
	for _, g := range c.Groups[:shown] {
		t.Row(g.title(), c.favour(g.Contribution), bar(g.Contribution, math.Abs(c.Groups[0].Contribution)))
	}
	var rest float64
	for _, g := range c.Groups[shown:] {
		rest += g.Contribution
	}
	if others := len(c.Groups) - shown; others > 0 {
		t.Row(format.Count(others, "other"), c.favour(rest), "")
	}
	total := "all groups"
	if c.Correction != 0 {
		t.Row("correction by seen classes", c.favour(c.Correction), bar(c.Correction, math.Abs(c.Groups[0].Contribution)))
		total = "all groups, corrected"
	}
	return t.Footer(total, c.favour(c.LogOdds), "")
}

// bar draws a contribution to the left or right of the middle.
func bar(contribution, widest float64) string {
	block := strings.Repeat("█", int(math.Round(barLength*math.Abs(contribution)/max(widest, math.SmallestNonzeroFloat64))))
	if contribution < 0 {
		return fmt.Sprintf("%*s│%*s", barLength, block, barLength, "")
	}
	return fmt.Sprintf("%*s│%-*s", barLength, "", barLength, block)
}
