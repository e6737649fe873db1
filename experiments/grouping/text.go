package grouping

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes the analysis; of the members of a group, the top ones by weight.
func (g *Result) WriteText(w io.Writer, top int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %s of %s\n", g.Variant, g.Dataset, format.Count(len(g.Groups), "group"), format.Count(g.Attributes, "attribute"))
	fmt.Fprintf(&b, "Gamma above %g: %s of the entries, %.1f groups an attribute\n", g.Threshold, format.Percent(g.NonZero), g.PerAttribute)
	if g.Published != nil {
		fmt.Fprintf(&b, "published: %s of the entries\n", format.Percent(g.Published.NonZero))
	}
	fmt.Fprintln(&b)
	fmt.Fprintln(&b, g.pairTable().Render())
	if g.KS == nil {
		fmt.Fprintln(&b, "no two attributes are grouped together")
	} else {
		fmt.Fprintf(&b, "two-sample Kolmogorov-Smirnov test of the correlations: distance %.3f, p = %.2g\n", g.KS.Distance, g.KS.P)
	}
	if g.Published != nil {
		fmt.Fprintf(&b, "The published shares are those of the authors' k-soft model with %d groups. The paper does not\n"+
			"say below which correlation it calls two attributes anti-correlated.\n", g.Published.K)
	}
	fmt.Fprintln(&b)
	fmt.Fprintln(&b, g.groupTable(top).Render())
	_, err := io.WriteString(w, b.String())
	return err
}

// memberWidth is where a line of members is broken.
const memberWidth = 76

// publishedCell is a published share, a dash where there is none.
func (g *Result) publishedCell(of func(PublishedGroups) float64) string {
	if g.Published == nil {
		return "-"
	}
	return format.Percent(of(*g.Published))
}

func (g *Result) pairTable() table.Writer {
	t := lab.NewTable("pairs of attributes", "pairs", fmt.Sprintf("correlated below %g, by %s", g.Below, g.By), "published")
	t.AppendRow(table.Row{
		"grouped together", g.Grouped.Count, share(g.Grouped),
		g.publishedCell(func(p PublishedGroups) float64 { return p.Grouped }),
	})
	t.AppendRow(table.Row{
		"all", g.All.Count, share(g.All),
		g.publishedCell(func(p PublishedGroups) float64 { return p.All }),
	})
	return t
}

func share(p Pairs) string {
	if p.Count == 0 {
		return "-"
	}
	return format.Percent(p.Anticorrelated)
}

func (g *Result) groupTable(top int) table.Writer {
	t := lab.NewTable("group", "attributes", "weight", "by weight")
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, WidthMax: memberWidth, WidthMaxEnforcer: text.WrapSoft}})
	for _, group := range g.Groups {
		var names []string
		for _, m := range group.Members[:min(top, len(group.Members))] {
			names = append(names, fmt.Sprintf("%s %.2f", m.Attribute, m.Weight))
		}
		if more := len(group.Members) - top; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		t.AppendRow(table.Row{group.K, len(group.Members), fmt.Sprintf("%.1f", group.Weight), strings.Join(names, ", ")})
	}
	return t
}
