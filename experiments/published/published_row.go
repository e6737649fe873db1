package published

import "slices"

// resultRow is the row of the published table that is no single variant.
const ResultRow = "LAGO (variant chosen on validation)"

// within returns the numbers of groups that as many attributes can form.
func KsUpTo(ks []int, attributes int) []int {
	return slices.DeleteFunc(slices.Clone(ks), func(k int) bool { return k > attributes })
}
