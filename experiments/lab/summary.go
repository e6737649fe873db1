package lab

import (
	"cmp"
	"math"
	"strings"

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

// ClassAccuracy is the accuracy on one class, the mean over the runs that evaluate it.
type ClassAccuracy struct {
	Class    string  `json:"class"`
	Samples  int     `json:"samples"`
	Accuracy float64 `json:"accuracy"`
}

// ClassAccuracies returns the accuracies of the classes that runs evaluate, in the order in
// which runs have them. Classes without samples, and runs without a result, are left out.
func ClassAccuracies(runs []Run) []ClassAccuracy {
	var list []ClassAccuracy
	var counts []float64
	at := map[string]int{}
	for _, r := range runs {
		if r.Result == nil || r.Result.Evaluation == nil {
			continue
		}
		samples, accuracy := metrics.Confusion(r.Result.Evaluation.Confusion).Recall()
		for z, class := range r.Result.Evaluation.Classes {
			if samples[z] == 0 {
				continue
			}
			i, known := at[class]
			if !known {
				i = len(list)
				at[class] = i
				list, counts = append(list, ClassAccuracy{Class: class, Samples: samples[z]}), append(counts, 0)
			}
			list[i].Accuracy += accuracy[z]
			counts[i]++
		}
	}
	for i := range list {
		list[i].Accuracy /= counts[i]
	}
	return list
}

// Accuracies returns the numbers of a list of classes.
func Accuracies(list []ClassAccuracy) []float64 {
	values := make([]float64, len(list))
	for i, c := range list {
		values[i] = c.Accuracy
	}
	return values
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

// PlusMinus returns a mean and its standard error in percent, "62.5 ± 0.4 %"; that of a single
// value is not known.
func (s Summary) PlusMinus() string {
	if len(s.Values) < 2 {
		return s.MeanText()
	}
	return strings.TrimSuffix(s.MeanText(), " %") + " ± " + s.SEMText()
}
