package lab

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train/metrics"
)

// Summary is a number over several runs, usually one per seed.
type Summary struct {
	Mean   float64   `json:"mean"`
	SEM    *float64  `json:"sem"` // standard error of the mean; null for fewer than two values
	Values []float64 `json:"values"`
}

// Summarise returns the mean of values and its standard error. It returns the zero
// Summary for none.
func Summarise(values []float64) Summary {
	s := Summary{Values: values}
	switch len(values) {
	case 0:
	case 1:
		s.Mean = values[0]
	default:
		mean, sd := stat.MeanStdDev(values, nil)
		sem := stat.StdErr(sd, float64(len(values)))
		s.Mean, s.SEM = mean, &sem
	}
	return s
}

// MeanText returns the mean in percent, or a dash if there are no values.
func (s Summary) MeanText() string {
	if len(s.Values) == 0 {
		return format.Percent(math.NaN())
	}
	return format.Percent(s.Mean)
}

// SEMText returns the standard error in percent, or a dash for fewer than two values.
func (s Summary) SEMText() string {
	if s.SEM == nil {
		return format.Percent(math.NaN())
	}
	return format.Percent(*s.SEM)
}

// Margin returns the standard error for an error bar, 0 if there is none.
func (s Summary) Margin() float64 {
	if s.SEM == nil {
		return 0
	}
	return *s.SEM
}

// ClassAccuracies returns the accuracy of each evaluated class, the mean over runs of the
// same classes, such as the seeds of a stage. It is NaN for classes without samples. Runs
// without a result are left out; it returns nil if all are.
func ClassAccuracies(runs []Run) []float64 {
	var mean []float64
	var n float64
	for _, r := range runs {
		if r.Result == nil || r.Result.Evaluation == nil {
			continue
		}
		_, accuracy := metrics.Confusion(r.Result.Evaluation.Confusion).Recall()
		if mean == nil {
			mean = make([]float64, len(accuracy))
		}
		floats.Add(mean, accuracy)
		n++
	}
	floats.Scale(1/n, mean)
	return mean
}

// ByMean orders summaries by descending mean; those without values come last.
func ByMean(x, y Summary) int {
	switch {
	case len(x.Values) == 0 && len(y.Values) == 0:
		return 0
	case len(x.Values) == 0:
		return 1
	case len(y.Values) == 0:
		return -1
	}
	return cmp.Compare(y.Mean, x.Mean)
}
