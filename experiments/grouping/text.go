package grouping

import (
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes the analysis; of each group, the top attributes by weight.
func (r *Result) WriteText(w io.Writer, top int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %s of %s\n", r.Variant, format.Printable(r.Dataset), format.Count(len(r.Groups), "group"), format.Count(r.Attributes, "attribute"))
	fmt.Fprintf(&b, "Gamma above %g: %s of the entries, %.1f groups per attribute\n", r.Threshold, format.Percent(r.NonZero), r.PerAttribute)
	if r.Published != nil {
		fmt.Fprintf(&b, "published: %s of the entries\n", format.Percent(r.Published.NonZero))
	}
	fmt.Fprintf(&b, "\n%s\n", r.pairTable())
	if t := r.Permutation; t != nil {
		fmt.Fprintf(&b, "Correlations in the same and in different groups, permutation test of attributes: distance %.3f, p = %.2g\n", t.Distance, t.P)
	}
	if t := r.PaperKS; t != nil {
		fmt.Fprintf(&b, "The paper's Kolmogorov-Smirnov test, same group and all pairs, taken as independent: distance %.3f, p = %.2g\n", t.Distance, t.P)
	} else {
		fmt.Fprintln(&b, "No two attributes share a group.")
	}
	if r.Published != nil {
		fmt.Fprintf(&b, "The published shares are those of the authors' k-soft model with %d groups. The paper does not\n"+
			"state below which correlation it calls two attributes anti-correlated.\n", r.Published.K)
	}
	fmt.Fprintf(&b, "\n%s", r.groupTable(top))
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) pairTable() *format.Table {
	t := format.NewTable("pairs of attributes", "pairs", fmt.Sprintf("correlated below %g, over %s", r.Below, strings.ReplaceAll(string(r.By), "-", " ")), "published")
	t.Right(3, 4)
	grouped, all := "-", "-"
	if p := r.Published; p != nil {
		grouped, all = format.Percent(p.Grouped), format.Percent(p.All)
	}
	t.Row("in the same group", r.Grouped.Count, share(r.Grouped), grouped)
	t.Row("in different groups", r.Ungrouped.Count, share(r.Ungrouped), "-")
	t.Row("all", r.All.Count, share(r.All), all)
	return t
}

func share(p Pairs) string {
	if p.Count == 0 {
		return "-"
	}
	return format.Percent(p.Anticorrelated)
}

// memberWidth is the width of the column of attributes.
const memberWidth = 60

func (r *Result) groupTable(top int) *format.Table {
	t := format.NewTable("group", "attributes", "weight", "attributes by weight")
	t.Wrap(memberWidth, 4)
	t.Right(3)
	for _, group := range r.Groups {
		var names []string
		for _, m := range group.Members[:min(top, len(group.Members))] {
			names = append(names, fmt.Sprintf("%s %.2f", m.Attribute, m.Weight))
		}
		if more := len(group.Members) - top; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		t.Row(group.K, len(group.Members), fmt.Sprintf("%.1f", group.Weight), strings.Join(names, ", "))
	}
	return t
}
