package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines shows percentages against a number, in one panel or one below the other. Both axes start at 0, and
// that of percentages ends at most at 100.
type Lines struct {
	X, Y   string // titles of the axes, with their units
	Series []Series
	Chance float64 // a line in percent, 0 for none
}

// Series is one line, or dots in some of the rows. Without points it is not shown.
type Series struct {
	Name      string
	Panel     string // of lines, "" for the only one
	Focus     bool   // coloured, others are grey; in rows that of the row counts
	Condition Condition
	Points    []Point // X ascending
	// Measured draws each point of a line with an error bar from Low to High, otherwise the line has a band.
	Measured bool
}

// Point is a value with an interval, at a number or in a row.
type Point struct{ X, Y, Low, High float64 }

// Percent returns a point of a fraction, in percent, with its interval, which may be NaN as that of a single
// class.
func Percent(x, fraction, low, high float64) Point {
	if math.IsNaN(low) {
		low, high = fraction, fraction
	}
	return Point{x, 100 * fraction, 100 * low, 100 * high}
}

// The heights of the area of the data: of the only panel, and of each of several, to which the gap is added
// that has its title.
const (
	linesHeight vg.Length = 130
	panelHeight vg.Length = 70
	titleGap              = 0.2
)

func (l *Lines) chart() *chart {
	c := newChart(l.X, l.Y)
	c.Add(&plotter.Grid{Horizontal: gridLine})
	var panels []string
	most := l.Chance
	for _, s := range l.Series {
		if !slices.Contains(panels, s.Panel) {
			panels = append(panels, s.Panel)
		}
		for _, q := range s.Points {
			most = max(most, q.Y, q.High)
		}
	}
	end := percentEnd(most)
	base := func(panel string) float64 {
		return float64(len(panels)-1-slices.Index(panels, panel)) * end * (1 + titleGap)
	}
	for i, s := range l.Series {
		if len(s.Points) == 0 {
			continue
		}
		s.Points = slices.Clone(s.Points)
		last := len(s.Points) - 1
		shift := (s.Points[last].X - s.Points[0].X) * (float64(i) - float64(len(l.Series)-1)/2) / 120
		for j := range s.Points {
			q := &s.Points[j]
			if s.Measured && len(panels) < 2 { // bars do not hide each other
				q.X += shift
			}
			q.Y, q.Low, q.High = q.Y+base(s.Panel), q.Low+base(s.Panel), q.High+base(s.Panel)
		}
		s.add(c, s.Panel == panels[0])
	}
	if c.X.Min < c.X.Max {
		c.X.Min = min(c.X.Min, 0)
	}
	right := max(c.X.Max, c.X.Min+1) // as far as an axis with one point reaches
	var ticks plot.ConstantTicks
	for _, panel := range panels {
		if l.Chance > 0 {
			y := base(panel) + l.Chance
			ends := plotter.XYs{{X: c.X.Min, Y: y}, {X: right, Y: y}}
			chance := &plotter.Line{XYs: ends, LineStyle: thinLine}
			c.Add(chance)
			if panel == panels[0] {
				c.explain("chance", chance)
			}
		}
		for v := 0.0; v <= end; v += 20 {
			ticks = append(ticks, plot.Tick{Value: base(panel) + v, Label: fmt.Sprint(v)})
		}
		c.Add(&plotter.Labels{
			XYs: plotter.XYs{{X: c.X.Min, Y: base(panel) + end*(1+titleGap)}}, Labels: []string{panel},
			TextStyle: []text.Style{textStyle},
		})
	}
	c.Y.Min, c.Y.Max, c.Y.Tick.Marker, c.data = 0, end, ticks, linesHeight
	if n := len(panels); n > 1 {
		c.Y.Max = float64(n) * end * (1 + titleGap)
		c.data = vg.Length(n) * panelHeight * (1 + titleGap)
	}
	return c
}

func (s Series) add(c *chart, explain bool) {
	mean, marks := &plotter.Line{LineStyle: s.line()}, &plotter.Scatter{GlyphStyle: s.glyph()}
	bars := &plotter.YErrorBars{LineStyle: s.bar(), CapWidth: glyphSize}
	var high, low plotter.XYs
	for _, q := range s.Points {
		xy := plotter.XY{X: q.X, Y: q.Y}
		mean.XYs, bars.XYs = append(mean.XYs, xy), append(bars.XYs, xy)
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		high, low = append(high, plotter.XY{X: xy.X, Y: q.High}), append(low, plotter.XY{X: xy.X, Y: q.Low})
		if s.Measured || len(s.Points) == 1 {
			marks.XYs = append(marks.XYs, xy)
		}
	}
	if s.Measured {
		c.Add(bars)
	} else {
		slices.Reverse(low)
		c.Add(&plotter.Polygon{XYs: []plotter.XYs{append(high, low...)}, Color: grey(0.12)})
	}
	samples := []plot.Thumbnailer{mean}
	if len(marks.XYs) > 0 {
		samples = append(samples, marks)
	}
	c.Add(mean, marks)
	if explain {
		c.explain(s.Name, samples...)
	}
}

