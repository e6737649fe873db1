package bytesize

import (
	"math"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{-1, "unknown"},
		{0, "0 B"},
		{999, "999 B"},
		{1000, "1.0 kB"},
		{1049, "1.0 kB"},
		{1051, "1.1 kB"},
		{999_949, "999.9 kB"},
		{999_950, "1.0 MB"}, // not 1000.0 kB
		{878_980_000, "879.0 MB"},
		{5_000_000_000, "5.0 GB"},
		{math.MaxInt64, "9.2 EB"},
	} {
		if got := Text(c.n); got != c.want {
			t.Errorf("Text(%d) is %q, expected %q", c.n, got, c.want)
		}
	}
}
