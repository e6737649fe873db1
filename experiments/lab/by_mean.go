package lab

import "cmp"

// byMean orders the higher mean first, and what has no values last.
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
