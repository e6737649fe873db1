package check

import (
	"fmt"
	"math"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// unlearnable reports attributes that no seen class has, or all have, while unseen classes differ in them:
// nothing distinguishes them in training, so that what rests on them alone cannot be told apart.
func (c *checker) unlearnable() {
	const namedClasses = 3
	seen, unseen := c.Split.Seen(), c.Split.Test
	if len(seen) == 0 {
		return
	}
	for m, attribute := range c.Attributes {
		least, most := math.Inf(1), math.Inf(-1)
		for _, z := range seen {
			if p := c.Descriptions.Row(z)[m]; !math.IsNaN(p) {
				least, most = min(least, p), max(most, p)
			}
		}
		never, always := most == 0, least == 1
		if !never && !always {
			continue
		}
		var rest []string // unseen classes of the other kind
		for _, z := range unseen {
			if p := c.Descriptions.Row(z)[m]; never && p >= 0.5 || always && p < 0.5 {
				rest = append(rest, invalid.Quote(c.Classes[z]))
			}
		}
		if len(rest) == 0 {
			continue
		}
		got, do := "none that has it", "have it"
		if always {
			got, do = "all with it", "lack it"
		}
		names := strings.Join(rest[:min(len(rest), namedClasses)], ", ")
		if more := len(rest) - namedClasses; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		c.report("unlearnable", "attribute "+invalid.Quote(attribute.Name),
			"seen classes with and without it", got,
			"It cannot be learned. Unseen classes that "+do+": "+names+".")
	}
}
