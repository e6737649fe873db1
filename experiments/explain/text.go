package explain

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/lago-train/lago-train/model"
)

// WriteText writes the explanation; of each comparison, the top groups with what
// carried them.
func (x *Explanation) WriteText(w io.Writer, top int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n%s\n", x.headline(), x.settings(), x.likelyTable().Render())
	for _, c := range x.Comparisons {
		fmt.Fprintf(&b, "\n%s\n", c.headline())
		for _, line := range c.readings() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		fmt.Fprintf(&b, "\n%s\n", c.groupTable(top).Render())
		for _, g := range c.Groups[:min(top, len(c.Groups))] {
			fmt.Fprintf(&b, "\n%s %+.2f: scores %s\n%s\n", g.title(), g.Contribution, g.scores(), x.termTable(c, g).Render())
		}
		c.writeChanges(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (x *Explanation) likelyTable() table.Writer {
	t := newTable("class", "p(class | x)")
	for _, l := range x.Likely {
		t.AppendRow(table.Row{proseClass(l.Class), probability(l.P)})
	}
	return t
}

// barWidth is the width of one side of a bar, in characters.
const barWidth = 10

func (c Comparison) groupTable(top int) table.Writer {
	t := newTable("group", "log odds", "against   for")
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, WidthMax: 52, WidthMaxEnforcer: text.WrapSoft},
		{Number: 2, Align: text.AlignRight, AlignFooter: text.AlignRight},
	})
	widest := math.Abs(c.Groups[0].Contribution)
	shown := min(top, len(c.Groups))
	for _, g := range c.Groups[:shown] {
		t.AppendRow(table.Row{g.title(), fmt.Sprintf("%+.2f", g.Contribution), bar(g.Contribution, widest)})
	}
	if more := len(c.Groups) - shown; more > 0 {
		rest := sumOf(c.Groups[shown:])
		t.AppendRow(table.Row{plural(more, "other"), fmt.Sprintf("%+.2f", rest), ""})
	}
	t.AppendFooter(table.Row{"together", fmt.Sprintf("%+.2f", c.LogOdds), ""})
	return t
}

func sumOf(groups []Group) (sum float64) {
	for _, g := range groups {
		sum += g.Contribution
	}
	return sum
}

// bar draws a number to the left or to the right of a middle.
func bar(value, widest float64) string {
	n := 0
	if widest > 0 {
		n = int(math.Round(math.Abs(value) / widest * barWidth))
	}
	if value < 0 {
		return strings.Repeat(" ", barWidth-n) + strings.Repeat("█", n) + "│" + strings.Repeat(" ", barWidth)
	}
	return strings.Repeat(" ", barWidth) + "│" + strings.Repeat("█", n) + strings.Repeat(" ", barWidth-n)
}

// termTable says which attributes carried a group. The prior is told where it is not
// the same for all.
func (x *Explanation) termTable(c Comparison, g Group) table.Writer {
	class, against := proseClass(c.Class), proseClass(c.Against)
	t := newTable()
	t.AppendHeader(table.Row{"", "", "", "described", "described", "share of the score", "share of the score"}, table.RowConfig{AutoMerge: true})
	t.AppendHeader(table.Row{"attribute", "seen", "prior", class, against, class, against})
	columns := []table.ColumnConfig{{Number: 3, Hidden: x.Prior == model.Uniform}}
	for _, i := range []int{2, 4, 5, 6, 7} {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, WidthMax: 18, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(columns)
	for _, r := range x.rows(g) {
		described := "-"
		if r.Prior == nil { // not of one attribute
			described = ""
		}
		t.AppendRow(table.Row{
			r.Name, fixed(r.Seen, ""), fixed(r.Prior, ""), fixed(r.Class, described), fixed(r.Against, described),
			percent(r.Share.Class), percent(r.Share.Against),
		})
	}
	return t
}

// writeChanges says what would have been otherwise.
func (c Comparison) writeChanges(b *strings.Builder) {
	if len(c.Changes) > 0 {
		fmt.Fprintf(b, "\n%s\n%s\n", c.changesHeadline(), changeTable(c.Changes).Render())
	}
	fmt.Fprintf(b, "\n%s\n", c.flipHeadline())
	if c.Flip.Found {
		fmt.Fprintln(b, changeTable(c.Flip.Changes).Render())
	}
}

func changeTable(changes []Change) table.Writer {
	t := newTable("attribute", "seen", "had it been", "log odds", "by", "prediction")
	for _, m := range changes {
		t.AppendRow(table.Row{
			proseAttribute(m.Attribute), fmt.Sprintf("%.2f", m.From), fmt.Sprintf("%.0f", m.To),
			fmt.Sprintf("%+.2f", m.LogOdds), fmt.Sprintf("%+.2f", m.By), proseClass(m.Predicted),
		})
	}
	return t
}

// newTable returns an empty table in the style of all that the program prints.
func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	t.SetStyle(style)
	if len(header) > 0 {
		t.AppendHeader(header)
	}
	return t
}