// Dots shows numbers with error bars, one row per name, in panels side by side, which have the
// same axis: validation and test results are not mixed. The legend has the series after the first
// of the last panel; the caption says what the others are, and that the dashed line is chance.
type Dots struct {
	X       string // title of the axis, with its unit
	Percent bool   // the axis starts at 0 and ends at most at 100
	Rows    []Row  // from the top
	Panels  []Panel
}

// Row is one line of dots.
type Row struct {
	Name  string
	Focus bool // coloured and shaded, others are grey
}

// Panel has numbers for all rows.
type Panel struct {
	Title  string
	Chance float64  // a line in the unit of X, 0 for none
	Series []Series // X of the points is the row
}

// panelGap is the space between panels, if their width is 1.
const panelGap = 0.25

func (d *Dots) ends() (low, high float64) {
	for _, p := range d.Panels {
		high = max(high, p.Chance)
		for _, s := range p.Series {
			for _, q := range s.Points {
				low, high = min(low, q.Y, q.Low), max(high, q.Y, q.High)
			}
		}
	}
	if d.Percent {
		return 0, percentEnd(high)
	}
	space := cmp.Or(high-low, 1) / 40 // for the ends of bars, and where all are 0
	return low - space, high + space
}

func (d *Dots) chart() *chart {
	c := newChart(d.X, "")
	var names []string
	for _, r := range d.Rows {
		names = append(names, r.Name)
	}
	c.nameRows(names)
	bottom, top := c.Y.Min, c.Y.Max
	panels, lanes := slices.Clone(d.Panels), 1
	for i, p := range panels {
		panels[i].Series = slices.DeleteFunc(slices.Clone(p.Series), func(s Series) bool {
			return len(s.Points) == 0
		})
		lanes = max(lanes, len(panels[i].Series))
	}
	lane := 1 / (float64(lanes) + 0.5) // distance of dots if that of rows is 1
	if title := d.Panels[0].Title; title != "" {
		c.Y.Max += (1.5 + float64(strings.Count(title, "\n"))) * lane
	}
	c.data = line * vg.Length((c.Y.Max-bottom)/lane)
	low, high := d.ends()
	var marks plot.ConstantTicks
	for k, p := range panels {
		place := func(x float64) float64 { // within the panel, whatever a damaged file holds
			return (min(max(x, low), high)-low)/(high-low) + float64(k)*(1+panelGap)
		}
		vertical := func(x float64, style draw.LineStyle) {
			c.Add(&plotter.Line{
				XYs: plotter.XYs{{X: place(x), Y: bottom}, {X: place(x), Y: top}}, LineStyle: style,
			})
		}
		for i, r := range d.Rows {
			if y := -float64(i); r.Focus {
				row := plotter.XYs{
					{X: place(low), Y: y - 0.5},
					{X: place(high), Y: y - 0.5},
					{X: place(high), Y: y + 0.5},
					{X: place(low), Y: y + 0.5},
				}
				c.Add(&plotter.Polygon{XYs: []plotter.XYs{row}, Color: grey(0.07)})
			}
		}
		for _, t := range ticks(low, high) {
			if !t.IsMinor() {
				vertical(t.Value, gridLine)
				marks = append(marks, plot.Tick{Value: place(t.Value), Label: t.Label})
			}
		}
		if low < 0 { // differences
			vertical(0, thinLine)
		}
		if p.Chance > 0 {
			vertical(p.Chance, thinLine)
		}
		c.Add(&plotter.Labels{
			XYs: plotter.XYs{{X: place(low), Y: c.Y.Max}}, Labels: []string{p.Title},
			TextStyle: []text.Style{textStyle},
		})
		for i, s := range p.Series {
			y := lane * (float64(len(p.Series)-1)/2 - float64(i))
			if s.Focus = false; i > 0 && k == len(panels)-1 {
				c.explain(s.Name, &plotter.Scatter{GlyphStyle: s.glyph()})
			}
			for _, q := range s.Points {
				s.Focus = d.Rows[int(q.X)].Focus
				xy := plotter.XYs{{X: place(q.Y), Y: y - q.X}}
				ends := plotter.XErrors{{Low: place(q.Y) - place(q.Low), High: place(q.High) - place(q.Y)}}
				c.Add(&plotter.XErrorBars{
					XYs: xy, XErrors: ends, LineStyle: s.bar(),
				}, &plotter.Scatter{XYs: xy, GlyphStyle: s.glyph()})
			}
		}
	}
	c.X.Min, c.X.Max = 0, 1+float64(len(panels)-1)*(1+panelGap) // exactly at the last label, which needs room
	c.X.Tick.Marker, c.X.LineStyle.Width = marks, 0
	return c
}
