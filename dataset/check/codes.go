package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/internal/format"
)

// usualCodes are values that other programs write for missing ones.
var usualCodes = []float32{
	-1, -9, -99, -200, -999, -9999, -99999, -32768, 255, 999, 9999, 32767, 65535, 99999,
}

// extreme is the lowest or highest value of a feature, with the one next to it and their numbers.
type extreme struct {
	value, next float32
	count       int
}

// add takes a value into account, of which further says whether it is beyond another one.
func (e *extreme) add(v float32, further func(v, than float32) bool) {
	switch {
	case v == e.value:
		e.count++
	case e.count == 0:
		*e = extreme{v, v, 1}
	case further(v, e.value):
		*e = extreme{v, e.value, 1}
	case e.next == e.value || further(v, e.next):
		e.next = v
	}
}

// codes reports a value that stands far from all others of a feature, again and again: such as -9999, which
// stands for a missing one.
func (c *checker) codes() {
	const mostGap, usualGap = 2, 0.5 // in ranges of the other values
	x := c.Features
	low, high := make([]extreme, x.Cols), make([]extreme, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			low[j].add(v, func(v, than float32) bool { return v < than })
			high[j].add(v, func(v, than float32) bool { return v > than })
		}
	}
	columns, cells := map[float32]int{}, map[float32]int{}
	for j := range low {
		for _, e := range []struct {
			extreme
			other float32 // at the end of the other values
		}{{low[j], high[j].value}, {high[j], low[j].value}} {
			gap, span := math.Abs(float64(e.value-e.next)), math.Abs(float64(e.next-e.other))
			least := mostGap * span
			if slices.Contains(usualCodes, e.value) {
				least = usualGap * span
			}
			if e.value != 0 && span > 0 && gap > least {
				columns[e.value]++
				cells[e.value] += e.count
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(cells)) {
		if cells[v] > 2 {
			code := strconv.FormatFloat(float64(v), 'g', -1, 32)
			got := fmt.Sprintf("%s, far from all others, in %s of %s", code, format.Count(cells[v], "cell"),
				format.Count(columns[v], "column"))
			hint := fmt.Sprintf("If it stands for a missing value: --missing %s puts the mean of "+
				"the column in its place.", code)
			c.report("code", "features", "measured values", got, hint)
		}
	}
}
