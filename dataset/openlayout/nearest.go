package openlayout

import (
	"fmt"
	"strings"

	"github.com/xrash/smetrics"
)

// unknown quotes a name that is none of the known ones, with the nearest of those
// where it looks like a slip.
func unknown(name string, known []string) string {
	if name == "" {
		return "an empty cell"
	}
	best, distance := "", 2+len(name)/4 // as many edits make another name
	for _, other := range known {
		if d := len(name) - len(other); max(d, -d) >= distance {
			continue // as many edits at least
		}
		if d := smetrics.WagnerFischer(strings.ToLower(name), strings.ToLower(other), 1, 1, 1); d < distance {
			best, distance = other, d
		}
	}
	if best == "" {
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%q, which is near %q", name, best)
}
