package lab

import "gonum.org/v1/gonum/stat"

// Summary is a number over seeds.
type Summary struct {
	Mean   float64   `json:"mean"`
	SEM    float64   `json:"sem"` // standard error of the mean; 0 for a single value
	Values []float64 `json:"values"`
}

// Summarise means values. It returns the zero Summary for none.
func Summarise(values []float64) Summary {
	s := Summary{Values: values}
	switch len(values) {
	case 0:
	case 1:
		s.Mean = values[0]
	default:
		mean, sd := stat.MeanStdDev(values, nil)
		s.Mean, s.SEM = mean, stat.StdErr(sd, float64(len(values)))
	}
	return s
}
