package plot

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// apart is the smallest range of an axis, in percent or epochs.
const apart = 1e-3

// largest bounds the axes: far beyond it, steps of an axis are lost to rounding.
const largest = 1e9

// scale sets the range of an axis to whole steps of 1, 2 or 5 times a power of ten
// around low and high, and labels them. There are at most count steps between the two at
// the ends, none smaller than least. Values beyond largest are not drawn.
func scale(a *plot.Axis, low, high float64, count int, least float64) {
	low, high = min(max(low, -largest), largest), min(max(high, -largest), largest)
	if !(low <= high) { // no data, or NaN
		low, high = 0, 0
	}
	if high-low < apart {
		low, high = low-0.5, high+0.5
	}
	step, decimals := niceStep(max((high-low)/float64(count), least))
	// The tolerance keeps 0.3/0.1 at three steps.
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	var ticks []plot.Tick
	for i := first; i <= last; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'f', decimals, 64)})
	}
	a.Min, a.Max = first*step, last*step
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// niceStep returns the smallest step of 1, 2 or 5 times a power of ten that is at
// least the given one, and the decimals that its multiples are written with.
func niceStep(least float64) (step float64, decimals int) {
	power := math.Floor(math.Log10(least))
	unit := math.Pow(10, power)
	step = 10 * unit
	for _, factor := range []float64{1, 2, 5} {
		if factor*unit >= least {
			step = factor * unit
			break
		}
	}
	return step, max(0, -int(math.Floor(math.Log10(step)+1e-9)))
}

// dataTicks has a tick at every value, with a label where there is room; scale is the
// length of the axis per unit.
func dataTicks(values []float64, scale float64) plot.ConstantTicks {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	var ticks plot.ConstantTicks
	end := math.Inf(-1) // of the last label
	for _, v := range values {
		t := plot.Tick{Value: v}
		label := strconv.FormatFloat(v, 'g', 4, 64)
		half := float64(nameStyle.Width(label)) / 2
		if v*scale-half > end {
			t.Label = label
			end = v*scale + half + float64(gap)
		}
		ticks = append(ticks, t)
	}
	return ticks
}
