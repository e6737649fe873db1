package descriptions

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	numberPattern = `([-+−]?\d[\d.,]*(?:[eE][-+]?\d+)?)`
	unitPattern   = `([\p{L}µ°%"'][\p{L}%²³/.]{0,11})?`
)

var (
	aside       = regexp.MustCompile(`\([^()]*\d[^()]*\)`) // extremes such as (3-) and (8)
	qualifier   = regexp.MustCompile(`^(?:[<>~≈≤≥=]|c\.|ca\.?|about|approx\.?|up to)+\s*`)
	measurement = regexp.MustCompile(`^` + numberPattern + `\s*` + unitPattern +
		`\s*(?:(-|–|—|to|\.\.\.?|±|\+/-)\s*` + numberPattern + `\s*` + unitPattern + `)?$`)
	thousands = regexp.MustCompile(`^[-+−]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
	// A spreadsheet takes 3-5 for a day and writes 3-May or May-3.
	dayOfMonth = regexp.MustCompile(`(?i)^(\d{1,2})[-. ]+(` + months + `)[a-zé]*\.?$`)
	monthOfDay = regexp.MustCompile(`(?i)^(` + months + `)[a-zé]*\.?[- ]+(\d{1,2})$`)
)

const months = `jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez`

// measureOf returns the number in a cell, of a range its middle, with its unit. ok is false for other text.
func measureOf(text string) (v float64, unit string, ok bool) {
	if day, month, ok := spreadsheetRange(text); ok {
		return (day + month) / 2, "", true
	}
	text = strings.TrimSpace(qualifier.ReplaceAllString(strings.TrimSpace(aside.ReplaceAllString(text, " ")),
		""))
	m := measurement.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil {
		return 0, "", false
	}
	first, err := plainNumber(m[1])
	unit = m[2]
	if m[5] != "" {
		unit = m[5]
	}
	if m[4] == "" || err != nil {
		return first, unit, err == nil
	}
	second, err := plainNumber(m[4])
	if m[3] == "±" || m[3] == "+/-" {
		return first, unit, err == nil
	}
	return (first + second) / 2, unit, err == nil && (m[2] == "" || m[2] == unit)
}

// plainNumber reads a number that may have a decimal comma, or commas between thousands.
func plainNumber(text string) (float64, error) {
	text = strings.TrimRight(strings.Replace(text, "−", "-", 1), ",.")
	if thousands.MatchString(text) {
		return strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	}
	return strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
}

// spreadsheetRange returns the numbers of a range that a spreadsheet took for a day.
func spreadsheetRange(text string) (day, month float64, ok bool) {
	name, number := "", ""
	if m := dayOfMonth.FindStringSubmatch(text); m != nil {
		number, name = m[1], m[2]
	} else if m := monthOfDay.FindStringSubmatch(text); m != nil {
		name, number = m[1], m[2]
	} else {
		return 0, 0, false
	}
	name = strings.NewReplacer("mär", "mar", "mai", "may", "okt", "oct", "dez", "dec").
		Replace(strings.ToLower(name))
	day, err := strconv.ParseFloat(number, 64)
	return day, float64(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name)/3 + 1), err == nil
}

// units have the dimension and the size of common units.
var units = map[string]struct {
	dimension string
	size      float64
}{
	"nm": {"length", 1e-9}, "µm": {"length", 1e-6}, "μm": {"length", 1e-6}, "um": {"length", 1e-6}, "mm": {"length", 1e-3}, "cm": {"length", 1e-2},
	"dm": {"length", 0.1}, "m": {"length", 1}, "km": {"length", 1e3}, "in": {"length", 0.0254}, "ft": {"length", 0.3048},
	"mg": {"mass", 1e-3}, "g": {"mass", 1}, "kg": {"mass", 1e3}, "t": {"mass", 1e6}, "lb": {"mass", 453.6}, "oz": {"mass", 28.35},
	"ml": {"volume", 1e-3}, "l": {"volume", 1}, "s": {"time", 1}, "min": {"time", 60}, "h": {"time", 3600}, "day": {"time", 86400}, "days": {"time", 86400},
	"weeks": {"time", 604800}, "months": {"time", 2.63e6}, "years": {"time", 3.156e7}, "yr": {"time", 3.156e7}, "%": {"share", 1},
}

// inOneUnit returns the numbers of a column in the unit of most of them. It reports units that cannot be
// compared, and returns nil.
func (r *traitReader) inOneUnit(l *layout, c *column) (values []float64, unit string) {
	values = make([]float64, len(c.cells))
	of, count := make([]string, len(c.cells)), map[string]int{}
	dates := 0
	for i, cell := range c.cells {
		values[i], of[i], _ = measureOf(cell.text)
		if of[i] != "" {
			of[i] = strings.TrimSuffix(of[i], ".")
			count[of[i]]++
			if count[of[i]] > count[unit] {
				unit = of[i]
			}
		}
		if _, _, date := spreadsheetRange(cell.text); date {
			dates++
		}
	}
	const leave = "Write one unit in the whole column, or leave it out."
	if dates == len(c.cells) {
		r.problem(l, c, c.cells[0], "numbers or words", invalid.Quote(c.cells[0].text)+", a date",
			"If a spreadsheet made it of a range such as 3-5, write 3 to 5; otherwise leave the column out.")
		return nil, ""
	}
	to, known := units[unit]
	for i, cell := range c.cells {
		from, ok := units[of[i]]
		switch {
		case of[i] == unit, of[i] == "" && len(count) == 1:
		case ok && known && from.dimension == to.dimension:
			values[i] *= from.size / to.size
		default:
			r.problem(l, c, cell, "numbers in "+unit+", as in other lines", invalid.Quote(cell.text), leave)
			return nil, ""
		}
	}
	return values, unit
}

// measurements cuts numbers at the thirds of the classes into small, medium and large.
func (r *traitReader) measurements(l *layout, c *column) []*described {
	values, unit := r.inOneUnit(l, c)
	if values == nil {
		return nil
	}
	if unit == "%" && slices.Min(values) >= 0 && slices.Max(values) <= 100 ||
		percentHeader.MatchString(c.name) && slices.Max(values) <= 100 && slices.Min(values) >= 0 {
		percent := map[string]float64{}
		for i, of := range c.cells {
			percent[of.text] = values[i] / 100
		}
		return r.shares(c, "percentages", func(text string) float64 { return percent[text] })
	}
	sum, n := map[int]float64{}, map[int]int{}
	for i, of := range c.cells {
		sum[of.class] += values[i]
		n[of.class]++
	}
	var means []float64
	for z := range sum {
		means = append(means, sum[z]/float64(n[z]))
	}
	slices.Sort(means)
	low, high := thirds(means)
	if low == high {
		return r.leftOut(c,
			fmt.Sprintf("left out: %s for all classes", strconv.FormatFloat(means[0], 'g', 4, 64)))
	}
	names := []string{"small", "medium", "large"}
	all, classes := make([]*described, len(names)), make([]map[int]bool, len(names))
	for k, name := range names {
		all[k] = &described{
			Attribute: Attribute{c.name + "::" + name, c.name}, sum: map[int]float64{}, cells: n,
		}
		classes[k] = map[int]bool{}
	}
	for i, of := range c.cells {
		k := 0
		if values[i] >= high {
			k = 2
		} else if values[i] >= low {
			k = 1
		}
		all[k].sum[of.class]++
		classes[k][of.class] = true
	}
	t := Trait{
		Column: c.name,
		Kind: strings.TrimSpace(fmt.Sprintf("numbers, medium from %.4g and large from %.4g %s", low, high,
			unit)),
	}
	for k, name := range names {
		if len(classes[k]) > 0 {
			t.Values = append(t.Values, ValueCount{name, len(classes[k])})
		}
	}
	r.report(t)
	return slices.DeleteFunc(all, func(d *described) bool { return len(d.sum) == 0 })
}

var percentHeader = regexp.MustCompile(`(?i)%|percent|(^|[_ .-])pct($|[_ .-])`)

// thirds returns the values from which sorted numbers are medium and large: those nearest to the thirds that
// differ from the ones before them. They are the same for less than two different numbers.
func thirds(sorted []float64) (low, high float64) {
	at := func(share float64) float64 {
		best := -1
		for i := 1; i < len(sorted); i++ {
			near := func(i int) float64 { return math.Abs(float64(i) - share*float64(len(sorted))) }
			if sorted[i] != sorted[i-1] && (best < 0 || near(i) < near(best)) {
				best = i
			}
		}
		if best < 0 {
			return sorted[0]
		}
		return sorted[best]
	}
	low, high = at(1.0/3), at(2.0/3)
	if low == high && low > sorted[0] {
		return sorted[0], high // two sizes: medium and large
	}
	return low, high
}
